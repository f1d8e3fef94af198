"""Networks under threads: right answers, nothing changed, nobody's random numbers drawn twice."""

import copy
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_mean_pool

import mage
from mage import explainers
from mage._torch.evaluation import evaluating, exclusively
from mage._torch.randomness import OwnRandomNumbers
from mage.testing.explainers import leaving_no_trace


class Noisy(nn.Module):
    """Two layers with batch normalisation and dropout, which answer wrongly in training mode."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(3, 8, cached=False), GCNConv(8, 8)
        self.norm, self.head = nn.BatchNorm1d(8), nn.Linear(8, 2)

    def forward(self, x, edge_index, batch=None):
        h = self.norm(self.first(x, edge_index)).relu()
        h = nn.functional.dropout(self.second(h, edge_index).relu(), training=self.training)
        return self.head(global_mean_pool(h, batch))


def network(training):
    with OwnRandomNumbers(0):
        model = Noisy()
        model.norm.running_mean.uniform_(-1, 1)
        model.norm.running_var.uniform_(0.5, 2)
    return model.train(training)


def graph(seed, nodes=9):
    generator = np.random.default_rng(seed)
    ends = np.array([(node, int(generator.integers(node))) for node in range(1, nodes)]).T
    edges = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
    return Data(x=torch.from_numpy(generator.normal(size=(nodes, 3))).float(), edge_index=edges)


def answers(model, turn):
    """What one request to a server would compute; the requests differ in their options."""
    data, seed = graph(turn % 5), turn % 3
    if turn % 6 < 4:
        options = (
            {"method": "exact", "masking": "split"},
            {"method": "permutation", "permutations": 6, "masking": "remove"},
            {"method": "exact", "masking": "zero", "target": 1, "output": "probability"},
            {"method": "surrogate", "budget": 150, "masking": "split"},
        )[turn % 6]
        explanation = mage.explain(model, data, max_nodes=4, order=2, seed=seed, progress=False, **options)
        return explanation.interactions.values
    name, options = (("gnnexplainer", {"epochs": 5}), ("gradcam", {}))[turn % 6 - 4]
    explanation = explainers.get(name, **options).explain(model, data, seed=seed, max_nodes=4)
    return explanation.method_edge_scores


def test_eight_threads_on_a_model_in_training_mode():
    expected = [answers(network(training=False), turn) for turn in range(18)]
    model = network(training=True)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    draws, stop = ([], [], []), threading.Event()

    def draw():
        while not stop.wait(0.001):
            draws[0].append(float(torch.rand(())))
            draws[1].append(np.random.random())  # noqa: NPY002 (the global state is what is tested)
            draws[2].append(random.random())  # noqa: S311 (likewise)

    torch.manual_seed(1)
    np.random.seed(2)  # noqa: NPY002 (likewise)
    random.seed(3)
    other = threading.Thread(target=draw)
    other.start()
    try:
        with leaving_no_trace(model, may_draw=True), ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda turn: answers(model, turn), range(18)))
    finally:
        stop.set()
        other.join()
    for result, right in zip(results, expected, strict=True):
        assert np.array_equal(result, right)
    assert all(module.training for module in model.modules())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    # The numbers of the other thread are the plain sequences of their seeds: none left out, none twice.
    generator = torch.Generator().manual_seed(1)
    assert draws[0] == [float(torch.rand((), generator=generator)) for _ in draws[0]]
    assert np.array_equal(draws[1], np.random.RandomState(2).random_sample(len(draws[1])))
    python = random.Random(3)  # noqa: S311 (likewise)
    assert draws[2] == [python.random() for _ in draws[2]]
    assert len(draws[0]) > 5


def test_settings_of_torch_are_those_of_each_thread():
    denormal = torch.tensor([1e-310], dtype=torch.float64)
    inside, outside, done = threading.Event(), threading.Event(), threading.Event()
    settings = []

    def first():
        with evaluating(nn.Linear(2, 2)):
            settings.append((torch.get_num_threads(), float(denormal * 1.0), torch.is_grad_enabled()))
            inside.set()
            outside.wait()

    def second():
        # New, and begins while another is inside.
        with evaluating(nn.Linear(2, 2)):
            pass
        settings.append((torch.get_num_threads(), float(denormal * 1.0), torch.is_grad_enabled()))
        done.set()

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for target, event in ((first, inside), (second, done)):
            threading.Thread(target=target).start()
            event.wait()
        outer = (torch.get_num_threads(), float(denormal * 1.0), torch.is_grad_enabled())
    finally:
        outside.set()
        torch.set_num_threads(before)
    assert settings == [(1, 0.0, False), (2, 1e-310, True)]
    assert outer == (2, 1e-310, True)


def test_networks_that_share_layers_wait_for_each_other():
    shared = nn.Linear(2, 2)
    one, two = nn.Sequential(shared, nn.ReLU()), nn.Sequential(nn.ReLU(), shared)
    inside, order = threading.Event(), []

    def wait():
        inside.wait()
        with evaluating(lambda x: two(x).relu()):
            order.append("other")

    thread = threading.Thread(target=wait)
    thread.start()
    with evaluating(one), evaluating(one):
        inside.set()
        thread.join(0.2)
        order.append("this")
    thread.join()
    assert order == ["this", "other"]


def test_threads_that_would_wait_for_each_other_for_ever_are_told():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    barrier = threading.Barrier(2)

    def nested(first, second):
        try:
            with exclusively(first):
                barrier.wait()
                with exclusively(second):
                    return "done"
        except RuntimeError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        results = sorted(pool.map(nested, (one, two), (two, one)))
    assert results[0] == "done"
    assert "wait for each other" in results[1]
    with exclusively(one, two):
        pass


@pytest.mark.parametrize("alone", [True, False])
def test_random_state_is_put_back_unless_others_may_have_drawn(alone, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1 if alone else 2)
    layer = nn.Linear(2, 2)
    before = torch.get_rng_state()
    with evaluating(layer):
        torch.rand(3)
    assert torch.equal(torch.get_rng_state(), before) == alone


def test_own_random_numbers_are_those_of_the_seed():
    def draw():
        layer = nn.Linear(3, 4)
        like = torch.rand_like(layer.weight), torch.randn_like(layer.bias.double())
        return [layer.weight, *like, torch.randn(4), torch.randperm(9), torch.empty(4).uniform_(), torch.rand(2)]

    torch.manual_seed(5)
    expected = draw()
    before = torch.get_rng_state()
    with OwnRandomNumbers(5):
        numbers = draw()
    assert all(map(torch.equal, numbers, expected))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_model_that_fails_leaves_it_to_the_next_thread():
    model = copy.deepcopy(network(training=True))
    with pytest.raises(KeyError), evaluating(model):
        raise KeyError
    with ThreadPoolExecutor(1) as pool:
        assert np.isfinite(pool.submit(answers, model, 0).result(timeout=60)).all()
    assert model.training
