"""One worker against two, and what store and engine cost: ``python benchmarks/scaling.py [--engine ray]``.

Explains graphs of BA-HouseAndGrid (34 nodes) with the zoo's GIN and 800 orderings. Overhead is what a run takes beyond
the time spent explaining: the start of the worker processes, shipping, metrics, the store, idle workers at the end.
"""

from __future__ import annotations

import argparse
import tempfile
import time

from mage.experiments import Column, Experiment, Method, Source, Store, make_engine, make_plan, run_plan


def seconds_of(plan, engine) -> tuple[float, float, list]:
    """Wall-clock seconds of a run into an empty store, seconds spent explaining, and the records."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        start = time.perf_counter()
        run_plan(plan, store, engine)
        wall = time.perf_counter() - start
        records = plan.records(store)
    return wall, sum(record["seconds"] for record in records), records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--permutations", type=int, default=800)
    parser.add_argument("--dataset", default="ba_house_and_grid")
    parser.add_argument("--model", default="gin")
    parser.add_argument("--engine", default="local", choices=("local", "ray"))
    arguments = parser.parse_args()
    experiment = Experiment(
        "scaling",
        "Scaling",
        (),
        (Column(arguments.dataset, arguments.model, ("ami",)),),
        (Method("mage", "mage", {"permutations": arguments.permutations}),),
    )
    plan = make_plan(experiment, Source(), arguments.graphs)
    expected = None
    walls = {}
    for workers in (1, 2):
        wall, work, records = seconds_of(plan, make_engine(arguments.engine, workers))
        walls[workers] = wall
        found = [record["nodes"] for record in records]
        same = expected is None or found == expected
        expected = found
        print(
            f"{len(records)} graphs of {arguments.dataset}, {arguments.model}, {arguments.engine}, "
            f"{workers} worker(s): {wall:.1f} s, explaining {work:.1f} s of process time; "
            f"overhead {1 - work / workers / wall:.1%}; "
            f"the same motifs: {'yes' if same else 'NO'}",
            flush=True,
        )
    speedup = walls[1] / walls[2]
    print(f"speed-up of 2 workers over 1: {speedup:.2f} (wanted ≥ 1.7: {'yes' if speedup >= 1.7 else 'NO'})")


if __name__ == "__main__":
    main()
