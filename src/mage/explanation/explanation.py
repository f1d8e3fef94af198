"""What a person keeps: why did the model say this?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.archive import DAMAGE, read_archive, write_archive
from mage._core.files import atomic_path
from mage._core.typing import Floats, Integers
from mage.explanation.storage import FORMAT, from_plain
from mage.indices import FAMILIES, Interactions
from mage.indices import storage as interactions_storage
from mage.motifs import Motif, MotifSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOTIF_SET = (
    "objective",
    "bound",
    "optimal",
    "num_nodes",
    "num_motifs",
    "max_nodes",
    "tau",
    "connected",
    "solver",
    "work",
    "noise_floor",
    "include",
    "exclude",
)
_PLAIN = ("target", "task", "output", "masking", "level", "num_queries", "seconds")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The motifs that made a model say what it said, and the interactions they come from.

    Attributes:
        motifs: Groups of nodes of the input graph, for and against, with their proof.
        interactions: The index they were searched in; its players are :attr:`players`.
        prediction: The model's output on the whole graph (for the target node or link), a number per class.
        target: The class that is explained; None for regression.
        players: Nodes of the input graph that each player stands for.
        edge_index: Edges of the input graph [2, e], as the user gave them.
        num_nodes: Nodes of the input graph.
        names: Names of the nodes of the input graph.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``.
        output: What of the target is explained: logit, probability or log-probability.
        masking: What absence of a node meant.
        level: ``"graph"``, ``"node"``, ``"edge"`` or ``"image"``.
        num_queries: Calls of the model this explanation caused.
        seconds: Wall-clock time it took.
        extra: Whatever else belongs to it, such as a SMILES string; plain JSON values.
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
    seconds: float
    extra: dict[str, Any] = field(default_factory=dict)

    # -- masks ----------------------------------------------------------------------------------------------------

    @cached_property
    def node_mask(self) -> Floats:
        """1 for nodes in a motif, else 0; shape [n]."""
        return (self.motifs.labels > 0).astype(np.float64)

    @cached_property
    def edge_mask(self) -> Floats:
        """1 for edges within a motif, else 0; shape [e]."""
        labels = self.motifs.labels
        source, target = self.edge_index
        return np.asarray((labels[source] == labels[target]) & (labels[source] > 0), dtype=np.float64)

    @cached_property
    def edge_scores(self) -> Floats:
        """A score for each edge, shape [e]: the method's own where it scores edges, else 1 with both ends in motifs."""
        if "edge_scores" in self.extra:
            return np.asarray(self.extra["edge_scores"], dtype=np.float64)
        inside = self.motifs.labels > 0
        source, target = self.edge_index
        return np.asarray(inside[source] & inside[target], dtype=np.float64)

    @cached_property
    def node_scores(self) -> Floats:
        """What each node contributes, its share of all its interactions included: the Myerson or Shapley value; [n]."""
        shares = np.zeros(self.interactions.num_players)
        for size in self.interactions.sizes:
            subsets, values, _ = self.interactions.of_size(size)
            np.add.at(shares, subsets, (values / size)[:, None])
        scores = np.zeros(self.num_nodes)
        for nodes, share in zip(self.players, shares, strict=True):
            scores[list(nodes)] = share / len(nodes)
        return scores

    @property
    def probabilities(self) -> Floats | None:
        """Class probabilities that go with the prediction; None for regression."""
        if self.task == "regression":
            return None
        scores = self.prediction if len(self.prediction) > 1 else np.array([0.0, self.prediction[0]])
        kind = self.extra.get("return_type", "raw")
        if kind in ("probs", "log_probs"):
            probabilities = self.prediction if kind == "probs" else np.exp(self.prediction)
            return probabilities if len(probabilities) > 1 else np.array([1 - probabilities[0], probabilities[0]])
        powers = np.exp(scores - scores.max())
        return np.asarray(powers / powers.sum())

    def motif_error(self, motif: Motif) -> float:
        """The standard error of a motif's score. That it was chosen as the best of many, it does not count."""
        inside = set(motif.nodes)
        return self.group_error([i for i, nodes in enumerate(self.players) if inside.issuperset(nodes)])

    def group_error(self, players: Iterable[int], tau: float | None = None) -> float:
        """The standard error of the score of a group of players under τ (by default that of the motifs)."""
        return self.interactions.group_error(players, self.motifs.tau if tau is None else tau)

    def error_text(self, motif: Motif) -> str:
        """The standard error of a motif's score in words; empty where it is exact, or where the method has none."""
        error = 0.0 if self.interactions.exact else self.motif_error(motif)
        return f" ± {error:.2g}" if error > 0 else ""

    @property
    def verdict(self) -> str:
        """What the model says by the name of its class, where that is known; else the headline."""
        names = self.extra.get("class_names")
        if self.target is None or not names:
            return self.headline
        probabilities = self.probabilities
        sure = "" if probabilities is None else f" (probability {probabilities[self.target]:.3g})"
        return f"{names[self.target]}{sure}"

    @property
    def how(self) -> str:
        """How the scores were found, in words."""
        index = self.interactions
        if index.index not in FAMILIES:
            return f"{index.index} scores"
        return f"{index.index} of order {index.order}, {index.how}"

    @property
    def notes(self) -> list[str]:
        """What was approximated on the way, in words; empty for most graphs."""
        return [str(note) for note in self.extra.get("notes", ())]

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def headline(self) -> str:
        """The prediction in words."""
        where = {"graph": "the graph", "node": "the node", "edge": "the link", "image": "the image"}[self.level]
        where = "the sentence" if "words" in self.extra and self.level == "graph" else where
        if self.target is None:
            return f"prediction {self.prediction[0]:.4g} for {where}"
        probabilities = self.probabilities
        sure = "" if probabilities is None else f" (probability {probabilities[self.target]:.3g})"
        return f"class {self.target}{sure} for {where}"

    def __repr__(self) -> str:
        lines = [
            f"Explanation: {self.headline}",
            f"  {self.how}, {self.num_queries:,} queries, {self.seconds:.2f} s; motifs {self.motifs.proof}",
        ]
        lines += [f"  {line}" for line in self._motif_lines()] or ["  no motif found"]
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)

    def _motif_lines(self) -> list[str]:
        lines = []
        for motif in self.motifs:
            side = "for    " if motif.sign > 0 else "against"
            error = self.error_text(motif)
            names = ", ".join(self.names[v] for v in motif.nodes)
            lines.append(f"{side} {motif.score:+.4g}{error}  {{{names}}}")
        return lines

    def _repr_html_(self) -> str:
        from mage.report.notebook import explanation_html

        return explanation_html(self)

    def __rich__(self) -> Any:
        """A table for terminals."""
        from rich.table import Table

        table = Table(title=self.headline, caption="\n".join([repr(self).splitlines()[1].strip(), *self.notes]))
        for heading in ("", "score", "nodes"):
            table.add_column(heading)
        for motif in self.motifs:
            error = self.error_text(motif)
            colour = "green" if motif.sign > 0 else "red"
            side = "for" if motif.sign > 0 else "against"
            names = ", ".join(self.names[v] for v in motif.nodes)
            table.add_row(f"[{colour}]{side}[/{colour}]", f"{motif.score:+.4g}{error}", names.replace("[", r"\["))
        return table

    def plot(self, **options: Any) -> Figure:
        """The graph with its motifs, green for and red against; see :func:`mage.plots.plot_explanation`."""
        from mage.plots import plot_explanation, plot_image

        return plot_image(self, **options) if self.level == "image" else plot_explanation(self, **options)

    def save_html(self, path: str | Path, title: str = "Why?", text: str = "") -> None:
        """Write one self-contained interactive page that opens anywhere, offline; see :mod:`mage.report`.

        Args:
            path: File to write, whole or not at all.
            title: Heading of the page.
            text: A paragraph below it.
        """
        from mage.report import explanation_page

        page = explanation_page(self, title, text)
        with atomic_path(path) as unfinished:
            unfinished.write_text(page, encoding="utf-8")

    # -- keeping --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON."""
        return {
            "prediction": self.prediction.tolist(),
            "target": self.target,
            "task": self.task,
            "output": self.output,
            "motifs": [
                {
                    "nodes": list(motif.nodes),
                    "names": [self.names[v] for v in motif.nodes],
                    "score": motif.score,
                    "std_error": _finite_or_none(self.motif_error(motif)),
                    "sign": motif.sign,
                }
                for motif in self.motifs
            ],
            "objective": self.motifs.objective,
            "bound": self.motifs.bound if np.isfinite(self.motifs.bound) else None,
            "optimal": self.motifs.optimal,
            "index": self.interactions.index,
            "order": self.interactions.order,
            "exact": self.interactions.exact,
            "method": self.interactions.method,
            "stopped": self.interactions.stopped,
            "notes": self.notes,
            "num_queries": self.num_queries,
            "seconds": self.seconds,
        }

    def save(self, path: str | Path) -> None:
        """Write to one file without pickle, whole or not at all; :func:`mage.load` reads it."""
        header, arrays = interactions_storage.to_plain(self.interactions)
        motifs = {name: getattr(self.motifs, name) for name in _MOTIF_SET}
        motifs["motifs"] = [[list(m.nodes), m.score, list(m.names)] for m in self.motifs]
        plain = {name: getattr(self, name) for name in _PLAIN}
        document = {
            "format": FORMAT,
            "interactions": header,
            "motifs": motifs,
            "players": self.players,
            "names": self.names,
            "num_nodes": self.num_nodes,
            "extra": self.extra,
            **plain,
        }
        write_archive(path, document, {**arrays, "edge_index": self.edge_index, "prediction": self.prediction})

    @classmethod
    def load(cls, path: str | Path) -> Explanation:
        """Read what :meth:`save` wrote, refusing all else."""
        try:
            return cls(**from_plain(*read_archive(path)))
        except FileNotFoundError:
            raise
        except DAMAGE as error:
            raise ValueError(f"{path} does not hold a saved explanation: {error}") from error


def _finite_or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None


def load(path: str | Path) -> Explanation | Interactions:
    """Read a saved :class:`Explanation` or :class:`mage.Interactions`."""
    try:
        header, _ = read_archive(path)
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} was not written by mage: {error}") from error
    return Interactions.load(path) if header.get("format") == interactions_storage.FORMAT else Explanation.load(path)
