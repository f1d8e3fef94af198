"""Recurring cores: connected pieces that the motifs of many graphs have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from mage.drawing.labelled_graphs import Catalogue, LabelledGraph, holds

MOST_PIECES = 1_000
"""Connected pieces of one size that are looked at in one motif; a motif with more is not cut into larger ones."""
_MOST_CANDIDATES = 120
_MOST_STEPS = 5_000
_SAME_GRAPHS = 0.8
_NORMAL_95 = 1.96


@dataclass
class Core:
    """A connected piece of motifs that recurs.

    Attributes:
        pattern: The piece.
        graphs: Places of the graphs that have it within a motif, ascending.
        motifs: Places of the motifs that have it, ascending.
        closed: Whether each larger piece that holds it occurs in fewer graphs.
        present: Graphs that have it anywhere, in a motif or not; 0 before they are counted.
        forms: Larger and smaller pieces of much the same graphs, which say less.
    """

    pattern: LabelledGraph
    graphs: tuple[int, ...]
    motifs: tuple[int, ...]
    closed: bool = True
    present: int = 0
    forms: list[Core] = field(default_factory=list)

    @property
    def consistency(self) -> float:
        """How surely a motif holds the piece where the graph has it: the 95 % Wilson bound below that share."""
        return wilson_bound(len(self.graphs), max(self.present, len(self.graphs)))

    @property
    def rank(self) -> float:
        """Consistency × √nodes, which orders cores: those that are always chosen lead, larger before smaller."""
        return self.consistency * sqrt(len(self.pattern))


def wilson_bound(successes: int, trials: int) -> float:
    """The lower end of the 95 % score interval of a share.

    Reference: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    if not trials:
        return 0.0
    share, square = successes / trials, _NORMAL_95**2
    spread = _NORMAL_95 * sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    return max(0.0, (share + square / (2 * trials) - spread) / (1 + square / trials))


def recurring_cores(
    motifs: Sequence[tuple[int, LabelledGraph]], least_graphs: int = 2, most_pieces: int = MOST_PIECES
) -> tuple[list[Core], bool]:
    """All connected induced pieces of motifs that occur in at least so many graphs.

    A piece counts once per graph, however often it occurs there. Pieces grow node by node from those that recur, which
    misses none: whatever holds a rare piece is rare itself. The work is that of the recurring pieces' occurrences.

    Args:
        motifs: The place of its graph, and the motif.
        least_graphs: Graphs that must have a piece.
        most_pieces: Most pieces of one size of one motif.

    Returns:
        The pieces by size and by first occurrence, and whether all motifs were small enough to find all of them.
    """
    catalogue = Catalogue()
    neighbours = [[_mask(graph.neighbours[v]) for v in range(len(graph))] for _, graph in motifs]
    level: dict[int, set[int]] = {place: {1 << v for v in range(len(graph))} for place, (_, graph) in enumerate(motifs)}
    cores: dict[int, Core] = {}
    smaller: dict[tuple[int, int], int] = {}
    complete = True
    while level:
        occurrences: dict[int, dict[int, list[int]]] = {}
        for place, masks in level.items():
            for mask in sorted(masks):
                number = catalogue.number(motifs[place][1].induced(_nodes(mask)))
                occurrences.setdefault(number, {}).setdefault(place, []).append(mask)
        recurring: dict[tuple[int, int], int] = {}
        larger: dict[int, set[int]] = {}
        for number, places in occurrences.items():
            graphs = tuple(sorted({motifs[place][0] for place in places}))
            if len(graphs) < least_graphs:
                continue
            cores[number] = Core(catalogue.members[number], graphs, tuple(sorted(places)))
            for place, copies in places.items():
                for mask in copies:
                    recurring[place, mask] = number
                    for v in _nodes(mask):
                        part = smaller.get((place, mask & ~(1 << v)))
                        if part is not None and len(cores[part].graphs) == len(graphs):
                            cores[part].closed = False
                    larger.setdefault(place, set()).update(_grown(mask, neighbours[place]))
        smaller = recurring
        level = {place: masks for place, masks in larger.items() if len(masks) <= most_pieces}
        complete &= len(level) == len(larger)
    return list(cores.values()), complete


def leading_cores(cores: Sequence[Core], hosts: Mapping[int, LabelledGraph], most: int = 12) -> list[Core]:
    """The closed cores that say the most, by :attr:`Core.rank`; what repeats another becomes a form of it.

    A core is a form of one that leads if one holds the other and they share four fifths of its graphs: the ring carbon
    beside a nitro group is in many motifs, but less surely than the group itself.

    Args:
        cores: What :func:`recurring_cores` found.
        hosts: The whole graphs, by their place; each motif's is among them.
        most: Most cores that lead.
    """
    closed = [core for core in cores if core.closed]
    closed.sort(key=lambda core: (-len(core.graphs) * sqrt(len(core.pattern)), -len(core.pattern)))
    for core in closed[:_MOST_CANDIDATES]:
        graphs = set(core.graphs)
        # Where it takes too long to know, a graph counts as having the pattern: consistency is not flattered.
        core.present = sum(
            place in graphs or holds(graph, core.pattern, _MOST_STEPS) is not False for place, graph in hosts.items()
        )
    leading: list[Core] = []
    for core in sorted(closed[:_MOST_CANDIDATES], key=lambda core: (-core.rank, -len(core.graphs))):
        related = [other for other in leading if _nested(core.pattern, other.pattern)]
        shared = {place for other in related for place in other.graphs} & set(core.graphs)
        if related and len(shared) >= _SAME_GRAPHS * len(core.graphs):
            max(related, key=lambda other: len(set(other.graphs) & shared)).forms.append(core)
        elif len(leading) < most:
            leading.append(core)
    return leading


def _nested(first: LabelledGraph, second: LabelledGraph) -> bool:
    """Whether the larger of two patterns has the smaller."""
    small, large = sorted((first, second), key=len)
    return bool(holds(large, small))


def _grown(mask: int, neighbours: Sequence[int]) -> list[int]:
    """A set of nodes with each one beside it."""
    around = 0
    for v in _nodes(mask):
        around |= neighbours[v]
    return [mask | 1 << w for w in _nodes(around & ~mask)]


def _mask(nodes: Iterable[int]) -> int:
    mask = 0
    for v in nodes:
        mask |= 1 << v
    return mask


def _nodes(mask: int) -> list[int]:
    nodes = []
    while mask:
        low = mask & -mask
        nodes.append(low.bit_length() - 1)
        mask ^= low
    return nodes
