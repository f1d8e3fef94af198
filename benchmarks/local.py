"""How far exact-local reaches: ``python benchmarks/local.py [--budget N]``.

Needs the data and checkpoints of the paper in ``MAGE_DATA``. On all explained Mutagenic test graphs of the authors' GCN
and GIN (and Benzene with our zoo's): the share that gets its exact logit index within the budget of queries, their
median number, and the largest difference to ``method="exact"`` where that takes few enough queries, relative to the
largest entry.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

from mage import TooManyCoalitionsError, datasets, interactions
from mage.games import ModelGame
from mage.indices import NotLocalError
from mage.models import authors_checkpoint, pretrained


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=50_000)
    parser.add_argument("--exact", type=int, default=20_000, help="compare where there are at most so many coalitions")
    parser.add_argument("--graphs", type=int, help="only the first so many")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("MAGE_DATA", "")) / "authors_checkpoints"
    if not folder.is_dir():
        sys.exit("set MAGE_DATA to a folder that holds mutagenicity, benzene and authors_checkpoints")
    torch.set_num_threads(1)
    for dataset, kind in (("mutagenic", "gcn"), ("mutagenic", "gin"), ("benzene", "gcn"), ("benzene", "gin")):
        graphs = datasets.load(dataset)
        authors = dataset == "mutagenic"
        model = authors_checkpoint(folder, dataset, kind) if authors else pretrained(dataset, kind)
        chosen = [int(position) for position in graphs.explained(model, arguments.graphs)]
        queries, differences, refusal, start = [], [], "", time.perf_counter()
        for position in chosen:
            game = ModelGame(model, graphs[position], masking="split")
            try:
                found = interactions(game, method="exact-local", budget=arguments.budget)
            except TooManyCoalitionsError:
                continue
            except NotLocalError as error:
                refusal = str(error)
                break
            queries.append(found.num_queries)
            if game.graph.count_connected(cap=arguments.exact) <= arguments.exact:
                exact = interactions(ModelGame(model, graphs[position], masking="split"), method="exact")
                differences.append(np.abs(found.values - exact.values).max() / np.abs(exact.values).max())
        if refusal:
            print(f"{dataset} {kind} ({'authors' if authors else 'zoo'}): refused. {refusal}", flush=True)
            continue
        print(
            f"{dataset} {kind} ({'authors' if authors else 'zoo'}): {len(queries)} of {len(chosen)} graphs "
            f"({len(queries) / len(chosen):.1%}) within {arguments.budget:,} queries, "
            f"median {np.median(queries):,.0f}, most {max(queries):,}; "
            f"largest difference to exact {max(differences, default=np.nan):.1e} on {len(differences)} graphs; "
            f"{(time.perf_counter() - start) / len(chosen):.2f} s a graph",
            flush=True,
        )


if __name__ == "__main__":
    main()
