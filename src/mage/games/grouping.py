"""Groups of nodes that play as one: communities, ring systems, or what the user says."""

from __future__ import annotations

import heapq
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mage._core.checks import checked_array, checked_list, checked_whole
from mage._core.optional import require
from mage._core.typing import Integers

GroupingFunction = Callable[[Integers, int], Any]

AT_LEAST, AT_MOST = 20, 40  # groups; the queries of a sampled ordering grow with the square of their number
_MOST_FOR_LOUVAIN = 6_000  # nodes (and 25 times as many edges); it is plain Python, so larger graphs become cells first
_UNEQUAL = 4  # times the mean size that a group may have before it is split


def communities(
    edges: Any, num_nodes: int, *, at_least: int = AT_LEAST, at_most: int = AT_MOST, seed: int = 0
) -> Integers:
    """Connected communities of a graph, about ``at_least`` to ``at_most`` of them: a label for each node.

    Louvain communities (networkx), cut into connected pieces; too few or far too large ones are split, the smallest are
    merged into the neighbour they have most edges with. A large graph (above 6,000 nodes or 150,000 edges) is first cut
    into connected cells around random nodes, and Louvain runs on these. There are more than ``at_most`` groups only
    where the graph has more components than that, as groups are always connected. The same arguments give the same
    groups.

    Args:
        edges: Pairs of nodes [e, 2]; direction, loops and repetitions do not matter.
        num_nodes: Nodes n.
        at_least: Fewest groups wanted; fewer only where the graph has fewer nodes.
        at_most: Most groups wanted.
        seed: Seed of Louvain and of the cells.
    """
    checked_whole("at_least", at_least)
    checked_whole("at_most", at_most, least=at_least)
    matrix = _adjacency(edges, num_nodes)
    labels = _louvain(matrix, seed)
    labels = _split(matrix, labels, min(at_least, num_nodes), at_most, seed)
    return _canonical(_merged(matrix, labels, at_most))


def rings(edges: Any, num_nodes: int) -> Integers:
    """Ring systems, and the connected fragments that remain without them: a label for each node.

    A ring system is a set of nodes that cycles hold together: fused and bridged rings, and rings that share a node.
    This is graph theory alone: it needs no chemistry, and takes any graph.

    Args:
        edges: Pairs of nodes [e, 2].
        num_nodes: Nodes n.
    """
    networkx = require("networkx", "pyg")
    matrix = _adjacency(edges, num_nodes)
    network = networkx.from_scipy_sparse_array(matrix)
    systems = [sorted(nodes) for nodes in networkx.biconnected_components(network) if len(nodes) > 2]
    # Systems that share a node are one: joined along a path through the members of each.
    chains = [pair for nodes in systems for pair in itertools.pairwise(nodes)]
    in_ring = np.zeros(num_nodes, dtype=np.bool_)
    in_ring[[v for nodes in systems for v in nodes]] = True
    entries = matrix.tocoo()
    outside = ~in_ring[entries.row] & ~in_ring[entries.col]
    links = np.concatenate(
        [np.array(chains, dtype=np.int64).reshape(-1, 2), np.stack([entries.row, entries.col], 1)[outside]]
    )
    return _canonical(connected_components(_adjacency(links, num_nodes), directed=False)[1])


GROUPINGS: dict[str, GroupingFunction] = {"communities": communities, "rings": rings}


def checked_groups(groups: Any, players: Integers, num_nodes: int, edges: Integers) -> Integers | None:
    """A group number 0, 1, … for each player node, from whatever a user may give; None for no groups.

    Args:
        groups: Labels [n] of all nodes, lists of nodes, one of the names of :data:`GROUPINGS`, or a function
            ``(edges, num_players) -> labels`` of the players, which may return None.
        players: Nodes of the input graph that play.
        num_nodes: Nodes of the input graph.
        edges: Pairs of players that are joined [e, 2].
    """
    if isinstance(groups, str):
        if groups not in GROUPINGS:
            raise ValueError(f"groups must be one of {', '.join(GROUPINGS)}, labels or lists of nodes; got {groups!r}")
        groups = GROUPINGS[groups]
    if callable(groups):
        if isinstance(groups, type):
            raise TypeError(f"groups must be labels, lists of nodes or a function, got the class {groups.__name__}")
        answer = groups(edges, len(players))
        if answer is None:
            return None
        if np.shape(answer) != (len(players),):
            raise ValueError(f"groups: the function must label {len(players)} players, got shape {np.shape(answer)}")
        return _canonical(np.asarray(answer))
    labels = _labels_of_nodes(groups, num_nodes)
    missing = players[labels[players] < 0]
    if len(missing):
        raise ValueError(f"groups: node {missing[0]} is in no group; groups must cover all nodes")
    return np.unique(labels[players], return_inverse=True)[1].astype(np.int64)


