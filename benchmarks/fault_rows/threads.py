"""Threads that explain one model at a time, as those of a web server do."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_mean_pool

import mage
from fault_rows import Trials, fault
from mage import explainers
from mage._torch.randomness import OwnRandomNumbers

_THREADS = 8


class _Noisy(nn.Module):
    """Batch normalisation and dropout: wrong in training mode, and changed by each run in it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(3, 8), GCNConv(8, 8)
        self.norm, self.head = nn.BatchNorm1d(8), nn.Linear(8, 2)
        self.norm.running_mean.uniform_(-1, 1)  # type: ignore[union-attr]

    def forward(self, x: Any, edge_index: Any, batch: Any = None) -> Any:
        """A row of scores for each graph."""
        h = self.norm(self.first(x, edge_index)).relu()
        h = nn.functional.dropout(self.second(h, edge_index).relu(), training=self.training)
        return self.head(global_mean_pool(h, batch))


_OPTIONS: tuple[dict[str, Any], ...] = (
    {"method": "exact", "masking": "split"},
    {"method": "permutation", "permutations": 6, "masking": "remove"},
    {"method": "exact", "masking": "zero", "target": 1, "output": "probability"},
)


def _network() -> _Noisy:
    with OwnRandomNumbers(0):
        return _Noisy()


def _graph(seed: int, nodes: int = 9) -> Data:
    generator = np.random.default_rng(seed)
    ends = np.array([(node, int(generator.integers(node))) for node in range(1, nodes)]).T
    edges = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
    return Data(x=torch.from_numpy(generator.normal(size=(nodes, 3))).float(), edge_index=edges)


def _answer(model: nn.Module, turn: int) -> Any:
    data, kind = _graph(turn % 7), turn % (len(_OPTIONS) + 2)
    if kind < len(_OPTIONS):
        explanation = mage.explain(model, data, max_nodes=4, order=2, seed=turn, progress=False, **_OPTIONS[kind])
        return explanation.interactions.values
    explainer = explainers.get("gnnexplainer", epochs=5) if kind == len(_OPTIONS) else explainers.get("gradcam")
    return explainer.explain(model, data, seed=turn, max_nodes=4).method_edge_scores


@fault(
    f"{_THREADS} threads explain one model in training mode, with mixed options",
    "each answer is that of one thread alone, the model is bitwise as before, other threads' random numbers too",
    tries=200,
    short=40,
)
def threads_of_a_server(trials: Trials) -> Iterator[str]:
    expected = [_answer(_network().eval(), turn) for turn in range(trials.count)]
    model, draws, stop = _network().train(), [], threading.Event()
    before = {name: value.clone() for name, value in model.state_dict().items()}

    def draw() -> None:
        while not stop.wait(0.001):
            draws.append((float(torch.rand(())), random.random()))  # noqa: S311 (the global state is what is tried)

    torch.manual_seed(1)
    random.seed(2)
    other = threading.Thread(target=draw)
    other.start()
    try:
        with ThreadPoolExecutor(_THREADS) as pool:
            for turn, answer in enumerate(pool.map(lambda turn: _answer(model, turn), range(trials.count))):
                yield "" if np.array_equal(answer, expected[turn]) else f"answer {turn} is wrong"
    finally:
        stop.set()
        other.join()
    generator, python = torch.Generator().manual_seed(1), random.Random(2)  # noqa: S311 (likewise)
    if draws != [(float(torch.rand((), generator=generator)), python.random()) for _ in draws]:
        yield "random numbers of another thread were drawn twice, or by others"
    changed = [name for name, value in model.state_dict().items() if not torch.equal(value, before[name])]
    if changed or not all(module.training for module in model.modules()):
        yield f"the model was changed: {changed or 'its mode'}"
