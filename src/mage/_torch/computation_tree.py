"""What message passing computes for some nodes, as one graph in which equal parts occur once.

After L layers a node knows the tree of its neighbours, their neighbours and so on, L deep. The tree is built with edges
that point to the root only, so that a subtree can serve many roots: a node at height j, which needs to be right after
j layers, gets messages from nodes at height j − 1. Thousands of neighbourhoods then cost the model little more than
their roots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mage._core.typing import Bits, Integers, Masks


class ComputationTree(NamedTuple):
    """The trees of some nodes, as one graph of copies: the roots come first, in their order.

    Attributes:
        nodes: The node of the input graph that each row is a copy of.
        coalitions: The coalition that each row is a copy from.
        ends: Sources and targets of the edges [2, e], as rows.
        edges: The edge of the input graph that each is a copy of.
    """

    nodes: Integers
    coalitions: Integers
    ends: Integers
    edges: Integers

    def queries(self, num_nodes: int) -> int:
        """What asking the model for it counts: as many nodes as the input graph has are one query."""
        return -(-len(self.nodes) // num_nodes)


def incoming_edges(edge_index: Integers, num_nodes: int) -> Integers:
    """Numbers of the edges that point to each node, a row each, filled up with −1."""
    order = np.argsort(edge_index[1], kind="stable")
    counts = np.bincount(edge_index[1], minlength=num_nodes)
    table = np.full((num_nodes, counts.max(initial=0)), -1, dtype=np.int64)
    table[np.arange(table.shape[1]) < counts[:, None]] = order
    return table


def build_computation_tree(
    edge_index: Integers, incoming: Integers, members: Masks, roots: Integers, colours: Bits, with_degrees: bool
) -> ComputationTree:
    """The computation tree of one node in each of many coalitions.

    Args:
        edge_index: Edges of the input graph [2, e].
        incoming: The edges to each node, from :func:`incoming_edges`.
        members: Who is present in each coalition [q, n].
        roots: The node of each coalition that matters.
        colours: A name for what each node can know after 0, 1, …, L layers [L + 1, q, n].
        with_degrees: Whether nodes know their degrees before the first layer.
    """
    source = edge_index[0]
    row, node = np.arange(len(roots)), roots
    nodes, rows, first, ends, edges = [], [], 0, [], []
    for height in range(len(colours) - 1, -1, -1):
        nodes.append(node)
        rows.append(row)
        copies = first + np.arange(len(node))
        first += len(node)
        if height == 0 and not with_degrees:
            break
        into = incoming[node]
        copy, column = np.nonzero((into >= 0) & members[row[:, None], source[into]])
        edge = into[copy, column]
        loop = source[edge] == node[copy]
        target, origin = copies[copy], np.where(loop, copies[copy], first)
        if height > 0:
            beyond = ~loop
            sender = row[copy[beyond]], source[edge[beyond]]
            _, first_places, inverse = np.unique(colours[height - 1][sender], return_index=True, return_inverse=True)
            origin[beyond] = first + inverse
            row, node = sender[0][first_places], sender[1][first_places]
        # At height 0 only the number of edges matters, so that all may come from one node, the last.
        ends.append(np.stack([origin, target]))
        edges.append(edge)
    nodes.append(roots[:1])
    rows.append(np.zeros(len(roots[:1]), dtype=np.int64))
    none = np.empty((2, 0), dtype=np.int64)
    ends, edges = [none, *ends], [none[0], *edges]
    return ComputationTree(
        np.concatenate(nodes), np.concatenate(rows), np.concatenate(ends, axis=1), np.concatenate(edges)
    )
