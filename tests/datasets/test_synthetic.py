import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import torch

from mage.datasets import info, load, motifs_of
from mage.datasets.shapes import CRANE, FIVE_CYCLE, GRID, HOUSE, HOUSE_BY_ROOF
from tests.helpers.suites import long_case

# The shapes once more, in the words of another library.
SHAPES = {
    "house": nx.Graph([*nx.cycle_graph(4).edges, (0, 4), (1, 4)]),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3)),
    "five-cycle": nx.cycle_graph(5),
    "cycle": nx.cycle_graph(5),
    "crane": nx.complete_bipartite_graph(2, 3),
}


def graph_of(data):
    graph = nx.Graph()
    graph.add_nodes_from(range(data.num_nodes))
    graph.add_edges_from(data.edge_index.T.tolist())
    return graph


def shapes_in(data):
    """Names of the shapes that the ground truth marks, each an induced subgraph hung on by one edge."""
    graph = graph_of(data)
    names = []
    for motif in motifs_of(data):
        inside = graph.subgraph(motif)
        names += [name for name in ("house", "grid", "five-cycle", "crane") if nx.is_isomorphic(inside, SHAPES[name])]
        true = {frozenset(edge) for edge in inside.edges}
        marked = data.edge_index[:, data.edge_motif >= 0].T.tolist()
        assert true <= {frozenset(edge) for edge in marked}
    return sorted(names)


def test_the_shapes_are_what_they_are_called():
    shapes = ((HOUSE, "house"), (HOUSE_BY_ROOF, "house"), (GRID, "grid"), (FIVE_CYCLE, "five-cycle"), (CRANE, "crane"))
    for edges, name in shapes:
        assert nx.is_isomorphic(nx.Graph(edges), SHAPES[name])
    assert nx.triangles(nx.Graph(HOUSE_BY_ROOF))[0] == 1
    assert nx.Graph(HOUSE_BY_ROOF).degree[0] == 2


@pytest.mark.parametrize("name", ["ba_house_grid", "ba_house_and_grid", "ba_house_or_grid", "spmotif"])
def test_motifs_are_joined_by_their_first_node(name):
    for data in load(name, count=60):
        graph, starts = graph_of(data), [min(motif) for motif in motifs_of(data)]
        for motif in motifs_of(data):
            neighbours = {v for u in motif for v in graph[u]} - set(motif)
            # Noise may add edges to any node of a motif of SPMotif, not to those of the others.
            assert neighbours & set(graph[min(motif)])
            if name != "spmotif":
                assert neighbours == {{1: 0, 2: 10 * starts.index(min(motif))}[len(starts)]}


@pytest.mark.parametrize(
    "name",
    ["ba_house_grid", *(long_case(name) for name in ("ba_house_and_grid", "ba_house_or_grid", "spmotif"))],
)
def test_statistics_are_the_papers(name):
    dataset = load(name)
    paper = info(name).paper
    assert len(dataset) == paper.graphs
    assert dataset.num_nodes_each.mean() == pytest.approx(paper.nodes, rel=0.02)
    assert dataset.num_edges_each.mean() == pytest.approx(paper.edges, rel=0.02)
    assert sorted(set(dataset.labels)) == list(range(len(info(name).class_names)))
    shares = np.bincount(dataset.labels) / len(dataset)
    assert shares == pytest.approx(np.full(len(shares), 1 / len(shares)), abs=0.01)


def test_house_grid_has_the_motif_of_its_class():
    dataset = load("ba_house_grid", count=40)
    for data in dataset:
        assert shapes_in(data) == [("house", "grid")[int(data.y)]]
        graph = graph_of(data)
        motif = set(motifs_of(data)[0])
        assert nx.is_tree(graph.subgraph(set(graph) - motif))
        assert len(list(nx.edge_boundary(graph, motif))) == 1