def checked_nodes(name: str, nodes: Any, num_nodes: int) -> list[int]:
    """The nodes of a graph that a user lists."""
    numbers = node_numbers(name, nodes)
    for number in numbers:
        if not 0 <= number < num_nodes:
            raise ValueError(f"{name}: node {number} does not exist; nodes are 0 … {num_nodes - 1}")
    return numbers


def node_numbers(name: str, nodes: Any) -> list[int]:
    """What a user lists, as plain numbers: whole ones of any kind, tensors of one entry among them."""
    listed = checked_list(name, nodes, "a list of nodes")
    return [_node_number(name, node) for node in listed]


def _node_number(name: str, node: Any) -> int:
    try:
        plain = node.item() if hasattr(node, "item") else node
        if isinstance(plain, bool):
            raise TypeError  # 1 to Python, but to its user a mask of nodes
        return operator.index(plain)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name}: nodes are whole numbers, got {node!r}") from None


def _labels_of_nodes(groups: Any, num_nodes: int) -> Integers:
    """A label for each node from labels [n] or lists of nodes; −1 for nodes in no list."""
    expected = "labels of nodes or lists of nodes"
    plain = checked_array("groups", groups, expected) if hasattr(groups, "detach") else groups
    listed = checked_list("groups", plain, expected)
    if listed and (isinstance(listed[0], str) or not isinstance(listed[0], Iterable)):
        if len(listed) != num_nodes:
            raise ValueError(f"groups must label all {num_nodes} nodes, got {len(listed)} labels")
        if any(label is None or (isinstance(label, float) and math.isnan(label)) for label in listed):
            raise ValueError("groups: a label is missing (None or nan); all nodes need one")
        try:
            return np.unique(np.asarray(listed), return_inverse=True)[1].astype(np.int64)
        except (TypeError, ValueError):
            raise ValueError("groups: labels must be of one kind, all numbers or all names") from None
    labels = np.full(num_nodes, -1, dtype=np.int64)
    for group, nodes in enumerate(listed):
        for v in checked_nodes("groups", nodes, num_nodes):
            if labels[v] >= 0:
                raise ValueError(f"groups: node {v} is in groups {labels[v]} and {group}; groups must not overlap")
            labels[v] = group
    return labels


# -- steps of the communities -------------------------------------------------------------------------------------


