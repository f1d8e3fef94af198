"""The graph of the players, its connected coalitions and components."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mage._core.checks import checked_array, checked_instance, checked_list, checked_seed, checked_whole, shortened
from mage._core.typing import AnyArray, Bits, Integers, Masks
from mage._kernels import connected as kernels
from mage.graph import packing
from mage.graph.counting import count_by_frontier

if TYPE_CHECKING:
    import networkx

_BLOCK_ROWS = 1 << 15
_MOST_ROWS = 1 << 24
_COUNTING_STEPS = 100_000
_MOST_BYTES = 1 << 30  # of one array of coalitions
_MOST_PLAYERS = 1 << 16  # the bits of their adjacency take n² / 8 bytes


class CoalitionBlock(NamedTuple):
    """Connected coalitions R as bits, their open neighbourhoods N(R), and |R|."""

    members: Bits
    neighbours: Bits
    sizes: Integers


class PlayerGraph:
    """An undirected graph on players ``0 … num_players - 1``, of any size.

    Direction, duplicate edges and self-loops have no meaning here and are removed. Isolated players and disconnected
    graphs are allowed.

    Args:
        num_players: Number of players n ≥ 1.
        edges: Pairs ``(i, j)``; empty by default. See :meth:`from_edge_index` and :meth:`from_networkx` for others.
    """

    def __init__(self, num_players: int, edges: Iterable[Sequence[int]] | AnyArray = ()) -> None:
        self.num_players = _checked_count(num_players)
        pairs = _normalised(edges, self.num_players)
        self.num_edges = len(pairs)
        words = packing.num_words(self.num_players)
        self.adjacency_bits: Bits = np.zeros((self.num_players, words), dtype=np.uint64)
        directed = np.concatenate([pairs, pairs[:, ::-1]])
        shift = (directed[:, 1] % 64).astype(np.uint64)
        np.bitwise_or.at(self.adjacency_bits, (directed[:, 0], directed[:, 1] // 64), np.uint64(1) << shift)
        self._edges: Integers | None = pairs
        for array in (pairs, self.adjacency_bits):
            array.setflags(write=False)

    @classmethod
    def complete(cls, num_players: int) -> PlayerGraph:
        """The complete graph, in which structure does not matter."""
        graph = cls(num_players)
        count = graph.num_players
        all_players = packing.pack(np.ones((1, count), dtype=np.bool_))
        players = np.arange(count)
        bits = np.repeat(all_players, count, axis=0)
        bits[players, players // 64] ^= np.uint64(1) << (players % 64).astype(np.uint64)
        bits.setflags(write=False)
        graph.adjacency_bits = bits
        graph.num_edges = count * (count - 1) // 2
        graph._edges = None
        return graph

    @classmethod
    def from_edge_index(cls, edge_index: Any, num_players: int | None = None) -> PlayerGraph:
        """From a PyG ``edge_index`` of shape [2, e] (tensor or array).

        Args:
            edge_index: Columns are edges; one or both directions may be stored.
            num_players: Number of nodes; by default the largest index + 1.
        """
        columns = checked_array("edge_index", edge_index)
        if columns.ndim != 2 or columns.shape[0] != 2:
            raise ValueError(f"edge_index must have shape [2, e], got {list(columns.shape)}")
        if columns.size and not np.issubdtype(columns.dtype, np.integer):
            raise ValueError(f"edge_index must hold whole numbers, got {columns.dtype}")
        if num_players is None:
            num_players = int(columns.max()) + 1 if columns.size else 0
        return cls(num_players, columns.T)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any]) -> PlayerGraph:
        """From a networkx graph: nodes 0 … n − 1 keep their numbers, others are numbered as they are listed."""
        if not hasattr(graph, "nodes") or not hasattr(graph, "edges") or isinstance(graph, type):
            raise TypeError(f"graph must be a networkx graph, got {shortened(graph)}")
        number = {node: i for i, node in enumerate(networkx_order(graph))}
        return cls(len(number), [(number[u], number[v]) for u, v in graph.edges()])

    @classmethod
    def of(cls, source: Any, num_players: int) -> PlayerGraph:
        """From any form: None (complete), a PlayerGraph, edges, a PyG ``edge_index``, a networkx graph.

        An array of shape [2, e] is read as an ``edge_index``, one of shape [e, 2] as a list of pairs; for [2, 2] a
        tensor is an ``edge_index`` and anything else a list of two pairs.
        """
        if source is None:
            return cls.complete(num_players)
        if not isinstance(source, PlayerGraph):
            if hasattr(source, "nodes") and hasattr(source, "edges"):
                source = cls.from_networkx(source)
            elif hasattr(source, "dtype") and len(getattr(source, "shape", ())) == 2 and source.shape[0] == 2:
                columns = source.shape[1] != 2 or hasattr(source, "detach")
                return cls.from_edge_index(source, num_players) if columns else cls(num_players, source)
            else:
                return cls(num_players, source)
        if source.num_players != num_players:
            raise ValueError(f"edges: the graph has {source.num_players} players, expected {num_players}")
        graph: PlayerGraph = source
        return graph

    @property
    def edges(self) -> Integers:
        """Undirected edges [e, 2] with i < j, sorted, each once."""
        if self._edges is None:
            # A complete graph has many; they are listed only when they are needed.
            self._edges = np.argwhere(np.triu(self.adjacency, 1))
            self._edges.setflags(write=False)
        return self._edges

    @property
    def is_complete(self) -> bool:
        """Whether there is an edge between every two players."""
        return self.num_edges == self.num_players * (self.num_players - 1) // 2

    @property
    def adjacency(self) -> Masks:
        """The symmetric n × n adjacency matrix, false on the diagonal."""
        return packing.unpack(self.adjacency_bits, self.num_players)

    def neighbour_lists(self) -> list[list[int]]:
        """Neighbours of each player, ascending."""
        directed = np.concatenate([self.edges, self.edges[:, ::-1]])
        directed = directed[np.lexsort((directed[:, 1], directed[:, 0]))]
        cuts = np.searchsorted(directed[:, 0], np.arange(1, self.num_players))
        return [near.tolist() for near in np.split(directed[:, 1], cuts)]

    def __repr__(self) -> str:
        return f"PlayerGraph({self.num_players} players, {self.num_edges} edges)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlayerGraph):
            return NotImplemented
        return self.num_players == other.num_players and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((self.num_players, self.edges.tobytes()))

    # -- coalitions given by the caller ---------------------------------------------------------------------------

    def masks(self, coalitions: Any) -> Masks:
        """Coalitions as booleans [q, n]: a boolean array, one set of players, or an iterable of sets of players."""
        return as_masks(coalitions, self.num_players)

    def component_labels(self, coalitions: Any) -> Integers:
        """For each coalition and player the rank of the player's component, −1 outside; shape [q, n]."""
        bits = packing.pack(self.masks(coalitions))
        labels = np.empty((len(bits), self.num_players), dtype=np.int64)
        kernels.label_components(self.adjacency_bits, bits, labels)
        return labels

    def components(self, coalition: Any = None) -> list[list[int]]:
        """Connected components ζ(T) of one coalition (of all players by default), by smallest member."""
        masks = np.ones((1, self.num_players), dtype=np.bool_) if coalition is None else self.masks(coalition)
        if len(masks) != 1:
            raise ValueError(f"coalition: expected one coalition, got {len(masks)}; see component_labels")
        labels = self.component_labels(masks)[0]
        return [np.flatnonzero(labels == label).tolist() for label in range(labels.max(initial=-1) + 1)]

    def is_connected(self, coalitions: Any) -> Masks:
        """Whether each coalition induces one component; the empty coalition does not. Shape [q]."""
        return np.asarray(self.component_labels(coalitions).max(axis=1, initial=-1) == 0)

    def neighbours(self, coalitions: Any) -> Masks:
        """N(R): players outside each coalition that are adjacent to it; shape [q, n]."""
        bits = packing.pack(self.masks(coalitions))
        outside = np.empty_like(bits)
        kernels.open_neighbourhoods(self.adjacency_bits, bits, outside)
        return packing.unpack(outside, self.num_players)

    # -- all connected coalitions ---------------------------------------------------------------------------------

    def count_connected(self, cap: int | None = None) -> int:
        """Number of connected coalitions, or ``cap + 1`` if there are more than ``cap``.

        Complete graphs have 2ⁿ − 1; sparse ones are counted over a moving frontier, others by listing, which
        ``cap`` limits.
        """
        if cap is not None:
            checked_whole("cap", cap, least=0)
        exact = self.count_connected_quickly()
        if exact is None:
            most = int(np.iinfo(np.int64).max) - 1
            limit = most if cap is None else min(cap, most)
            exact = int(kernels.count(self.adjacency_bits, self.enumeration_stack(2), limit))
        return exact if cap is None else min(exact, cap + 1)

    def count_connected_quickly(self) -> int | None:
        """The exact number of connected coalitions if it can be counted in well under a second, otherwise None."""
        if self.is_complete:
            return int(2**self.num_players - 1)
        return count_by_frontier(self.neighbour_lists(), _COUNTING_STEPS)

    def blocks(self, block_size: int = _BLOCK_ROWS, max_size: int | None = None) -> Iterator[CoalitionBlock]:
        """All connected coalitions in a fixed order, a block of bits at a time, with constant memory."""
        if checked_whole("block_size", block_size) > _MOST_ROWS:
            raise ValueError(f"block_size must be at most {_MOST_ROWS:,}, got {block_size:,}")
        largest = (
            self.num_players if max_size is None else min(checked_whole("max_size", max_size, 0), self.num_players)
        )
        if largest < 1:
            return
        stack, cursor = self.enumeration_stack(4), np.zeros(1, dtype=np.int64)
        words = self.adjacency_bits.shape[1]
        while True:
            members = np.empty((block_size, words), dtype=np.uint64)
            outside = np.empty_like(members)
            sizes = np.empty(block_size, dtype=np.int64)
            written = kernels.next_block(self.adjacency_bits, stack, cursor, largest, members, outside, sizes)
            if written:
                yield CoalitionBlock(members[:written], outside[:written], sizes[:written])
            if written < block_size:
                return

    def connected_coalitions(self, block_size: int = _BLOCK_ROWS, max_size: int | None = None) -> Iterator[Masks]:
        """The same coalitions as :meth:`blocks`, as booleans [b, n]."""
        for block in self.blocks(block_size, max_size):
            yield packing.unpack(block.members, self.num_players)

    def sample_connected(self, count: int, seed: int | np.random.Generator = 0) -> Masks:
        """Random connected coalitions [count, n]: the components of random sets of players.

        Each set takes every player with one probability x, itself uniform on (0, 1); this is the distribution of
        components in the permutation estimators. A coalition may occur more than once.
        """
        if checked_whole("count", count, least=0) * self.num_players > _MOST_BYTES:
            raise ValueError(f"count: {count:,} coalitions of {self.num_players} players do not fit in memory")
        drawn = isinstance(seed, np.random.Generator)
        generator = np.random.default_rng(seed if drawn else checked_seed("seed", seed))
        parts: list[Masks] = [np.zeros((0, self.num_players), dtype=np.bool_)]
        missing = count
        while missing > 0:
            # A fixed draw size keeps the sequence the same for every count.
            chance = generator.random((256, 1))
            labels = self.component_labels(generator.random((256, self.num_players)) < chance)
            rows, ranks = component_rows(labels)
            parts.append(labels[rows[:missing]] == ranks[:missing, None])
            missing -= len(parts[-1])
        return np.concatenate(parts)

    def enumeration_stack(self, layers: int, root: int | None = None) -> Bits:
        """Work space for the kernels that enumerate connected coalitions: sets by depth, candidates in the first layer.

        With a root, it is the only candidate at first.
        """
        layers = checked_whole("layers", layers)
        stack = np.zeros((self.num_players + 2, layers, self.adjacency_bits.shape[1]), dtype=np.uint64)
        first = np.full((1, self.num_players), root is None)
        if root is not None:
            first[0, checked_player(root, self.num_players)] = True
        stack[0, 0] = packing.pack(first)
        return stack


