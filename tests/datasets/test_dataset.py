import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

import mage
from mage.datasets import GraphDataset, Split, load, motifs_of, names, paper_split
from mage.datasets.dataset_info import ExplanationSettings
from mage.datasets.ground_truth import motif_numbers
from mage.motifs import MotifRequest


@pytest.fixture(scope="module")
def grids():
    return load("ba_house_and_grid", count=60)


def test_the_room_opens_from_the_package():
    assert mage.datasets.names() == names()
    assert "datasets" in dir(mage)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mage.nonsense


def test_unions_equal_those_of_pyg(grids):
    positions = [7, 3, 3, 40]
    ours = grids.batch(positions)
    theirs = Batch.from_data_list([grids[i] for i in positions])
    for key in ("x", "edge_index", "y", "batch", "ptr", "node_motif", "edge_motif"):
        assert torch.equal(ours[key], theirs[key]), key
    assert ours.num_graphs == 4
    for position, graph in zip(positions, ours.to_data_list(), strict=True):
        assert sorted(graph.keys()) == sorted(grids[position].keys())
        assert all(torch.equal(graph[key], grids[position][key]) for key in graph.keys())  # noqa: SIM118


def test_views_share_the_arrays_and_keep_the_order(grids):
    view = grids[[5, 2, 9]]
    assert isinstance(view, GraphDataset)
    assert view.columns is grids.columns
    assert view.labels.tolist() == [int(grids[i].y) for i in (5, 2, 9)]
    assert view.num_nodes_each.tolist() == [grids[i].num_nodes for i in (5, 2, 9)]
    assert torch.equal(view.batch([1]).edge_index, grids[2].edge_index)


def test_pygs_loader_takes_it(grids):
    loaded = list(DataLoader(grids, batch_size=16))
    assert sum(batch.num_graphs for batch in loaded) == len(grids)
    sizes = [len(batch.x) for batch in grids.batches(np.arange(len(grids)), 16)]
    assert sizes == [len(batch.x) for batch in loaded]


@pytest.mark.parametrize(
    ("size", "first"),
    [
        (1000, [256, 698, 495]),
        (2951, [1057, 2598, 1760]),
        (12000, [6179, 10413, 6825]),
        (10000, [8901, 827, 1959]),
        (18000, [8216, 12445, 15167]),
        (70000, [33277, 11453, 41275]),
    ],
)
def test_the_split_is_the_papers(size, first):
    split = paper_split(size)
    assert split.test[:3].tolist() == first
    assert sorted(np.concatenate(split).tolist()) == list(range(size))
    assert [len(part) for part in split[:2]] == [int(0.8 * size), int(0.1 * size)]


def test_settings_come_from_the_ground_truth(grids):
    position = int(np.flatnonzero(grids.labels == 1)[0])
    settings = grids.settings(position)
    assert settings["num_motifs"] == 2
    assert settings["max_nodes"] == 14
    assert sorted(map(len, grids.motifs(position))) == [5, 9]
    neither = int(np.flatnonzero(grids.labels == 0)[0])
    assert grids.motifs(neither) == ()
    assert grids.settings(neither)["num_motifs"] == 1


def test_only_graphs_of_the_rule_are_candidates(grids):
    positions = grids.candidates()
    assert set(positions) <= set(grids.split.test)
    assert set(grids.labels[positions]) <= {1}
    large = load("spmotif", count=180)
    assert (large.num_nodes_each[large.candidates()] < 100).all()
    assert (large.num_nodes_each[large.split.test] >= 100).any()


def test_explained_graphs_are_those_predicted_correctly(grids):
    class Constant(torch.nn.Module):
        def __init__(self, label):
            super().__init__()
            self.label = label

        def forward(self, x, edge_index, batch):
            logits = torch.zeros(int(batch.max()) + 1, 2)
            logits[:, self.label] = 1
            return logits

    assert grids.explained(Constant(1)).tolist() == grids.candidates().tolist()
    assert grids.explained(Constant(0)).tolist() == []
    assert len(grids.explained(Constant(1), limit=1)) == 1


def test_models_without_a_batch_argument_are_called_graph_by_graph(grids):
    class Edges(torch.nn.Module):
        def forward(self, x, edge_index):
            return torch.stack([torch.tensor(66.0), torch.tensor(float(edge_index.shape[1]))])

    large = grids.num_edges_each[grids.candidates()] > 33
    assert grids.explained(Edges()).tolist() == grids.candidates()[large].tolist()
    assert large.any()


