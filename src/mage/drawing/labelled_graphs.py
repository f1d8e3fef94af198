"""Motifs as small labelled graphs, and which of them are the same: classes up to graph isomorphism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

MOST_STEPS = 200_000
"""Steps after which the search for a pattern in a graph gives up and says that it does not know."""

# Colours leave so little to try that only adversarial graphs come near this; then an error beats a wrong count.
_MOST_STEPS_SAME = 10_000_000


@dataclass(frozen=True)
class LabelledGraph:
    """An undirected graph with a label on each node and on each edge; labels may be empty.

    Attributes:
        labels: One per node.
        edges: Pairs i < j with the label of the edge, ascending.
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...] = ()

    @classmethod
    def make(cls, labels: Iterable[str], edges: Iterable[tuple[int, int, str]]) -> LabelledGraph:
        """A graph from edges in any order and direction; loops and repetitions are dropped."""
        kinds = {(min(i, j), max(i, j)): kind for i, j, kind in edges if i != j}
        return cls(tuple(labels), tuple((i, j, kind) for (i, j), kind in sorted(kinds.items())))

    @cached_property
    def neighbours(self) -> tuple[dict[int, str], ...]:
        """For each node its neighbours with the label of the edge to them."""
        neighbours: tuple[dict[int, str], ...] = tuple({} for _ in self.labels)
        for i, j, kind in self.edges:
            neighbours[i][j] = kind
            neighbours[j][i] = kind
        return neighbours

    def induced(self, nodes: Sequence[int]) -> LabelledGraph:
        """The part on some nodes, which are numbered in the order given."""
        place = {v: number for number, v in enumerate(nodes)}
        edges = [
            (place[v], place[w], kind)
            for v in nodes
            for w, kind in self.neighbours[v].items()
            if w in place and place[v] < place[w]
        ]
        return LabelledGraph(tuple(self.labels[v] for v in nodes), tuple(sorted(edges)))

    def components(self) -> list[list[int]]:
        """Nodes of each connected part, in the order of their smallest."""
        visits: set[int] = set()
        parts = []
        for start in range(len(self.labels)):
            if start in visits:
                continue
            part, waiting = [], [start]
            visits.add(start)
            while waiting:
                v = waiting.pop()
                part.append(v)
                fresh = [w for w in self.neighbours[v] if w not in visits]
                visits.update(fresh)
                waiting += fresh
            parts.append(sorted(part))
        return parts

    def __len__(self) -> int:
        return len(self.labels)


def refined_colours(graph: LabelledGraph) -> tuple[int, ...]:
    """A number for each node that no isomorphism changes: Weisfeiler-Leman colour refinement.

    Reference: Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 2011.
    """
    # Numbers made from the characters, because Python hashes strings differently in each process.
    colours = [hash(tuple(label.encode())) for label in graph.labels]
    kinds = {kind: hash(tuple(kind.encode())) for _, _, kind in graph.edges}
    distinct = len(set(colours))
    for _ in graph.labels:
        colours = [
            hash((colour, tuple(sorted((kinds[kind], colours[w]) for w, kind in graph.neighbours[v].items()))))
            for v, colour in enumerate(colours)
        ]
        if (count := len(set(colours))) == distinct:
            break
        distinct = count
    return tuple(colours)