def networkx_order(graph: networkx.Graph[Any]) -> list[Any]:
    """The nodes of a networkx graph in the order in which they become players."""
    nodes = list(graph.nodes)
    numbers = {node for node in nodes if isinstance(node, int | np.integer) and not isinstance(node, bool)}
    return list(range(len(nodes))) if numbers == set(range(len(nodes))) else nodes


def component_rows(labels: Integers) -> tuple[Integers, Integers]:
    """All components of labelled coalitions: which coalition each is of, and its rank there."""
    counts = labels.max(axis=1, initial=-1) + 1
    rows = np.repeat(np.arange(len(labels)), counts)
    return rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def as_masks(coalitions: Any, num_players: int) -> Masks:
    """Coalitions as booleans [q, n]: a boolean array, one set of players, or an iterable of sets of players."""
    if hasattr(coalitions, "dtype"):
        array = checked_array("coalitions", coalitions)
        if array.dtype == np.bool_:
            masks: Masks = np.atleast_2d(array)
            if masks.ndim != 2 or masks.shape[1] != num_players:
                raise ValueError(f"coalitions must have shape [q, {num_players}], got {list(masks.shape)}")
            return masks
        if array.ndim != 1:
            raise ValueError(f"coalitions: an array of {array.dtype} could be masks or players; convert masks to bool")
        coalitions = array.tolist()
    if not isinstance(coalitions, Iterable) or isinstance(coalitions, str | bytes):
        raise ValueError(f"coalitions must be booleans [q, {num_players}] or sets of players, got {coalitions!r}")
    if isinstance(coalitions, set | frozenset):
        listed = [coalitions]
    else:
        listed = checked_list("coalitions", coalitions, f"booleans [q, {num_players}] or sets of players")
        if listed and not isinstance(listed[0], Iterable):
            listed = [listed]
    masks = np.zeros((len(listed), num_players), dtype=np.bool_)
    for row, players in enumerate(listed):
        if not isinstance(players, Iterable):
            raise ValueError(f"coalitions must be sets of players, got {players!r} among them")
        # Players that do not exist end the loop, so that a set without end does too.
        for player in players:
            masks[row, checked_player(player, num_players)] = True
    return masks


