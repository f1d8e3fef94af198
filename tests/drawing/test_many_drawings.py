"""Drawings of many graphs of up to 35 nodes: no crossings in cycles, and no overlap of names or of nodes."""

import itertools

import networkx as nx
import numpy as np
import pytest

from mage.drawing import num_crossings, scene_of, stress_layout
from mage.drawing.scene import LABEL_SIZE
from mage.drawing.type_widths import text_width
from tests.helpers.explanations import made_up

MOTIFS = {"house": nx.house_graph(), "cycle": nx.cycle_graph(5), "grid": nx.grid_2d_graph(3, 3)}
MOLECULES = (
    "c1ccc2ccccc2c1",
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "C1CC2CCC1C2",
    "c1cc2ccc3cccc4ccc(c1)c2c34",
)


def numbered(graph):
    return nx.convert_node_labels_to_integers(graph)


def with_motif(base, motif, seed):
    graph = nx.disjoint_union(base, numbered(motif))
    graph.add_edge(seed % len(base), len(base))
    return graph


def fused_rings(num_rings, length):
    """Rings in a row, each with one edge in common with the next."""
    graph = nx.cycle_graph(length)
    last = (0, 1)
    for _ in range(num_rings - 1):
        start = len(graph)
        path = [last[0], *range(start, start + length - 2), last[1]]
        nx.add_path(graph, path)
        last = (path[length // 2 - 1], path[length // 2])
    return graph


def of_smiles(smiles):
    Chem = pytest.importorskip("rdkit.Chem")
    bonds = Chem.MolFromSmiles(smiles).GetBonds()
    return nx.Graph([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds])


def planted(kind, seed):
    """A Barabási-Albert graph with a motif, as in the datasets of the field."""
    base = nx.barabasi_albert_graph(20, 1, seed=seed)
    return with_motif(base, MOTIFS[kind], seed)


PLANAR = {
    **{f"tree {seed}": lambda seed=seed: nx.random_labeled_tree(35, seed=seed) for seed in range(4)},
    **{f"cycle {length}": lambda length=length: nx.cycle_graph(length) for length in (3, 5, 12, 35)},
    **{f"rings {n} x {k}": lambda n=n, k=k: fused_rings(n, k) for n, k in ((2, 6), (3, 5), (7, 6), (4, 8))},
    **{f"{kind} {seed}": lambda kind=kind, seed=seed: planted(kind, seed) for kind in MOTIFS for seed in range(4)},
    **{smiles: lambda smiles=smiles: of_smiles(smiles) for smiles in MOLECULES},
}
OTHERS = {
    **{f"BA {seed}": lambda seed=seed: nx.barabasi_albert_graph(30, 2, seed=seed) for seed in range(3)},
    **{
        f"house in BA {s}": lambda s=s: with_motif(nx.barabasi_albert_graph(25, 2, seed=s), MOTIFS["house"], s)
        for s in range(3)
    },
    "karate club": nx.karate_club_graph,
    "complete": lambda: nx.complete_graph(12),
    "bipartite": lambda: nx.complete_bipartite_graph(3, 12),
    "star": lambda: nx.star_graph(34),
    "parts": lambda: nx.disjoint_union_all([fused_rings(2, 6), nx.star_graph(8), nx.path_graph(5), nx.empty_graph(3)]),
}


def pairs_of(graph):
    return np.array(sorted(graph.edges()), dtype=np.int64).reshape(-1, 2)


@pytest.mark.parametrize("name", PLANAR)
def test_no_edges_of_trees_and_rings_cross(name):
    graph = PLANAR[name]()
    pairs = pairs_of(graph)
    assert num_crossings(stress_layout(pairs, len(graph)), pairs) == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["house", "cycle"])
def test_motifs_in_graphs_with_crossings_have_none_of_their_own(kind, seed):
    graph = with_motif(nx.barabasi_albert_graph(25, 2, seed=seed), MOTIFS[kind], seed)
    inside = pairs_of(graph.subgraph(range(25, len(graph))))
    assert num_crossings(stress_layout(pairs_of(graph), len(graph)), inside) == 0


@pytest.mark.parametrize("name", [*PLANAR, *OTHERS])
def test_neither_names_nor_nodes_overlap(name):
    graph = (PLANAR | OTHERS)[name]()
    scene = scene_of(made_up(graph, names=[f"node {node}" for node in range(len(graph))]))
    apart = np.linalg.norm(scene.places[:, None] - scene.places[None], axis=2)
    assert apart[~np.eye(len(graph), dtype=bool)].min() >= 2 * scene.radius
    boxes = [
        (place + np.array([label.x, label.y]), np.array([text_width(label.text, LABEL_SIZE) / 2, LABEL_SIZE / 2]))
        for place, label in zip(scene.places, scene.labels, strict=True)
    ]
    for (one, half), (other, wide) in itertools.combinations(boxes, 2):
        assert (np.abs(one - other) >= half + wide).any()
