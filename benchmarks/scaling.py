"""One worker against two, and what store and engine cost: ``python benchmarks/scaling.py [--engine ray]``.

Explains graphs of BA-HouseAndGrid (34 nodes) with the zoo's GIN and 800 orderings. Overhead is what a run takes beyond
the time spent explaining: waiting for workers to start, shipping, metrics, the store, idle workers at the end. Each run
has a process of its own and does what ``mage benchmark`` does: the engine gets ready while the plan is made, then runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time

from mage.experiments import Column, Experiment, Inputs, Method, Store, make_engine, make_plan, run_plan


def measured_run(arguments: argparse.Namespace) -> dict[str, object]:
    """A run into an empty store: wall-clock seconds, seconds spent explaining, and the motifs found."""
    experiment = Experiment(
        "scaling",
        "Scaling",
        (),
        (Column(arguments.dataset, arguments.model, ("ami",)),),
        (Method("mage", "mage", {"permutations": arguments.permutations}),),
    )
    engine = make_engine(arguments.engine, arguments.workers)
    engine.prepare()
    plan = make_plan(experiment, Inputs(), arguments.graphs)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        start = time.perf_counter()
        run_plan(plan, store, engine)
        wall = time.perf_counter() - start
        records = plan.records(store)
    return {
        "wall": wall,
        "explaining": sum(record["seconds"] for record in records),
        "motifs": [record["nodes"] for record in records],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--permutations", type=int, default=800)
    parser.add_argument("--dataset", default="ba_house_and_grid")
    parser.add_argument("--model", default="gin")
    parser.add_argument("--engine", default="local", choices=("local", "ray"))
    parser.add_argument("--workers", type=int, help="Only this many, and print the figures as JSON.")
    arguments = parser.parse_args()
    if arguments.workers is not None:
        print(json.dumps(measured_run(arguments)))
        return
    runs = {}
    for workers in (1, 2):
        command = [sys.executable, __file__, *sys.argv[1:], "--workers", str(workers)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 (ourselves)
        runs[workers] = run = json.loads(output.splitlines()[-1])
        overhead = 1 - run["explaining"] / workers / run["wall"]
        print(
            f"{len(run['motifs'])} graphs of {arguments.dataset}, {arguments.model}, {arguments.engine}, "
            f"{workers} worker(s): {run['wall']:.1f} s, explaining {run['explaining']:.1f} s of process time; "
            f"overhead {overhead:.1%} (wanted ≤ 5 %: {'yes' if overhead <= 0.05 else 'NO'}); "
            f"the same motifs: {'yes' if run['motifs'] == runs[1]['motifs'] else 'NO'}",
            flush=True,
        )
    speedup = runs[1]["wall"] / runs[2]["wall"]
    print(f"speed-up of 2 workers over 1: {speedup:.2f} (wanted ≥ 1.7: {'yes' if speedup >= 1.7 else 'NO'})")


if __name__ == "__main__":
    main()