def embedding(
    pattern: LabelledGraph,
    host: LabelledGraph,
    colours: tuple[Sequence[int], Sequence[int]] | None = None,
    most_steps: int = MOST_STEPS,
) -> tuple[int, ...] | None:
    """Nodes of the host that induce the pattern, in the order of its nodes; None if there are none.

    Args:
        pattern: What to look for; labels of nodes and edges must agree, and nodes without an edge must stay so.
        host: Where to look.
        colours: Numbers of the nodes of both that must agree as well.
        most_steps: Nodes of the host that are tried in all.

    Raises:
        TimeoutError: If that many steps were not enough to know.
    """
    order = _search_order(pattern, host)
    anchors = [next((w for w in order[:rank] if w in pattern.neighbours[v]), None) for rank, v in enumerate(order)]
    image: dict[int, int] = {}
    used: set[int] = set()

    def fits(v: int, candidate: int) -> bool:
        if pattern.labels[v] != host.labels[candidate] or candidate in used:
            return False
        if colours is not None and colours[0][v] != colours[1][candidate]:
            return False
        around, beside = pattern.neighbours[v], host.neighbours[candidate]
        if len(beside) < len(around):
            return False
        return all(around.get(w) == beside.get(placed) for w, placed in image.items())

    def candidates(rank: int) -> Iterator[int]:
        anchor = anchors[rank]
        return iter(range(len(host)) if anchor is None else host.neighbours[image[anchor]])

    # A stack of its own rather than recursion: patterns may have more nodes than Python has frames.
    stack = [candidates(0)] if order else []
    steps = 0
    while stack and len(image) < len(order):
        v = order[len(stack) - 1]
        for candidate in stack[-1]:
            steps += 1
            if steps > most_steps:
                raise TimeoutError(f"pattern: {most_steps:,} steps were not enough to look for it")
            if fits(v, candidate):
                image[v] = candidate
                used.add(candidate)
                if len(image) < len(order):
                    stack.append(candidates(len(stack)))
                break
        else:
            stack.pop()
            if stack:
                used.remove(image.pop(order[len(stack) - 1]))
    return tuple(image[v] for v in range(len(pattern))) if len(image) == len(order) else None


def holds(host: LabelledGraph, pattern: LabelledGraph, most_steps: int = MOST_STEPS) -> bool | None:
    """Whether a graph has a pattern; None if that takes too long to know."""
    try:
        return embedding(pattern, host, most_steps=most_steps) is not None
    except TimeoutError:
        return None


def _search_order(pattern: LabelledGraph, host: LabelledGraph) -> list[int]:
    """Nodes of a pattern, each beside an earlier one where it can be, starting from the label rarest in the host."""
    counts: dict[str, int] = {}
    for label in host.labels:
        counts[label] = counts.get(label, 0) + 1
    rank = [(counts.get(label, 0), -len(pattern.neighbours[v]), v) for v, label in enumerate(pattern.labels)]
    order: list[int] = []
    left = set(range(len(pattern)))
    while left:
        beside = [v for v in left if any(w in pattern.neighbours[v] for w in order)]
        # Nodes that close a ring first: they are the hardest to place.
        node = min(beside or left, key=lambda v: (-sum(w not in left for w in pattern.neighbours[v]), rank[v]))
        order.append(node)
        left.remove(node)
    return order


class Catalogue:
    """Classes of labelled graphs up to isomorphism, numbered in the order of their first member."""

    def __init__(self) -> None:
        self.members: list[LabelledGraph] = []
        """The first graph of each class."""
        self._colours: list[tuple[int, ...]] = []
        self._known: dict[LabelledGraph, int] = {}
        self._buckets: dict[tuple[int, ...], list[int]] = {}

    def number(self, graph: LabelledGraph) -> int:
        """The number of the class of a graph; a new one if it has none yet."""
        colours = refined_colours(graph)
        # In the order of their colours most isomorphic graphs are equal, and need no search.
        ordered = graph.induced(sorted(range(len(graph)), key=lambda v: (colours[v], v)))
        if (place := self._known.get(ordered)) is not None:
            return place
        sorted_colours = tuple(sorted(colours))
        for number in self._buckets.setdefault((len(graph.edges), *sorted_colours), []):
            # Graphs of one size: an induced copy is an isomorphism.
            colour_pair = (sorted_colours, self._colours[number])
            if embedding(ordered, self.members[number], colour_pair, most_steps=_MOST_STEPS_SAME) is not None:
                self._known[ordered] = number
                return number
        self.members.append(ordered)
        self._colours.append(sorted_colours)
        self._known[ordered] = len(self.members) - 1
        self._buckets[len(graph.edges), *sorted_colours].append(len(self.members) - 1)
        return len(self.members) - 1
