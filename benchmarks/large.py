"""Large graphs: seconds, queries, memory and whether planted nodes are found: ``python benchmarks/large.py``.

Five problems, each explained in a fresh process so that its peak memory is its own (``--only graph`` runs one):

- ``graph``: a graph of 5,000 nodes in 40 blocks, explained as a whole by communities and refinement;
- ``node``: a node of a graph of 200,000 nodes;
- ``hub``: a node of the same graph with more than 1,000 nodes in its neighbourhood, most of them boundary nodes;
- ``crowd``: one with more than 3,000, which form communities first;
- ``million``: a node of such a graph of 1,000,000 nodes.

The network has three layers of width 64 whose first channels are set by hand: they find a node of type A with two
neighbours of type B that each have a neighbour of type C. Such patterns of five nodes are planted among thousands of
nodes of the same types that form none, so it is known which nodes the output is due to. The other channels are random
and only cost time. One torch thread.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_add_pool

import mage

A, B, C = range(3)
WIDTH = 64


class Detector(torch.nn.Module):
    """Counts nodes of type A with two neighbours of type B that each have a neighbour of type C."""

    def __init__(self, pooled: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convs = torch.nn.ModuleList([GraphConv(8, WIDTH), GraphConv(WIDTH, WIDTH), GraphConv(WIDTH, WIDTH)])
        self.pooled = pooled
        first, second, third = self.convs
        for conv in self.convs:
            for channel in range(2):
                conv.lin_root.weight.data[channel] = 0.0
                conv.lin_rel.weight.data[channel] = 0.0
                conv.lin_rel.bias.data[channel] = 0.0
        # Channel 0: B with a C beside it; channel 1: A.
        first.lin_root.weight.data[0, B], first.lin_rel.weight.data[0, C], first.lin_rel.bias.data[0] = 10, 1, -10
        first.lin_root.weight.data[1, A] = 1
        # Channel 0: A with two of these beside it.
        second.lin_root.weight.data[0, 1], second.lin_rel.weight.data[0, 0], second.lin_rel.bias.data[0] = 10, 1, -11
        # Channel 0: such nodes, and at node level their neighbours.
        third.lin_root.weight.data[0, 0], third.lin_rel.weight.data[0, 0] = 1, 0 if pooled else 1

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        """Two logits for each graph, or for each node."""
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        marks = global_add_pool(x[:, :1], batch) if self.pooled else x[:, :1]
        return torch.cat([0.5 - marks, marks - 0.5], dim=1)


def typed_graph(edges: np.ndarray, num_nodes: int, planted: list[list[int]], seed: int) -> Data:
    """Features for a graph with patterns [A, B, B, C, C] at the planted nodes and, by cleaning up, nowhere else."""
    rng = np.random.default_rng(seed)
    kind = rng.choice([A, B, C, 3, 4], size=num_nodes, p=[0.1, 0.1, 0.1, 0.35, 0.35])
    directed = np.concatenate([edges, edges[:, ::-1]])
    presence = np.zeros(num_nodes, dtype=bool)
    for pattern in planted:
        kind[pattern] = [A, B, B, C, C]
        presence[pattern] = True
    # Neighbours of planted nodes are of no type, so that they cannot stand in for them.
    beside = np.zeros(num_nodes, dtype=bool)
    beside[directed[presence[directed[:, 0]], 1]] = True
    kind[beside & ~presence] = 3
    # An A that two active B happen to touch loses its type.
    active = np.zeros(num_nodes)
    to_c = kind[directed[:, 1]] == C
    np.add.at(active, directed[to_c, 0], 1)
    active *= kind == B
    reached = np.zeros(num_nodes)
    np.add.at(reached, directed[:, 1], active[directed[:, 0]])
    kind[(kind == A) & (reached >= 2) & ~presence] = 3
    x = torch.zeros(num_nodes, 8)
    x[torch.arange(num_nodes), torch.from_numpy(kind)] = 1
    x[:, 5:] = torch.from_numpy(rng.random((num_nodes, 3))).float()
    return Data(x=x, edge_index=torch.from_numpy(directed.T.copy()))


def pattern_at(neighbours: dict[int, list[int]], start: int, used: set[int]) -> list[int] | None:
    """Existing nodes [A, B, B, C, C] for a pattern around a start, none of them in use."""
    arms = []
    pattern = used | {start}
    for b in neighbours[start]:
        end = next((c for c in neighbours[b] if c not in pattern and c not in neighbours[start]), None)
        if b not in pattern and end is not None:
            arms.append((b, end))
            pattern |= {b, end}
        if len(arms) == 2:
            return [start, arms[0][0], arms[1][0], arms[0][1], arms[1][1]]
    return None


def neighbour_lists(edges: np.ndarray, nodes: list[int]) -> dict[int, list[int]]:
    """Neighbours of some nodes and of theirs, up to three hops."""
    directed = np.concatenate([edges, edges[:, ::-1]])
    directed = directed[np.argsort(directed[:, 0], kind="stable")]
    lists: dict[int, list[int]] = {}
    frontier = nodes
    for _ in range(4):
        for v in frontier:
            if v not in lists:
                first, last = np.searchsorted(directed[:, 0], [v, v + 1])
                lists[v] = sorted(set(directed[first:last, 1].tolist()) - {v})
        frontier = [u for v in frontier for u in lists[v] if u not in lists]
    return lists


def block_graph(seed: int) -> tuple[Detector, Data, list[list[int]], dict[str, object]]:
    """5,000 nodes in 40 blocks, with two patterns on existing paths, which may cross from block to block."""
    blocks = nx.random_partition_graph([125] * 40, 0.05, 0.0003, seed=seed)
    edges = np.array(blocks.edges())
    rng, planted = np.random.default_rng(seed), []
    while len(planted) < 2:
        used = {v for pattern in planted for v in pattern}
        start = int(rng.integers(5000))
        pattern = pattern_at(neighbour_lists(edges, [start]), start, used)
        planted += [] if pattern is None else [pattern]
    data = typed_graph(edges, 5000, planted, seed)
    return Detector(pooled=True).eval(), data, planted, {"num_motifs": 2, "max_nodes": 10}


def small_world(
    hub_degree: int, count: int = 200_000, *, seed: int
) -> tuple[Detector, Data, list[list[int]], dict[str, object]]:
    """Nodes on a ring, each joined to its next two neighbours and a random node; one has more neighbours."""
    rng = np.random.default_rng(seed)
    nodes = np.arange(count)
    node = count // 2
    parts = [np.stack([nodes, (nodes + step) % count], 1) for step in (1, 2)]
    parts += [
        np.stack([nodes, rng.integers(count, size=count)], 1),
        np.stack([np.full(hub_degree, node), rng.choice(count, hub_degree, replace=False)], 1),
    ]
    edges = np.concatenate(parts)
    edges = edges[edges[:, 0] != edges[:, 1]]
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    lists = neighbour_lists(edges, [node])
    planted = next(
        pattern
        for start in lists[node]
        if (pattern := pattern_at(lists, start, {node, *lists[node]} - {start})) is not None
    )
    data = typed_graph(edges, count, [planted], seed)
    return (
        Detector(pooled=False).eval(),
        data,
        [[node, *planted]],
        {"node": node, "num_motifs": 1, "max_nodes": 6, "target": 1},
    )


PROBLEMS = {
    "graph": block_graph,
    "node": lambda seed: small_world(0, seed=seed),
    "hub": lambda seed: small_world(40, seed=seed),
    "crowd": lambda seed: small_world(100, seed=seed),
    "million": lambda seed: small_world(0, 1_000_000, seed=seed),
}


def run(name: str, seed: int, options: dict[str, object]) -> None:
    """Explain one problem and print what it took."""
    torch.set_num_threads(1)
    model, data, planted, settings = PROBLEMS[name](seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, used = time.perf_counter(), time.process_time()
    explanation = mage.explain(model, data, **settings, **options)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    truth = {v for pattern in planted for v in pattern}
    f1 = mage.metrics.node_f1(explanation.motifs.nodes, truth, data.num_nodes)
    print(f"{name}: {data.num_nodes:,} nodes, {data.num_edges // 2:,} edges", flush=True)
    print(f"  {seconds:.1f} s ({used:.1f} s of processor time), {explanation.num_queries:,} queries")
    print(f"  peak memory {peak:,.0f} MiB ({before:,.0f} MiB before explaining: PyTorch, the graph)")
    print(f"  {len(truth)} planted nodes, F1 {f1:.3f}")
    print("  " + repr(explanation).replace("\n", "\n  "), flush=True)


def main() -> None:
    """Run the problems, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PROBLEMS)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--budget", type=int)
    parser.add_argument("--seed", type=int, default=0, help="of graph and planted nodes")
    arguments = parser.parse_args()
    if arguments.only:
        run(arguments.only, arguments.seed, {"method": arguments.method, "budget": arguments.budget})
        return
    for name in PROBLEMS:
        subprocess.run([sys.executable, __file__, "--only", name, *sys.argv[1:]], check=True)  # noqa: S603 (this very file)


if __name__ == "__main__":
    main()
