"""Seconds and queries of the search baselines: ``python benchmarks/baselines.py [graphs]``.

SubgraphX asks for whole batches of coalitions; the usual way builds one ``Data`` for each and runs the model on it.
Both answer the same coalitions with the same model on the same machine, one torch thread; the usual way is timed on
some of them. Wanted: at least 10 times faster. BA-2Motifs, with the paper's GCN where ``MAGE_DATA`` points to it,
otherwise with random weights, for which F1 and AUC mean nothing.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.utils import subgraph

from mage import datasets
from mage.explainers.gstarx import GStarX
from mage.explainers.same import SAME
from mage.explainers.subgraphx import SubgraphX
from mage.games import ModelGame
from mage.metrics import edge_auc, node_f1
from mage.models import GCN, authors_checkpoint

ONE_BY_ONE = 1000
WANTED = 10


@torch.no_grad()
def usual_way(model: torch.nn.Module, data: Data, masks: np.ndarray, target: int) -> np.ndarray:
    answers = []
    for mask in masks:
        edge_index, _ = subgraph(torch.from_numpy(mask), data.edge_index, num_nodes=data.num_nodes)
        masked = Data(x=data.x, edge_index=edge_index, batch=torch.zeros(data.num_nodes, dtype=torch.long))
        answers.append(float(model(masked.x, masked.edge_index, masked.batch).softmax(dim=1)[0, target]))
    return np.array(answers)


def speed(model: torch.nn.Module, data: Data, max_nodes: int) -> float:
    game = ModelGame(model, data, output="probability", masking="split")
    coalitions: list[np.ndarray] = []
    answers: list[np.ndarray] = []
    evaluate = game.value_fn

    def watched(masks: np.ndarray) -> np.ndarray:
        coalitions.append(masks.copy())
        answers.append(evaluate(masks))
        return answers[-1]

    game.value_fn = watched
    start = time.perf_counter()
    SubgraphX().search(game, max_nodes)
    ours = time.perf_counter() - start
    masks, values = np.concatenate(coalitions), np.concatenate(answers)
    sample = np.random.default_rng(0).permutation(len(masks))[:ONE_BY_ONE]
    start = time.perf_counter()
    theirs = usual_way(model, data, masks[sample], int(game.target))
    usual = (time.perf_counter() - start) / len(sample) * len(masks)
    ratio, difference = usual / ours, abs(theirs - values[sample]).max()
    print(
        f"SubgraphX, {len(masks):,} queries: {ours:.2f} s, search included; one graph at a time {usual:.1f} s "
        f"(from {len(sample):,} of them), {ratio:.0f} times as long; largest difference {difference:.1e}"
    )
    return ratio


def main() -> None:
    torch.set_num_threads(1)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    dataset = datasets.load("ba_2motifs")
    folder = os.environ.get("MAGE_DATA")
    if folder:
        model: torch.nn.Module = authors_checkpoint(f"{folder}/authors_checkpoints", "ba_2motifs", "gcn")
        positions = dataset.explained(model)[:count]
    else:
        torch.manual_seed(0)
        model = GCN(dataset.num_node_features, dataset.num_classes, 20, normalize=False).eval()
        positions = dataset.split.test[:count]
    SubgraphX(rollouts=1).explain(model, dataset[int(positions[0])])  # compiles
    ratios = [speed(model, dataset[int(i)], dataset.settings(int(i))["max_nodes"]) for i in positions[:3]]
    print(f"ratio {np.median(ratios):.0f}, wanted {WANTED}: {'ok' if min(ratios) >= WANTED else 'TOO SLOW'}")
    print(f"\n{len(positions)} graphs    F1            AUC           seconds       queries")
    for explainer in (SubgraphX(), SAME(), GStarX()):
        if explainer.needs_training:
            explainer.fit(model, dataset)
        rows = []
        for i in map(int, positions):
            data = dataset[i]
            explanation = explainer.explain(model, data, **dataset.settings(i))
            f1 = node_f1(explanation, np.flatnonzero(data.node_motif.numpy() >= 0), data.num_nodes)
            auc = edge_auc(explanation.edge_scores, data.edge_motif.numpy() >= 0)
            rows.append((f1, auc, explanation.seconds, explanation.num_queries))
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(len(rows))
        cells = (f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[:3], error[:3], strict=True))
        print(f"{explainer.title:12}{' '.join(cells)}   {mean[3]:,.0f} ± {error[3]:,.0f}")


if __name__ == "__main__":
    main()
