"""How far exact-local reaches: ``python benchmarks/local.py [--budget N] [--order K] [--cases …]``.

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
LARGE_CASES = [f"ba_house_{word}_grid-{kind}" for word in ("and", "or") for kind in ("gcn", "gin")]
MOST_COUNTED = 3_000_000


def differences_of(model: torch.nn.Module, double_model: torch.nn.Module, data: Data) -> list[float]:
    """Of exact-local to exact, of the two to exact in double precision, and the first again in that; and the scale."""
    doubled = data.clone()
    doubled.x = doubled.x.double()
    local, exact, double_local, double_exact = (
        interactions(ModelGame(network, graph, masking="split"), method=method, budget=1_000_000).values
        for network, graph in ((model, data), (double_model, doubled))
        for method in ("exact-local", "exact")
    )
    pairs = ((local, exact), (local, double_exact), (exact, double_exact), (double_local, double_exact))
    return [*(float(np.abs(one - other).max()) for one, other in pairs), float(np.abs(double_exact).max())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=50_000)
    parser.add_argument("--exact", type=int, default=20_000, help="compare where there are at most so many coalitions")
    parser.add_argument("--graphs", type=int, help="only the first so many")
    parser.add_argument("--cases", nargs="*", default=CASES, choices=[*CASES, *LARGE_CASES])
    parser.add_argument("--order", type=int, default=2)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("MAGE_DATA", "")) / "authors_checkpoints"
    if not folder.is_dir():
        sys.exit("set MAGE_DATA to a folder that holds mutagenicity, benzene and authors_checkpoints")
    torch.set_num_threads(1)
    for dataset, kind in (case.split("-") for case in arguments.cases):
        graphs = datasets.load(dataset)
        authors = dataset != "benzene"
        model = authors_checkpoint(folder, dataset, kind) if authors else pretrained(dataset, kind)
        double_model = copy.deepcopy(model).double()
        positions = [int(position) for position in graphs.explained(model, arguments.graphs)]
        queries, seconds, differences, counts, refusal = [], [], [], [], ""
        for position in positions:
            counts.append(ModelGame(model, graphs[position]).graph.count_connected(cap=MOST_COUNTED))
            game = ModelGame(model, graphs[position], masking="split", output="logit")
            start = time.process_time()
            try:
                local = interactions(game, order=arguments.order, method="exact-local", budget=arguments.budget)
            except TooManyCoalitionsError:
                continue
            except NotLocalError as error:
                refusal = str(error)
                break
            queries.append(local.num_queries)
            seconds.append(time.process_time() - start)
            if game.graph.count_connected(cap=arguments.exact) <= arguments.exact:
                differences.append(differences_of(model, double_model, graphs[position]))
        if refusal:
            print(f"{dataset} {kind} ({'authors' if authors else 'zoo'}): refused. {refusal}", flush=True)
            continue
        table = np.array(differences or [[np.nan] * 5])
        apart, local_off, exact_off, _, _ = table.max(axis=0)
        relative = (table[:, :4] / table[:, 4:]).max(axis=0)
        print(
            f"{dataset} {kind} ({'authors' if authors else 'zoo'}): {len(queries)} of {len(positions)} graphs "
            f"({len(queries) / len(positions):.1%}) within {arguments.budget:,} queries, "
            f"median {np.median(queries):,.0f}, most {max(queries):,}; "
            f"largest difference to exact on {len(differences)} graphs {apart:.1e}, {relative[0]:.1e} of the largest "
            f"entry, in double precision {relative[3]:.1e} of it (to double precision: exact {exact_off:.1e}, "
            f"exact-local {local_off:.1e}); "
            f"{np.median(seconds):.2f} s of one core in the median, {max(seconds):.1f} s at most; "
            f"connected coalitions {np.median(counts):,.0f} in the median, more than {MOST_COUNTED:,} in "
            f"{np.mean(np.array(counts) > MOST_COUNTED):.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