def test_shares_of_nodes_have_a_floor():
    words = load("ba_house_grid", count=10)
    short = GraphDataset(mage.datasets.info("twitter"), words.columns, words.split)
    assert short.settings(0)["max_nodes"] == max(3, int(0.3 * words.num_nodes_each[0]))
    assert short.settings(0)["connected"] is False
    assert short.settings(0)["num_motifs"] == 4


def test_motifs_are_the_components_of_the_true_edges():
    # Graph 0: two motifs, {0, 1} and {2, 3, 4}; graph 1: none; graph 2: {1, 2}, met before by a later edge.
    node_start, edge_start = np.array([0, 6, 8, 11]), np.array([0, 4, 5, 7])
    edges = np.array([[3, 0, 2, 4, 0, 2, 0], [4, 1, 3, 5, 1, 1, 1]])
    inside = np.array([True, True, True, False, False, True, False])
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edges, inside)
    assert node_motif.tolist() == [0, 0, 1, 1, 1, -1, -1, -1, -1, 0, 0]
    assert edge_motif.tolist() == [1, 0, 1, -1, -1, 0, -1]


def test_unknown_names_and_options_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no dataset 'imagenet'; there are ba_2motifs"):
        load("imagenet")
    with pytest.raises(ValueError, match="encoder: not an option of ba_house_grid; its options are seed, count"):
        load("ba_house_grid", encoder="minilm")
    with pytest.raises(ValueError, match=r"root: the folder .* does not exist"):
        load("mutagenic", tmp_path / "nowhere")


def test_node_level_sets_explain_nodes():
    shapes = load("ba_shapes")
    assert shapes.task == "node"
    assert len(shapes) == 1
    assert shapes[0].num_nodes == 700
    node = int(shapes.candidates()[0])
    settings = shapes.settings(node)
    assert settings["node"] == node
    assert settings["max_nodes"] == 5
    assert len(motifs_of(shapes[0])) == 80
    assert all(len(motif) == 5 for motif in motifs_of(shapes[0]))
    assert isinstance(shapes.split, Split)


def test_views_know_their_own_split_and_labels(grids):
    from mage.models import GIN, accuracy

    model = GIN(1, 2, 8).eval()
    order = np.random.default_rng(0).permutation(len(grids))
    shuffled = grids[order.tolist()]
    assert accuracy(model, shuffled, shuffled.split.test) == accuracy(model, grids, grids.split.test)
    assert sorted(order[shuffled.split.test]) == sorted(grids.split.test)
    assert sorted(order[shuffled.candidates()]) == sorted(grids.candidates())
    assert sorted(order[shuffled.explained(model)]) == sorted(grids.explained(model))
    half = grids[:30]
    assert set(np.concatenate(half.split)) == set(range(30))
    assert (half.explained(model) < 30).all()


def test_graphs_of_ones_own(grids):
    graphs = [grids[i] for i in range(8)]
    dataset = GraphDataset.from_graphs("mine", graphs)
    assert [len(part) for part in dataset.split] == [6, 1, 1]
    for i, graph in enumerate(graphs):
        assert torch.equal(dataset[i].edge_index, graph.edge_index)
        assert torch.equal(dataset[i].edge_motif, graph.edge_motif)
    # A graph without ground truth leaves that of the others as it is.
    del graphs[0].node_motif
    assert sum(len(GraphDataset.from_graphs("mine", graphs).motifs(i)) for i in range(1, 8)) > 0
    for change, message in (({"y": torch.tensor([0.7])}, "y must be a class"), ({"x": None}, "graph 1 has no x")):
        wrong = graphs[1].clone()
        for key, value in change.items():
            wrong[key] = value
        with pytest.raises(ValueError, match=message):
            GraphDataset.from_graphs("mine", [graphs[0], wrong])
    with pytest.raises(ValueError, match="at least one graph"):
        GraphDataset.from_graphs("mine", [])


def test_shares_are_counted_as_everywhere():
    line = torch.stack([torch.arange(99), torch.arange(1, 100)])
    data = Data(x=torch.ones(100, 1), edge_index=torch.cat([line, line.flip(0)], dim=1), y=torch.tensor([0]))
    for size in (0.29, 0.001, 7, 200):
        dataset = GraphDataset.from_graphs("line", [data], ExplanationSettings("remove", max_nodes=size, num_motifs=2))
        assert dataset.settings(0)["max_nodes"] == MotifRequest(max_nodes=size).max_nodes_of(100)
