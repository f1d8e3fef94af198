"""What a model is queried for: which of its outputs, in which unit, and what absence means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from mage._core.checks import checked_choice, checked_list, checked_number, checked_whole, shortened
from mage._core.conversion import stored_as
from mage._torch.conventions import OUTPUTS, RETURN_TYPES, TASKS


@stored_as("model request")
@dataclass(frozen=True)
class ModelRequest:
    """Which number of a model is explained. Graphs, sentences and images have requests of their own, built on this.

    Attributes:
        target: Class to explain; the predicted one by default. Regression has none.
        output: ``"logit"``, ``"probability"``, ``"log-probability"``, ``"log-odds"`` or ``"bounded-log-odds"`` of the
            target. ``"auto"`` takes the probability, and log-odds where the probability saturates: above 0.99 or below
            0.01 without any player, above 0.9999 or below 0.0001 with all of them, or within a millionth of 1 or 0 for
            some of 32 random coalitions. With more than
            two classes they are bounded: what lies further from the baseline and from the prediction than these two
            from each other counts as that far.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``; by the number of columns by default (one column is a
            regression unless ``target`` is given).
        return_type: What the model returns: ``"raw"`` scores, ``"probs"`` or ``"log_probs"``.
        baseline: Value of the empty coalition, where it is known; otherwise it costs one query.
        batch_size: Most coalitions in one call of the model; None leaves it to the kind of model.
        memory_cap: Bytes that a batch may take inside the model, roughly.
    """

    target: int | None = None
    output: str = "auto"
    task: str = "auto"
    return_type: str = "raw"
    baseline: float | None = None
    batch_size: int | None = None
    memory_cap: int = 1 << 29

    def __post_init__(self) -> None:
        allowed = (("output", OUTPUTS), ("task", TASKS), ("return_type", RETURN_TYPES))
        for name, values in allowed:
            checked_choice(name, getattr(self, name), values)
        if self.target is not None:
            try:
                object.__setattr__(self, "target", checked_whole("target", self.target, least=0))
            except ValueError:
                raise ValueError(f"target must be the number of a class, got {self.target!r}") from None
        if self.batch_size is not None:
            checked_whole("batch_size", self.batch_size)
        checked_whole("memory_cap", self.memory_cap)
        if self.baseline is not None:
            object.__setattr__(self, "baseline", checked_number("baseline", self.baseline))

    def with_usual(self, **values: str) -> Self:
        """The request with these values where it says ``"auto"``, for methods that are made for them."""
        changes: dict[str, Any] = {name: value for name, value in values.items() if getattr(self, name) == "auto"}
        return replace(self, **changes)


_OTHERS = ("present", "absent")
PLAYERS = ("nodes", "edges", "features")
"""What may play in the game of a graph model."""


@stored_as("graph request")
@dataclass(frozen=True)
class GraphRequest(ModelRequest):
    """How a graph model is queried: which output, which players, and what absence means.

    Attributes:
        players: The players: ``"nodes"``, ``"edges"`` (both directions of an edge are one player; an absent edge is
            removed) or ``"features"`` (columns of ``x``; an absent one is zero for all nodes, or its mean with
            ``masking="mean"``).
        masking: What the absence of a node means: ``"split"`` (it stays, without its edges), ``"remove"``, ``"zero"``,
            ``"mean"``, or a function ``(graph, masks) -> MaskedBatch``. ``"auto"`` splits, and removes nodes where the
            graph has no edges or the model does not take them.
        node: Explain this node's output instead of the graph's; ``("paper", 7)`` in a graph with types of nodes.
        edge: Explain the link between these two nodes, such as ``(3, 5)`` or ``(("user", 3), ("item", 5))``; the model
            takes ``edge_label_index``.
        groups: Players that are groups of nodes (fragments, rings, super-pixels): labels [n], lists of nodes,
            ``"communities"``, ``"rings"``, or a function ``(edges, num_players) -> labels``.
        refine: After the index over groups, let the nodes of the best groups play, all others ``"present"`` (True) or
            ``"absent"``.
        max_players: Most players. By default up to 300 play as they are. Above that, the nodes of a graph form
            communities whose best are refined, and of a node's neighbourhood the 48 nodes with the largest effects
            play while the others stay present (beyond 2,000, communities too).
        num_hops: How far an output can depend on other nodes, at node and link level; read from the model by default.
        forward: ``call(model, data)`` for models that need a special call.
        select: Which of several outputs is explained, where the model returns a tuple, a list, a dictionary or an
            object: a position, a key or the name of an attribute; a tuple of these leads further in.
        column: Which column of the output is explained, as if it were the only one: one label of a multi-label model
            (with ``task="binary"``), or one number of a regression that predicts several.
        inputs: Names of the arguments that the model is given, where it can do without some that the graph has:
            ``("x", "edge_index")`` for a model that was trained without ``edge_weight``.
        memory_cap: Bytes that a batch may take, roughly. A node or link of a graph that would take more is explained
            from the nodes within two hops more than messages travel.
    """

    masking: str | Callable[..., Any] = "auto"
    node: int | tuple[str, int] | None = None
    edge: tuple[int, int] | tuple[tuple[str, int], tuple[str, int]] | None = None
    groups: Any = None
    refine: bool | str | None = None
    max_players: int | None = None
    num_hops: int | None = None
    forward: Callable[[Any, Any], Any] | None = None
    select: Any = None
    column: int | None = None
    inputs: tuple[str, ...] | None = None
    players: str = "nodes"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_players()
        if self.node is not None and self.edge is not None:
            raise ValueError("node and edge: give one of the two")
        if isinstance(self.node, list):
            object.__setattr__(self, "node", tuple(self.node))
        if self.edge is not None:
            object.__setattr__(self, "edge", _checked_pair(self.edge))
        if not (
            self.refine is None
            or isinstance(self.refine, bool)
            or (isinstance(self.refine, str) and self.refine in _OTHERS)
        ):
            raise ValueError(f"refine must be True, False, 'present' or 'absent', got {self.refine!r}")
        if self.max_players is not None:
            checked_whole("max_players", self.max_players, least=2)
        if self.num_hops is not None:
            checked_whole("num_hops", self.num_hops, least=0)
        if self.forward is not None and not callable(self.forward):
            raise TypeError(f"forward must be a function call(model, data), got {type(self.forward).__name__}")
        if not isinstance(self.masking, str) and not callable(self.masking):
            raise TypeError(f"masking must be a name or a function, got {type(self.masking).__name__}")
        if self.column is not None:
            checked_whole("column", self.column, least=0)
        if self.inputs is not None:
            object.__setattr__(self, "inputs", _checked_texts("inputs", self.inputs))
        if isinstance(self.select, list):
            object.__setattr__(self, "select", tuple(self.select))
        steps = self.select if isinstance(self.select, tuple) else (self.select,)
        if not all(step is None or (isinstance(step, int | str) and not isinstance(step, bool)) for step in steps):
            raise ValueError(f"select must be a position, a name or a tuple of these, got {self.select!r}")

    def _check_players(self) -> None:
        checked_choice("players", self.players, PLAYERS)
        if self.players == "nodes":
            return
        for name in ("groups", "refine"):
            if getattr(self, name):
                raise ValueError(f"{name}: only nodes form groups; leave it out with players={self.players!r}")
        allowed = ("auto", "remove", *(("split",) if self.players == "edges" else ("zero", "mean")))
        if self.masking not in allowed:
            rule = "an absent edge is removed" if self.players == "edges" else "an absent feature is 'zero' or 'mean'"
            raise ValueError(f"masking: {rule}; got {self.masking!r} with players={self.players!r}")

    @property
    def level(self) -> str:
        """``"graph"``, ``"node"`` or ``"edge"``: what the output is of."""
        if self.node is None and self.edge is None:
            return "graph"
        return "node" if self.edge is None else "edge"


@stored_as("text request")
@dataclass(frozen=True)
class TextRequest(ModelRequest):
    """How a classifier of sentences is queried.

    Attributes:
        kind: ``"graph"`` for a graph network on the dependency tree, ``"sentences"`` for a classifier of texts; by
            what the model takes by default.
        absent: What replaces absent words: a masking for graph networks (``"zero"`` by default); ``"remove"`` (the
            default), a word such as ``"[MASK]"``, or a function for classifiers.
        encoder: The encoder of words for a graph network: ``"minilm"`` by default, as in the datasets; a Hugging Face
            name or folder; or a function from sentences, as words, to one array [words, d] each.
        edges: Which words are joined instead of spaCy's English tree; needs a list of words.
    """

    kind: str = "auto"
    absent: Any = None
    encoder: str | Callable[..., Any] | None = None
    edges: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_choice("kind", self.kind, ("auto", "graph", "sentences"))


@stored_as("image request")
@dataclass(frozen=True)
class ImageRequest(ModelRequest):
    """How a classifier of images is queried.

    Attributes:
        patches: Rows and columns of the grid of regions.
        segments: Instead of a grid: for each pixel the number of its region [h, w]; pixels below 0 are always shown.
        fill: What covers an absent region: ``"mean"``, ``"blur"``, a colour in image units, or an image [c, h, w].
        picture: The image to show instead of the prepared one: bytes [h, w] or [h, w, 3].
    """

    patches: Any = (7, 7)
    segments: Any = None
    fill: Any = "mean"
    picture: Any = None


def _checked_pair(edge: Any) -> tuple[Any, ...]:
    pair = checked_list("edge", edge, "a pair of nodes")
    if len(pair) != 2:
        raise ValueError(f"edge must be a pair of nodes, got {shortened(edge)}")
    return tuple(tuple(end) if isinstance(end, list) else end for end in pair)


def _checked_texts(name: str, values: Any) -> tuple[str, ...]:
    listed = checked_list(name, values, "a list of names")
    if not all(isinstance(value, str) for value in listed):
        raise ValueError(f"{name} must be a list of names, got {shortened(values)}")
    return tuple(listed)