def checked_graph(name: str, graph: Any, num_players: int | None = None) -> PlayerGraph:
    """A graph of players, or an error that names the argument.

    Args:
        name: The argument, for the message.
        graph: What it is.
        num_players: How many players it must have, if that is known.
    """
    checked_instance(name, graph, PlayerGraph, "a mage.PlayerGraph, such as game.graph")
    if num_players is not None and graph.num_players != num_players:
        raise ValueError(f"{name} must have {num_players} players, got {graph.num_players}")
    players: PlayerGraph = graph
    return players


def checked_player(player: Any, num_players: int) -> int:
    """A player's number, or an error that says what is wrong with it."""
    try:
        if isinstance(player, bool | np.bool_):
            raise TypeError
        number = operator.index(player)
    except TypeError:
        raise ValueError(f"players are whole numbers 0 … {num_players - 1}, got {player!r}") from None
    if not 0 <= number < num_players:
        raise ValueError(f"player {number} does not exist; players are 0 … {num_players - 1}")
    return number


def _checked_count(num_players: int) -> int:
    number = isinstance(num_players, int | float | np.number) and not isinstance(num_players, bool)
    if not number or not math.isfinite(num_players) or int(num_players) != num_players or num_players < 1:
        raise ValueError(f"num_players must be a whole number ≥ 1, got {num_players!r}")
    count = int(num_players)
    if count > _MOST_PLAYERS:
        raise ValueError(
            f"num_players: {count:,} are more than the {_MOST_PLAYERS:,} whose graph fits in memory; let groups play"
        )
    return count


def _normalised(edges: Any, num_players: int) -> Integers:
    """Undirected edges [e, 2] with i < j, each once, sorted."""
    expected = "pairs of players [e, 2]"
    listed = edges if hasattr(edges, "shape") else checked_list("edges", edges, expected)
    pairs = checked_array("edges", listed, expected)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"edges must be pairs of players [e, 2], got shape {list(pairs.shape)}")
    if not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"edges must hold whole numbers, got {pairs.dtype}")
    outside = (pairs < 0) | (pairs >= num_players)
    if outside.any():
        row = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(f"edges: {tuple(pairs[row].tolist())} is not between players 0 … {num_players - 1}")
    ordered = np.sort(pairs.astype(np.int64), axis=1)
    return np.unique(ordered[ordered[:, 0] != ordered[:, 1]], axis=0)
