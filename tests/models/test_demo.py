import subprocess
import sys
from importlib import resources

import numpy as np
import pytest
import torch

from mage import Game, find_motifs, interactions
from mage.models import DemoGIN, demo_graph, load_demo_model
from mage.models.demo import GRID_LABEL, HOUSE_LABEL, read_weights
from mage.models.demo_training import demo_accuracy, house_grid_graphs, main, train_demo_model
from tests.helpers.suites import long_case


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads that wait for each other on a busy machine make kernels this small ten times slower."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def model():
    return load_demo_model()


def grid_margin_game(model, data):
    """Grid logit minus house logit; all nodes stay, only edges inside the coalition are kept ("split" masking)."""
    n = data.num_nodes
    source, target = data.edge_index

    @torch.no_grad()
    def margin(masks):
        presence = torch.from_numpy(masks)
        graph, column = torch.nonzero(presence[:, source] & presence[:, target], as_tuple=True)
        batch = torch.arange(len(masks)).repeat_interleave(n)
        logits = model(data.x.repeat(len(masks), 1), data.edge_index[:, column] + graph * n, batch)
        return (logits[:, GRID_LABEL] - logits[:, HOUSE_LABEL]).double().numpy()

    return Game(margin, n, data.edge_index, data.names)


def test_packaged_weights_are_small_and_load_in_evaluation_mode(model):
    weights = resources.files("mage.models").joinpath("demo_house_grid.npz")
    assert len(weights.read_bytes()) < 100_000
    assert isinstance(model, DemoGIN)
    assert not any(module.training for module in model.modules())


def test_loading_leaves_the_random_numbers_of_the_caller_alone():
    before = torch.random.get_rng_state()
    load_demo_model()
    assert torch.equal(torch.random.get_rng_state(), before)


def test_accuracy_on_graphs_unseen_in_training(model):
    assert demo_accuracy(model, house_grid_graphs(200, np.random.default_rng(2024))) >= 0.97


@pytest.mark.parametrize("seed", range(5))
def test_demo_graph_is_a_tree_with_a_grid_and_a_five_cycle(seed):
    data = demo_graph(seed)
    grid, cycle = data.grid_nodes.tolist(), data.cycle_nodes.tolist()
    base = data.num_nodes - 14
    assert 8 <= base <= 12
    assert len(grid) == 9
    assert len(cycle) == 5
    assert len(data.names) == len(set(data.names)) == data.num_nodes
    assert data.validate()
    assert data.is_undirected()
    assert not data.has_isolated_nodes()
    assert not data.has_self_loops()
    assert data.y.tolist() == [GRID_LABEL]

    def inside(nodes):
        pair = torch.isin(data.edge_index, torch.tensor(nodes)).all(dim=0)
        return int(pair.sum()) // 2

    assert (inside(list(range(base))), inside(grid), inside(cycle)) == (base - 1, 12, 5)
    assert data.num_edges // 2 == base - 1 + 12 + 5 + 2
    assert torch.equal(demo_graph(seed).edge_index, data.edge_index)


def test_demo_graphs_differ_by_seed():
    assert not torch.equal(demo_graph(0).edge_index, demo_graph(1).edge_index)


@pytest.mark.parametrize("seed", [0, long_case(1), long_case(2)])
def test_the_grid_speaks_for_and_the_five_cycle_against(model, seed):
    data = demo_graph(seed)
    grid, cycle = tuple(data.grid_nodes.tolist()), tuple(data.cycle_nodes.tolist())
    assert model(data.x, data.edge_index).argmax(dim=1).tolist() == [GRID_LABEL]
    game = grid_margin_game(model, data)
    assert game.graph.count_connected() <= 300_000
    index = interactions(game, order=2, method="exact")

    (alone,) = find_motifs(index, num_motifs=1, max_nodes=9, tau=1.0)
    assert alone.nodes == grid
    strongest = find_motifs(index, num_motifs=2, max_nodes=14, tau=1.0).motifs[0]
    assert set(grid) <= set(strongest.nodes)
    motifs = find_motifs(index, num_motifs=2, max_nodes=14, tau=0.5)
    assert motifs.optimal
    assert [(motif.nodes, motif.sign) for motif in motifs] == [(grid, 1), (cycle, -1)]


def test_training_repeats_and_writes_what_loads(tmp_path, capsys):
    files = [tmp_path / "first.npz", tmp_path / "second.npz"]
    for file in files:
        main(["--output", str(file), "--seed", "3", "--graphs", "150", "--epochs", "2"])
    assert files[0].read_bytes() == files[1].read_bytes()
    assert "test accuracy" in capsys.readouterr().out
    assert not read_weights(files[0]).training
    assert sorted(tmp_path.iterdir()) == files


def test_training_depends_on_its_seed():
    graphs = house_grid_graphs(20, np.random.default_rng(0))
    first, second = (train_demo_model(graphs, epochs=1, seed=seed) for seed in (0, 1))
    assert not torch.equal(first.head.weight, second.head.weight)


def test_importing_the_library_does_not_import_torch():
    code = "import mage, sys; print({'torch', 'torch_geometric', 'mage.models'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "set()"
