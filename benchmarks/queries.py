"""Error against the exact index by queries: ``python benchmarks/queries.py [--plot FILE]``.

Needs the data and checkpoints of the paper in ``MAGE_DATA``. Takes the authors' GCN and GIN on BA-2Motifs and Mutagenic
and test graphs whose exact index can be computed, and prints, for the surrogate and for sampled orderings (the paper's
200), the error of Ψ² relative to its largest entry, the queries, and F1 or AMI of the motifs. The surrogate gets 1/20
of the queries of 200 orderings on BA-2Motifs and 1/6 on Mutagenic, then twice and four times that.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from mage import datasets, find_motifs, interactions
from mage.games import Game, ModelGame
from mage.metrics import ami, node_f1
from mage.models import authors_checkpoint

SHARES = {"ba_2motifs": 20, "mutagenic": 6}
COLUMNS = [(dataset, model) for dataset in SHARES for model in ("gcn", "gin")]
MOST_COALITIONS = {"ba_2motifs": 600_000, "mutagenic": 400_000}
LEAST_COALITIONS = 2_000
ORDERINGS = 200


@dataclass
class Point:
    """One run on one graph."""

    method: str
    queries: int
    error: float
    score: float


def runs_on(model, graph, settings, dataset: str, seeds: int) -> list[Point]:
    """The exact index of a graph, then both estimators on a game that remembers it, so that the model runs once."""
    game = ModelGame(model, graph, masking=settings["masking"], output=settings["output"])
    exact = interactions(game, method="exact").matrix
    truth = graph.node_motif.numpy()

    def point(name: str, **options) -> Point:
        # A game of its own counts the queries; the worths are those that are already there.
        counted = Game(game.worth, game.num_players, game.graph, baseline=0.0)
        index = interactions(counted, **options)
        error = np.sqrt(np.mean((index.matrix - exact) ** 2)) / np.abs(exact).max()
        motifs = find_motifs(index, num_motifs=settings["num_motifs"], max_nodes=settings["max_nodes"], noise_floor=0.1)
        single = dataset == "ba_2motifs"
        score = node_f1(motifs.nodes, truth >= 0) if single else ami(motifs.labels, truth)
        return Point(name, index.num_queries, float(error), float(score))

    points = []
    for seed in range(seeds):
        sampled = point("permutation", method="permutation", permutations=ORDERINGS, seed=seed)
        points.append(sampled)
        for factor in (1, 2, 4):
            budget = factor * sampled.queries // SHARES[dataset]
            name = f"surrogate, {factor}/{SHARES[dataset]}"
            points.append(point(name, method="surrogate", budget=budget, seed=seed))
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10, help="of each column")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("MAGE_DATA", "")) / "authors_checkpoints"
    if not folder.is_dir():
        sys.exit("set MAGE_DATA to a folder that holds ba_2motifs, mutagenicity and authors_checkpoints")
    torch.set_num_threads(1)
    series = {}
    for dataset, kind in COLUMNS:
        graphs, model = datasets.load(dataset), authors_checkpoint(folder, dataset, kind)
        runs: list[list[Point]] = []
        for position in map(int, graphs.explained(model)):
            graph, settings = graphs[position], graphs.settings(position)
            size = ModelGame(model, graph, masking="split", output="logit").graph.count_connected(
                cap=MOST_COALITIONS[dataset]
            )
            if LEAST_COALITIONS <= size <= MOST_COALITIONS[dataset]:
                runs.append(runs_on(model, graph, settings, dataset, arguments.seeds))
            if len(runs) == arguments.graphs:
                break
        series[dataset, kind] = report(dataset, kind, runs)
    if arguments.plot is not None:
        draw(series, arguments.plot)


def report(dataset: str, kind: str, runs: list[list[Point]]) -> dict[str, tuple[float, float]]:
    """Print medians by method; return queries and error of each."""
    measure = "F1 " if dataset == "ba_2motifs" else "AMI"
    names = list(dict.fromkeys(point.method for run in runs for point in run))
    print(f"{dataset} {kind}: {len(runs)} graphs with the exact index; medians over graphs and seeds, mean {measure}")
    rows = {}
    for name in names:
        points = [point for run in runs for point in run if point.method == name]
        rows[name] = tuple(float(np.median([getattr(p, part) for p in points])) for part in ("queries", "error"))
        score = np.mean([point.score for point in points])
        print(f"  {name:16s} {rows[name][0]:7,.0f} queries   error {rows[name][1]:.4f}   {measure} {score:.3f}")
    by_graph = [
        np.median([p.error for p in run if p.method == names[1]])
        / np.median([p.error for p in run if p.method == "permutation"])
        for run in runs
    ]
    ratio = float(np.median(by_graph))
    verdict = "yes" if ratio <= 1 else "NO"
    print(f"  {names[1]} has {ratio:.2f} times the error of {ORDERINGS} orderings (wanted ≤ 1: {verdict})", flush=True)
    return rows


def draw(series: dict, path: Path) -> None:
    """Errors by queries, one panel a column."""
    from matplotlib.figure import Figure

    from mage.plots import save_figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    for cell, ((dataset, kind), rows) in enumerate(series.items()):
        axes = figure.add_subplot(2, 2, cell + 1)
        learnt = [value for name, value in rows.items() if name != "permutation"]
        axes.loglog(*zip(*learnt, strict=True), "o-", color="#1b7837", label="surrogate")
        axes.loglog(*rows["permutation"], "s", color="#762a83", label=f"{ORDERINGS} orderings (Algorithm 1)")
        axes.axhline(rows["permutation"][1], color="0.7", linestyle=":", zorder=0)
        axes.set_title(f"{dataset}, authors' {kind.upper()}")
        axes.set_xlabel("queries")
        axes.set_ylabel("error / largest entry")
        axes.legend(fontsize=8)
    save_figure(figure, path)


if __name__ == "__main__":
    main()
