"""How good the plain call is, on the networks of the paper's authors: ``python benchmarks/quality.py``.

Needs the data and checkpoints of the paper in ``MAGE_DATA``. For each dataset and network it explains correctly
predicted test graphs, chosen as in the paper, and prints node F1 (one motif) or AMI (several) of

- the paper's figure,
- the plain call, ``mage.explain(model, data)`` with the dataset's masking and nothing else,
- the plain call that is told m and M,
- the paper's setting: order 2, 200 orderings, τ = 1, its objective, its output, told m and M (not with ``--no-paper``),

with the queries and CPU seconds of the plain call. Defaults were chosen on the development half (even places of the
list of explained graphs); the reported half (odd places) was not looked at for that. Each half is printed by itself.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np
import torch
from paper import checkpoints

import mage
from mage import datasets
from mage.experiments.paper import paper_figure
from mage.metrics import ami, node_f1
from mage.models import authors_checkpoint

CELLS = [
    (dataset, kind)
    for dataset in (
        *("ba_2motifs", "ba_house_grid", "spmotif", "mnist75sp"),
        *("ba_house_and_grid", "ba_house_or_grid", "mutagenic", "benzene"),
    )
    for kind in ("gcn", "gin", "gat")
]
ONE_MOTIF = {"ba_2motifs", "ba_house_grid", "spmotif", "mnist75sp"}
HALVES = {"development": 0, "reported": 1}
PAPERS = {"order": 2, "method": "permutation", "permutations": 200, "tau": 1.0, "objective": "paper"}


def score(dataset: str, explanation: mage.Explanation, truth: np.ndarray) -> float:
    if dataset in ONE_MOTIF:
        return float(node_f1(explanation.motifs.nodes, np.flatnonzero(truth >= 0), len(truth)))
    return float(ami(explanation.motifs.labels, truth + 1, len(truth)))


def explained(model: torch.nn.Module, graph: object, **options: object) -> tuple[mage.Explanation, float]:
    start = time.process_time()
    return mage.explain(model, graph, progress=False, **options), time.process_time() - start


def rows_of(dataset: str, kind: str, half: str, limit: int, with_paper: bool) -> list[dict[str, object]]:
    """A record per graph."""
    graphs, model = datasets.load(dataset), authors_checkpoint(checkpoints(), dataset, kind)
    records = []
    for position in graphs.explained(model)[HALVES[half] :: 2][:limit].tolist():
        graph, settings = graphs[position], graphs.settings(position)
        truth = graph.node_motif.numpy()
        sizes = {"num_motifs": settings["num_motifs"], "max_nodes": settings["max_nodes"]}
        usual = {"masking": settings["masking"], "connected": settings["connected"]}
        plain, seconds = explained(model, graph, **usual)
        with_sizes, _ = explained(model, graph, **usual, **sizes)
        record = {
            "dataset": dataset,
            "model": kind,
            "half": half,
            "graph": position,
            "nodes": int(graph.num_nodes),
            "plain": score(dataset, plain, truth),
            "told": score(dataset, with_sizes, truth),
            "order": plain.interactions.order,
            "method": plain.interactions.method,
            "output": plain.output,
            "queries": plain.num_queries,
            "seconds": seconds,
        }
        if with_paper:
            papers, cost = explained(model, graph, output=settings["output"], **usual, **sizes, **PAPERS)
            record |= {"paper_setting": score(dataset, papers, truth), "paper_queries": papers.num_queries}
            record["paper_seconds"] = cost
        records.append(record)
    return records


def print_cell(records: list[dict[str, object]]) -> None:
    first = records[0]
    figure = paper_figure((1, 6, 7), first["dataset"], first["model"], "mage", "f1" if is_single(first) else "ami")
    means = {name: float(np.mean([r[name] for r in records])) for name in ("plain", "told")}
    error = float(np.std([r["told"] for r in records]) / np.sqrt(len(records)))
    cost = {name: float(np.median([r[name] for r in records])) for name in ("queries", "seconds")}
    papers = [r["paper_setting"] for r in records if "paper_setting" in r]
    exact = np.mean([str(r["method"]).startswith("exact") for r in records])
    print(
        f"{first['dataset']:17s} {first['model']:4s} {first['half']:12s} {len(records):3d} graphs  "
        f"{'F1 ' if is_single(first) else 'AMI'} paper {'  –  ' if figure is None else f'{figure:.3f}'}  "
        f"told m and M {means['told']:.3f} ± {error:.3f}  plain {means['plain']:.3f}  "
        + (f"paper's setting {np.mean(papers):.3f}  " if papers else "")
        + f"median {cost['queries']:,.0f} queries, {cost['seconds']:.2f} CPU s; {exact:.0%} exact",
        flush=True,
    )


def is_single(record: dict[str, object]) -> bool:
    return record["dataset"] in ONE_MOTIF


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--graphs", type=int, default=30, help="graphs of each half")
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="DATASET/MODEL", help="such as benzene/gcn or mutagenic"
    )
    parser.add_argument("--half", nargs="*", default=list(HALVES), choices=HALVES, help="both by default")
    parser.add_argument("--paper", action=argparse.BooleanOptionalAction, default=True, help="the paper's setting too")
    parser.add_argument("--records", type=Path, help="write a record per graph: .csv or .jsonl")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    everything = []
    for dataset, kind in CELLS:
        if arguments.only and not {dataset, f"{dataset}/{kind}"} & set(arguments.only):
            continue
        for half in arguments.half:
            records = rows_of(dataset, kind, half, arguments.graphs, arguments.paper)
            if not records:
                continue
            print_cell(records)
            everything += records
            if arguments.records is not None:
                write(arguments.records, everything)


def write(path: Path, records: list[dict[str, object]]) -> None:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(records[0]))
        table.writeheader()
        table.writerows(records)


if __name__ == "__main__":
    main()