@pytest.mark.parametrize(("name", "both_only"), [("ba_house_and_grid", True), ("ba_house_or_grid", False)])
def test_the_label_says_which_motifs_are_there(name, both_only):
    dataset = load(name, count=120)
    kinds = set()
    for data in dataset:
        shapes = tuple(shapes_in(data))
        assert shapes == () if int(data.y) == 0 else shapes
        if int(data.y) == 1 and both_only:
            assert shapes == ("grid", "house")
        kinds.add((data.num_nodes, int(data.y)))
        assert nx.is_connected(graph_of(data))
    one = 0 if both_only else 1
    assert kinds == {(20, 0), (25, one), (29, one), (34, 1)}


def test_motifs_of_a_spurious_base():
    dataset = load("spmotif", count=360)
    for data in dataset:
        expected = ("five-cycle", "house", "crane")[int(data.y)]
        (motif,) = motifs_of(data)
        assert nx.is_isomorphic(graph_of(data).subgraph(motif), SHAPES[expected])
    assert float(dataset[0].x.min()) >= 0
    assert dataset[0].x.shape[1] == 4


def test_bases_go_with_motifs_in_the_first_half_only():
    dataset = load("spmotif", count=1800)

    def is_tree_like(data):
        # Trees of a base have no cycle but what noise makes; ladders and wheels are full of them.
        base = graph_of(data).subgraph(np.flatnonzero(data.node_motif < 0).tolist())
        return base.number_of_edges() < 1.2 * base.number_of_nodes()

    biased = np.mean([is_tree_like(dataset[i]) for i in range(300)])
    fair = np.mean([is_tree_like(dataset[i]) for i in range(1200, 1400)])
    assert biased == pytest.approx(0.7, abs=0.08)
    assert fair == pytest.approx(1 / 3, abs=0.1)


def test_two_motifs_by_construction(monkeypatch, tmp_path):
    dataset = load("ba_2motifs", seed=3)
    assert "not the published file" in dataset.origin
    assert len(dataset) == 1000
    assert set(dataset.num_nodes_each) == {25}
    assert dataset.num_edges_each.mean() == pytest.approx(25.5)
    for i in range(0, 1000, 97):
        assert shapes_in(dataset[i]) == [("five-cycle", "house")[int(dataset[i].y)]]
        assert torch.equal(dataset[i].x, torch.full((25, 10), 0.1))


def test_houses_of_ba_shapes():
    data = load("ba_shapes")[0]
    assert shapes_in(data) == ["house"] * 80
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (what PyG draws from)
    again = load("ba_shapes")[0]
    assert torch.equal(data.edge_index, again.edge_index)
    assert not torch.equal(data.edge_index, load("ba_shapes", seed=1)[0].edge_index)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize(("name", "size", "count", "edges"), [("tree_cycles", 6, 60, 6), ("tree_grid", 9, 80, 12)])
def test_motifs_on_trees(name, size, count, edges):
    dataset = load(name)
    data = dataset[0]
    assert data.num_nodes == 511 + count * size
    motifs = dataset.motifs(0)
    assert [len(motif) for motif in motifs] == [size] * count
    # Random edges leave motifs as they are inside, and the class says who is in one.
    inside = data.node_motif[data.edge_index[0]] == data.node_motif[data.edge_index[1]]
    assert int((inside & (data.node_motif[data.edge_index[0]] >= 0)).sum()) == 2 * edges * count
    assert torch.equal(data.y, (data.node_motif >= 0).long())
    assert torch.equal(data.edge_index, load(name)[0].edge_index)
    assert not torch.equal(data.edge_index, load(name, seed=1)[0].edge_index)
    node = int(dataset.candidates()[0])
    assert dataset.settings(node)["max_nodes"] == size
    assert dataset.settings(node)["node"] == node


@pytest.mark.long
def test_the_same_seed_gives_the_same_graphs_in_another_process():
    script = (
        "import hashlib, mage.datasets as d\n"
        "c = d.load('spmotif', count=90, seed=4).columns\n"
        "print(hashlib.sha256(c.edge_index.numpy().tobytes() + c.nodes['x'].numpy().tobytes()).hexdigest())"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.strip()) == 64
