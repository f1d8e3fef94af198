"""Worth evaluations per second against the usual way: ``python benchmarks/throughput.py``.

The usual way builds one ``Data`` per coalition with PyG's ``subgraph`` and feeds a ``DataLoader`` with batches of 256.
Same model, same coalitions (connected, as the indices ask for them), same machine, one torch thread. ``--why`` shows
what each choice in the evaluation is worth. The goals are for the default masking; with "split" all nodes stay in every
copy, and a wide model's arithmetic on them is the same for both ways.
"""

from __future__ import annotations

import sys
import time
import unittest.mock
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, GINConv, global_mean_pool
from torch_geometric.utils import subgraph

sys.path.insert(0, str(Path(__file__).parent))
from graphs import ba_with_house

from mage.games import ModelGame


class Network(torch.nn.Module):
    """Three layers of GCN or GIN with batch normalisation, mean pooling, a linear head."""

    def __init__(self, kind: str, features: int, width: int) -> None:
        super().__init__()
        torch.manual_seed(0)

        def layer(inputs: int) -> torch.nn.Module:
            if kind == "GCN":
                return GCNConv(inputs, width, normalize=False)
            parts = [torch.nn.Linear(inputs, width), torch.nn.BatchNorm1d(width), torch.nn.ReLU()]
            return GINConv(torch.nn.Sequential(*parts, torch.nn.Linear(width, width)), train_eps=True)

        self.convs = torch.nn.ModuleList([layer(features), layer(width), layer(width)])
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        """Logits of a batch of graphs."""
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.head(global_mean_pool(x, batch))


@torch.no_grad()
def usual_way(model: Network, data: Data, masks: np.ndarray, masking: str) -> np.ndarray:
    graphs = []
    for mask in masks:
        presence = torch.from_numpy(mask)
        remove = masking == "remove"
        edge_index, _ = subgraph(presence, data.edge_index, relabel_nodes=remove, num_nodes=data.num_nodes)
        graphs.append(Data(x=data.x[presence] if remove else data.x, edge_index=edge_index))
    loader = DataLoader(graphs, batch_size=256)
    return torch.cat([model(b.x, b.edge_index, b.batch)[:, 0] for b in loader]).numpy()


def rate(work: object, count: int, repeat: int = 3) -> float:
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        work()  # type: ignore[operator]
        best = min(best, time.perf_counter() - start)
    return count / best


def main() -> None:
    torch.set_num_threads(1)
    print("model     masking    usual /s      mage /s   ratio                     largest difference")
    for kind, width, base, least in (("GCN", 20, 20, 8), ("GIN", 128, 25, 3)):
        n, edges = ba_with_house(0, base)
        columns = torch.tensor(edges).T
        features = torch.rand(n, 10, generator=torch.Generator().manual_seed(0))
        data = Data(x=features, edge_index=torch.cat([columns, columns.flip(0)], dim=1))
        model = Network(kind, 10, width).eval()
        for masking in ("remove", "split"):
            game = ModelGame(model, data, target=0, masking=masking, output="logit")
            masks = game.graph.sample_connected(8000, seed=1)
            sample = masks[:2000]
            game.value_fn(sample)
            ours = rate(lambda game=game, masks=masks: game.value_fn(masks), len(masks))
            usual = rate(
                lambda model=model, data=data, few=sample, masking=masking: usual_way(model, data, few, masking),
                len(sample),
                2,
            )
            difference = np.abs(game.value_fn(sample) - usual_way(model, data, sample, masking)).max()
            goal = (
                f"(wanted ≥ {least}×: {'yes' if ours / usual >= least else 'NO'})" if masking == "remove" else " " * 18
            )
            print(
                f"{kind}-{width:<4d}  {masking:7s} {usual:10,.0f} {ours:12,.0f} {ours / usual:7.1f}×   "
                f"{goal}   {difference:.0e}",
                flush=True,
            )


def why() -> None:
    """What makes it fast: evaluations per second with one thing changed at a time."""
    print("GCN-20 and GIN-128, masking split, evaluations per second")
    for kind, width, base in (("GCN", 20, 20), ("GIN", 128, 25)):
        n, edges = ba_with_house(0, base)
        columns = torch.tensor(edges).T
        data = Data(x=torch.rand(n, 10), edge_index=torch.cat([columns, columns.flip(0)], dim=1))
        game = ModelGame(Network(kind, 10, width).eval(), data, target=0, masking="split", output="logit")
        masks = game.graph.sample_connected(6000, seed=1)

        def measured(game: ModelGame = game, masks: np.ndarray = masks) -> float:
            return rate(lambda: game.value_fn(masks), len(masks))

        rows_at_once = game.runner.rows_at_once
        print(f"  {kind}-{width}: as it is ({rows_at_once} rows at once, one thread) {measured():10,.0f}")
        for rows in (1024, 4096, 16384, 65536, 262144):
            game.runner.rows_at_once = rows
            print(f"    {rows:7d} rows at once {measured():10,.0f}")
        game.runner.rows_at_once = rows_at_once
        graph = game.participants.graph
        order = torch.argsort(graph.edge_index[1], stable=True)
        participants = game.participants
        ordered = replace(graph, edge_index=graph.edge_index[:, order])
        game.participants = replace(participants, graph=ordered)
        print(f"    edges sorted by target {measured():9,.0f}")
        game.participants = participants
        with unittest.mock.patch("mage._torch.masked_model.evaluating", two_threads):
            print(f"    two threads           {measured():10,.0f}")


@contextmanager
def two_threads(_model: object) -> Iterator[None]:
    """Evaluation with as many threads as there are cores."""
    torch.set_num_threads(2)
    with torch.no_grad():
        yield
    torch.set_num_threads(1)


if __name__ == "__main__":
    why() if "--why" in sys.argv else main()