def _louvain(matrix: csr_array, seed: int) -> Integers:
    """Connected Louvain communities, by way of cells where the graph is large."""
    networkx = require("networkx", "pyg")
    num_nodes = matrix.shape[0]
    cells = np.arange(num_nodes)
    if num_nodes > _MOST_FOR_LOUVAIN or matrix.nnz > 50 * _MOST_FOR_LOUVAIN:
        cells = _cells(matrix, _MOST_FOR_LOUVAIN // 2, seed)
    network = networkx.from_scipy_sparse_array(_quotient(matrix, cells))
    of_cell = np.empty(network.number_of_nodes(), dtype=np.int64)
    for label, members in enumerate(networkx.community.louvain_communities(network, seed=seed)):
        of_cell[list(members)] = label
    return _pieces(matrix, of_cell[cells])


def _cells(matrix: csr_array, count: int, seed: int) -> Integers:
    """About ``count`` connected cells: every node joins the random centre that reaches it first, hop by hop."""
    num_nodes = matrix.shape[0]
    component = connected_components(matrix, directed=False)[1]
    centres = np.random.default_rng(seed).choice(num_nodes, size=min(count, num_nodes), replace=False)
    # No component without a centre.
    centres = np.unique(np.concatenate([centres, np.unique(component, return_index=True)[1]]))
    cell = np.full(num_nodes, -1, dtype=np.int64)
    cell[centres] = np.arange(len(centres))
    frontier = centres
    while len(frontier):
        starts, ends = matrix.indptr[frontier], matrix.indptr[frontier + 1]
        lengths = ends - starts
        places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        near, source = matrix.indices[places], np.repeat(cell[frontier], lengths)
        new = cell[near] < 0
        near, source = near[new], source[new]
        frontier, first = np.unique(near, return_index=True)
        cell[frontier] = source[first]
    return cell


def _split(matrix: csr_array, labels: Integers, at_least: int, at_most: int, seed: int) -> Integers:
    """Split the largest groups until there are enough of them and none is far larger than the mean."""
    labels = labels.copy()
    count = int(labels.max()) + 1
    # Largest first; groups that do not come apart well are not tried twice.
    queue = [(-int(size), label) for label, size in enumerate(np.bincount(labels))]
    heapq.heapify(queue)
    while queue:
        size, label = heapq.heappop(queue)
        too_large = -size * at_least > _UNEQUAL * len(labels) and count < 2 * at_most
        if -size < 2 or not (count < at_least or too_large):
            break
        members = np.flatnonzero(labels == label)
        inner = csr_array(matrix[members][:, members])
        parts = _louvain(inner, seed)
        if count + parts.max() > 2 * at_most or parts.max() == 0:
            parts = _halves(inner)
        sizes = np.bincount(parts)
        uneven = sizes.max() > 0.9 * len(members)
        if uneven and count >= at_least:
            continue
        names = np.concatenate([[label], count + np.arange(parts.max())])
        labels[members] = names[parts]
        count += int(parts.max())
        for name, part in zip(names.tolist(), sizes.tolist(), strict=True):
            heapq.heappush(queue, (-part, name))
    return labels


def _halves(matrix: csr_array) -> Integers:
    """Two connected parts, as equal as cutting one edge of a breadth-first tree makes them."""
    num_nodes = matrix.shape[0]
    root = int(np.diff(matrix.indptr).argmax())
    order, parent = breadth_first_order(matrix, root, directed=False)
    below = np.ones(num_nodes, dtype=np.int64)
    for v in order[:0:-1].tolist():
        below[parent[v]] += below[v]
    candidates = order[1:]
    top = int(candidates[np.abs(2 * below[candidates] - num_nodes).argmin()])
    part = np.zeros(num_nodes, dtype=np.int64)
    for v in order[1:].tolist():
        part[v] = 1 if v == top else part[parent[v]]
    return part


def _merged(matrix: csr_array, labels: Integers, at_most: int) -> Integers:
    """Merge the smallest group into the neighbour it has most edges with, until there are few enough."""
    quotient = _quotient(matrix, labels)
    sizes = np.bincount(labels).tolist()
    ties: list[dict[int, float]] = [{} for _ in sizes]
    entries = quotient.tocoo()
    for a, b, weight in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        ties[a][b] = weight
    owner = np.arange(len(sizes))
    count = len(sizes)
    queue = [(size, label) for label, size in enumerate(sizes)]
    heapq.heapify(queue)
    while count > at_most and queue:
        size, label = heapq.heappop(queue)
        if size != sizes[label] or not ties[label]:
            continue  # outdated, or a whole component, which has nobody to join
        into = min(ties[label], key=lambda other: (-ties[label][other], sizes[other], other))
        for other, weight in ties[label].items():
            del ties[other][label]
            if other != into:
                ties[into][other] = ties[into].get(other, 0.0) + weight
                ties[other][into] = ties[into][other]
        ties[label] = {}
        owner[owner == label] = into
        sizes[into] += size
        sizes[label] = 0
        count -= 1
        heapq.heappush(queue, (sizes[into], into))
    return owner[labels]


# -- small tools --------------------------------------------------------------------------------------------------


def _adjacency(edges: Any, num_nodes: int) -> csr_array:
    """The symmetric adjacency matrix of undirected edges, each once, without loops."""
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    directed = np.concatenate([pairs, pairs[:, ::-1]])
    matrix = csr_array(
        coo_array((np.ones(len(directed)), (directed[:, 0], directed[:, 1])), shape=(num_nodes, num_nodes))
    )
    matrix.data[:] = 1.0
    return matrix


def _quotient(matrix: csr_array, labels: Integers) -> csr_array:
    """Numbers of edges between groups; none within."""
    entries = matrix.tocoo()
    a, b = labels[entries.row], labels[entries.col]
    between = a != b
    count = int(labels.max()) + 1
    return csr_array(coo_array((entries.data[between], (a[between], b[between])), shape=(count, count)))


def _pieces(matrix: csr_array, labels: Integers) -> Integers:
    """Connected pieces of groups."""
    entries = matrix.tocoo()
    inside = labels[entries.row] == labels[entries.col]
    links = np.stack([entries.row, entries.col], axis=1)[inside]
    pieces: Integers = connected_components(_adjacency(links, len(labels)), directed=False)[1].astype(np.int64)
    return pieces


def _canonical(labels: Any) -> Integers:
    """Labels 0, 1, … by the first node of each group."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
