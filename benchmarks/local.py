"""How far exact-local reaches: ``python benchmarks/local.py [--budget N]``.

Needs the data and checkpoints of the paper in ``MAGE_DATA``. On all explained Mutagenic test graphs of the authors' GCN
and GIN (and Benzene with our zoo's): the share that gets its exact logit index within the budget of queries, their
median number, and the largest difference to ``method="exact"`` where that takes few enough queries: as it is, relative
to the largest entry, and relative again with model and graph in double precision, as worths in single precision are
themselves rounded at about 10⁻⁷ of a logit.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

from mage import TooManyCoalitionsError, datasets, interactions
from mage.games import ModelGame
from mage.indices import NotLocalError
from mage.models import authors_checkpoint, pretrained

CASES = ["mutagenic-gcn", "mutagenic-gin", "benzene-gcn", "benzene-gin"]
MOST_COUNTED = 3_000_000


def difference(model: torch.nn.Module, data: Data) -> tuple[float, float]:
    """The largest difference between the two methods, and relative to the largest entry."""
    local = interactions(ModelGame(model, data, masking="split"), method="exact-local", budget=1_000_000)
    exact = interactions(ModelGame(model, data, masking="split"), method="exact")
    largest = float(np.abs(local.values - exact.values).max())
    return largest, largest / float(np.abs(exact.values).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=50_000)
    parser.add_argument("--exact", type=int, default=20_000, help="compare where there are at most so many coalitions")
    parser.add_argument("--graphs", type=int, help="only the first so many")
    parser.add_argument("--cases", nargs="*", default=CASES, choices=CASES)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("MAGE_DATA", "")) / "authors_checkpoints"
    if not folder.is_dir():
        sys.exit("set MAGE_DATA to a folder that holds mutagenicity, benzene and authors_checkpoints")
    torch.set_num_threads(1)
    for dataset, kind in (case.split("-") for case in arguments.cases):
        graphs = datasets.load(dataset)
        authors = dataset == "mutagenic"
        model = authors_checkpoint(folder, dataset, kind) if authors else pretrained(dataset, kind)
        double_model = copy.deepcopy(model).double()
        chosen = [int(position) for position in graphs.explained(model, arguments.graphs)]
        queries, seconds, differences, counts, refusal = [], [], [], [], ""
        for position in chosen:
            counts.append(ModelGame(model, graphs[position]).graph.count_connected(cap=MOST_COUNTED))
            game, start = ModelGame(model, graphs[position], masking="split"), time.process_time()
            try:
                found = interactions(game, method="exact-local", budget=arguments.budget)
            except TooManyCoalitionsError:
                continue
            except NotLocalError as error:
                refusal = str(error)
                break
            queries.append(found.num_queries)
            seconds.append(time.process_time() - start)
            if game.graph.count_connected(cap=arguments.exact) <= arguments.exact:
                doubled = graphs[position].clone()
                doubled.x = doubled.x.double()
                differences.append((*difference(model, graphs[position]), difference(double_model, doubled)[1]))
        if refusal:
            print(f"{dataset} {kind} ({'authors' if authors else 'zoo'}): refused. {refusal}", flush=True)
            continue
        single, relative, double = np.max(differences, axis=0) if differences else [np.nan] * 3
        print(
            f"{dataset} {kind} ({'authors' if authors else 'zoo'}): {len(queries)} of {len(chosen)} graphs "
            f"({len(queries) / len(chosen):.1%}) within {arguments.budget:,} queries, "
            f"median {np.median(queries):,.0f}, most {max(queries):,}; "
            f"largest difference to exact on {len(differences)} graphs {single:.1e}, {relative:.1e} of the largest "
            f"entry, in double precision {double:.1e} of it; "
            f"{np.median(seconds):.2f} s of one core in the median, {max(seconds):.1f} s at most; "
            f"connected coalitions {np.median(counts):,.0f} in the median, more than {MOST_COUNTED:,} in "
            f"{np.mean(np.array(counts) > MOST_COUNTED):.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
