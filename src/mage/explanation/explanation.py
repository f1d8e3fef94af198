"""What a person keeps: why did the model say this?"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_numbers
from mage._core.typing import Floats, Integers
from mage.explanation import outcomes, wording
from mage.explanation.consistency import check
from mage.explanation.construction import ModelOutput, explanation_fields
from mage.explanation.feature_zoom import checked_motif, features_of, motif_nodes
from mage.explanation.records import Consequences, MotifFeatures, Origin, PlayersCap, Stage
from mage.explanation.storage import load_explanation, save
from mage.explanation.subject import GraphSubject, ImageSubject, Subject, subject_of
from mage.indices import Interactions
from mage.motifs import Motif, MotifSet, labels_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mage.drawing import MotifName
    from mage.games import Game


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Explanation:
    """The motifs that led to a prediction, and the interactions they come from.

    Attributes:
        motifs: Groups of nodes of the input graph, for and against, with their proof.
        interactions: The index that was searched for motifs; its players are :attr:`players`.
        prediction: The model's output on the whole graph (for the target node or link), a number per class.
        target: The class that is explained; None for regression.
        players: Nodes of the input graph that each player stands for.
        edge_index: Edges of the input graph [2, e], as the user gave them.
        num_nodes: Nodes of the input graph.
        names: Names of the nodes of the input graph.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``.
        output: What of the target is explained: logit, probability or log-probability.
        masking: What the absence of a node means.
        level: ``"graph"``, ``"node"``, ``"edge"`` or ``"image"``.
        num_queries: Calls of the model this explanation caused: ``interactions.num_queries``, those of
            :attr:`consequences`, :attr:`stages` and :attr:`players_cap`, and a few that get to know the model: its
            prediction, and whether graphs in one batch stay apart.
        seconds: Wall-clock time of the computation.
        subject: What the nodes are: plain nodes, atoms, words, regions of a picture; see :mod:`mage.explanation`.
        node_notes: A text for each node, such as its features; empty if there is none.
        target_nodes: The explained node, or both ends of the explained link; empty for a whole graph.
        class_names: Names of the classes; empty if they are not known.
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        method: Name of the explainer.
        method_edge_scores: The scores of the edges [e], if the method scores edges; otherwise None.
        edge_std_error: Their standard errors [e], if the method has them.
        diagnostics: Numbers that the method reports about itself, such as the reward of a search.
        stages: Stages of a large graph, in which the players are first groups and then nodes.
        players_cap: Which nodes are not players because there were too many; None if all are.
        consequences: Outputs with only the motifs, and without them; None if the method does not compute them.
        notes: Sentences about approximations; empty for most graphs.
        part_of: Nodes of the graph that this is a part of; None for a whole graph. See :func:`crop`.
        origin: Dataset, model, true class and ground truth, if they are known.
        request: The settings of the explanation, as a frozen dataclass of plain values.
        player_kind: What the players are: ``"nodes"``, ``"edges"`` or ``"features"``. Motifs of edges list them in
            ``motif.edges``. An explanation by features has the columns of ``x`` for nodes, and no edges.
        motif_features: Results of :meth:`features` so far.
    """

    motifs: MotifSet
    interactions: Interactions
    prediction: Floats
    target: int | None
    players: tuple[tuple[int, ...], ...]
    edge_index: Integers
    num_nodes: int
    names: tuple[str, ...]
    task: str
    output: str
    masking: str
    level: str
    num_queries: int
    seconds: float = 0.0
    subject: Subject = field(default_factory=GraphSubject)
    node_notes: tuple[str, ...] = ()
    target_nodes: tuple[int, ...] = ()
    class_names: tuple[str, ...] = ()
    return_type: str = "raw"
    method: str = "MAGE"
    method_edge_scores: Floats | None = None
    edge_std_error: Floats | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    players_cap: PlayersCap | None = None
    consequences: Consequences | None = None
    notes: tuple[str, ...] = ()
    part_of: int | None = None
    origin: Origin | None = None
    request: Any = None
    player_kind: str = "nodes"
    motif_features: tuple[MotifFeatures, ...] = ()

    def __post_init__(self) -> None:
        check(self)

    @classmethod
    def from_nodes(
        cls,
        nodes: Iterable[int],
        game: Game | ModelOutput,
        data: Any,
        *,
        method: str,
        max_nodes: int | None = None,
        node_scores: Floats | None = None,
        edge_scores: Floats | None = None,
        edge_std_error: Floats | None = None,
        masking: str = "",
        num_queries: int | None = None,
        diagnostics: Mapping[str, float] | None = None,
        subject: Subject | None = None,
        names: Sequence[str] | None = None,
    ) -> Explanation:
        """An explanation by a set of nodes, whose motifs are its connected parts; for your own explainers.

        Args:
            nodes: The chosen nodes.
            game: The game on the graph, which has prediction, target and queries; or these as a
                :class:`ModelOutput`.
            data: The graph: a PyG ``Data``, or anything with ``edge_index`` [2, e] and ``num_nodes``.
            method: Name of the explainer.
            max_nodes: M as a count; by default as many nodes as were chosen.
            node_scores: A score for each node; by default 1 for the chosen ones. A motif's score is the sum over its
                nodes.
            edge_scores: A score for each column of ``edge_index``, if the method scores edges.
            edge_std_error: Their standard errors.
            masking: What absence of a node meant, if the method evaluates coalitions.
            num_queries: Graphs the model was run on; by default those that the game counted.
            diagnostics: Numbers that the method reports about itself.
            subject: What the nodes are; by default a molecule where ``data`` has a ``smiles`` string, else a graph.
            names: Names of the nodes; by default their numbers.
        """
        by_nodes = explanation_fields(
            *(nodes, game, data),
            method=method,
            max_nodes=max_nodes,
            node_scores=node_scores,
            num_queries=num_queries,
            names=names,
        )
        return cls(
            masking=masking,
            method_edge_scores=None if edge_scores is None else checked_numbers("edge_scores", edge_scores),
            edge_std_error=edge_std_error,
            diagnostics={} if diagnostics is None else diagnostics,
            subject=subject_of(data) if subject is None else subject,
            **by_nodes,
        )

    # -- both sides -----------------------------------------------------------------------------------------------

    @property
    def against(self) -> tuple[Motif, ...]:
        """Motifs against the output, if both sides were searched separately; :attr:`motifs` are then for it."""
        return () if self.motifs.against is None else self.motifs.against.motifs

    @property
    def all_motifs(self) -> tuple[Motif, ...]:
        """All motifs: those of :attr:`motifs`, and those of :attr:`against` after them."""
        return self.motifs.both_sides

    @cached_property
    def all_labels(self) -> Integers:
        """For each node the place of its motif in :attr:`all_motifs`, from 1; 0 for none."""
        return labels_of(self.all_motifs, self.num_nodes)

    # -- masks and scores -----------------------------------------------------------------------------------------

    @cached_property
    def node_mask(self) -> Floats:
        """1 for nodes in a motif, else 0; shape [n]."""
        return (self.motifs.labels > 0).astype(np.float64)

    @cached_property
    def edge_mask(self) -> Floats:
        """1 for edges within a motif, else 0; shape [e]. Where edges play, 1 for those that a motif consists of."""
        if self.player_kind == "edges":
            motif_edges = {frozenset(edge) for motif in self.motifs for edge in motif.edges}
            return np.array([frozenset(pair) in motif_edges for pair in self.edge_index.T.tolist()], dtype=np.float64)
        labels = self.motifs.labels
        source, target = self.edge_index
        return np.asarray((labels[source] == labels[target]) & (labels[source] > 0), dtype=np.float64)

    @cached_property
    def edge_scores(self) -> Floats:
        """A score for each edge, shape [e]: the method's own where it scores edges, else 1 with both ends in motifs."""
        if self.method_edge_scores is not None:
            return self.method_edge_scores
        inside = self.motifs.labels > 0
        source, target = self.edge_index
        return np.asarray(inside[source] & inside[target], dtype=np.float64)

    @cached_property
    def node_scores(self) -> Floats:
        """What each node contributes with its part of all its interactions: the Myerson or Shapley value; [n]."""
        scores = np.zeros(self.num_nodes)
        for nodes, share in zip(self.players, self.interactions.player_values, strict=True):
            scores[list(nodes)] += share / len(nodes)  # a node belongs to several edges
        return scores

    @property
    def probabilities(self) -> Floats | None:
        """Class probabilities that go with the prediction; None for regression."""
        if self.task == "regression":
            return None
        if self.return_type in ("probs", "log_probs"):
            chances = self.prediction if self.return_type == "probs" else np.exp(self.prediction)
            return chances if len(chances) > 1 else np.array([1 - chances[0], chances[0]])
        scores = self.prediction if len(self.prediction) > 1 else np.array([0.0, self.prediction[0]])
        powers = np.exp(scores - scores.max())
        return np.asarray(powers / powers.sum())

    def motif_error(self, motif: Motif) -> float:
        """The standard error of a motif's score. It does not include that the motif was chosen as the best of many."""
        return self.group_error(self.motif_players(motif))

    def motif_players(self, motif: Motif) -> list[int]:
        """The players that a motif consists of."""
        checked_motif(motif)
        if motif.edges:
            motif_edges = {frozenset(edge) for edge in motif.edges}
            return [i for i, nodes in enumerate(self.players) if frozenset(nodes) in motif_edges]
        inside = set(motif.nodes)
        return [i for i, nodes in enumerate(self.players) if inside.issuperset(nodes)]

    def motif_edges(self, motif: Motif) -> list[tuple[int, int]]:
        """Pairs of nodes i ≤ j that a motif joins: the edges that it consists of, or those between its nodes."""
        checked_motif(motif)
        if motif.edges:
            return sorted((min(edge), max(edge)) for edge in motif.edges)
        inside = set(motif.nodes)
        ends = (sorted(pair) for pair in self.edge_index.T.tolist() if inside.issuperset(pair))
        return sorted({(first, second) for first, second in ends})

    @property
    def players_noun(self) -> str:
        """What players are called: nodes, atoms, words, edges, features."""
        return "edges" if self.player_kind == "edges" else self.subject.nodes

    def group_error(self, players: Iterable[int]) -> float:
        """The standard error of the score of a group of players."""
        return self.interactions.group_error(players)

    # -- features of motifs ---------------------------------------------------------------------------------------

    def features(
        self,
        motif: int | Motif | Iterable[int] = 0,
        model: Any = None,
        data: Any = None,
        *,
        absent: str = "zero",
        **fields: Any,
    ) -> MotifFeatures:
        """Which features of a motif's nodes matter: what each column of their ``x`` contributes, by the same index.

        The players are the columns, absent for all nodes of the motif at once; all other nodes stay as they are. The
        result is stored in :attr:`motif_features`, shown on the page and saved.

        Args:
            motif: A motif, its rank (the strongest by default), or nodes.
            model: The model that was explained. Needed only for an explanation that was loaded, or whose model or
                graph is gone: explanations hold neither of them.
            data: The graph that was explained.
            absent: What replaces an absent feature: ``"zero"``, or its ``"mean"`` over the nodes.
            fields: Fields of :class:`mage.IndexRequest`, such as ``budget``, ``tolerance`` or ``seed``.
        """
        nodes = motif_nodes(self, motif)
        stored = [part for part in self.motif_features if part.nodes == nodes and part.absent == absent]
        if stored and not fields and model is None:
            return stored[0]
        references = vars(self).get("_source") or (lambda: None, lambda: None)
        model, data = model if model is not None else references[0](), data if data is not None else references[1]()
        if model is None or data is None:
            raise ValueError("model and data: the explanation does not hold them; pass features(motif, model, data)")
        features = features_of(self, nodes, model, data, absent, **fields)
        others = (part for part in self.motif_features if (part.nodes, part.absent) != (nodes, absent))
        object.__setattr__(self, "motif_features", (*others, features))
        return features

    def keep_source(self, model: Any, data: Any) -> None:
        """Keep a weak reference to the model and the graph; files do not store it."""
        with contextlib.suppress(TypeError):  # not everything that can be called can be referred to weakly
            object.__setattr__(self, "_source", (weakref.ref(model), weakref.ref(data)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_source"}

    # -- words ----------------------------------------------------------------------------------------------------

    @property
    def headline(self) -> str:
        """The prediction in words, with the number of the class."""
        return wording.headline(self)

    @property
    def verdict(self) -> str:
        """The prediction by the name of its class, if it is known; otherwise the headline."""
        return wording.verdict(self)

    @property
    def how(self) -> str:
        """How the scores were computed, in words."""
        return wording.how(self)

    @property
    def saturation(self) -> str:
        """Why no group can add to the target, in words, if the model predicts it without any nodes; else empty."""
        return outcomes.saturation(self)

    def error_text(self, motif: Motif) -> str:
        """The standard error of a motif's score in words; empty if it is exact, or if the method has none."""
        return wording.error_text(self, checked_motif(motif))

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON."""
        return wording.plain_summary(self)

    def __repr__(self) -> str:
        return "\n".join(wording.lines(self))

    def __rich__(self) -> Any:
        """A table for terminals."""
        return wording.table(self)

    # -- looking --------------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        from mage.report.notebook import explanation_html

        return explanation_html(self)

    def motif_names(self) -> tuple[MotifName, ...]:
        """The name of each motif: functional groups with formula and SMARTS, or shapes of plain graphs."""
        from mage.drawing.motif_names import motif_names

        return motif_names(self)

    def plot(self, **options: Any) -> Figure:
        """The graph, molecule, sentence or image with its motifs; see :func:`mage.plots.plot_explanation`.

        A notebook shows the figure; elsewhere ``.show()`` opens it, or writes it to a file and prints its path.
        """
        from mage.plots import plot_explanation, plot_image

        pictures = isinstance(self.subject, ImageSubject) and "positions" not in options
        return plot_image(self, **options) if pictures else plot_explanation(self, **options)

    def save_html(self, path: str | Path, title: str = "", text: str = "") -> None:
        """Write one self-contained interactive page that works offline; see :mod:`mage.report`.

        Args:
            path: File to write; it is never left incomplete.
            title: Heading of the page; by default it names the explained class, as in "Why mutagen?".
            text: A paragraph below it.
        """
        from mage.report import save_html

        save_html(self, path, title, text)

    # -- keeping --------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write one file, without pickle; :func:`mage.load` reads it. The file is never left incomplete."""
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Explanation:
        """Read what :meth:`save` wrote; raises ValueError for anything else."""
        return load_explanation(path)
