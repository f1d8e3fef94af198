"""Faults on purpose: what is promised, how often it was tried, and what was lost.

    python benchmarks/faults.py [--short] [--only SIGKILL] [--without Ray] [--seed 0]

Each row of the table is a function in ``benchmarks/fault_rows`` that breaks something again and again and says what
was lost. A new one is a function with the decorator ``@fault``; a new module of them is a line in ``MODULES``.
``--short`` tries each a few times. The exit code is 1 where anything was lost.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from fault_rows import ROWS, Trials

MODULES = (
    "kills",
    "files",
    "bombs",
    "fuzz",
    "graphs",
    "workers",
    "threads",
    "clusters",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="Try each fault a few times only.")
    parser.add_argument("--only", default="", help="Only rows whose name contains this.")
    parser.add_argument("--without", default=None, help="Not the rows whose name contains this.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the random moments and places.")
    arguments = parser.parse_args()
    for module in MODULES:
        importlib.import_module(f"fault_rows.{module}")
    warnings.simplefilter("ignore")  # a fault that is found is told by a warning, again and again
    print("| fault | promise | tried | lost | seconds |\n|---|---|---:|---:|---:|", flush=True)
    complete = True
    for row in ROWS:
        if arguments.only not in row.name or (arguments.without is not None and arguments.without in row.name):
            continue
        started, tried = time.perf_counter(), 0
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            count = row.short if arguments.short else row.tries
            lost = []
            for loss in row.inject(Trials(count, np.random.default_rng(arguments.seed), Path(folder), arguments.short)):
                tried += 1
                if loss:
                    lost.append(loss)
                    print(f"lost: {row.name}: {loss}", file=sys.stderr, flush=True)
        seconds = time.perf_counter() - started
        print(f"| {row.name} | {row.promise} | {tried} | {len(lost)} | {seconds:.0f} |", flush=True)
        if tried < count:
            print(f"{row.name}: tried {tried} times only", file=sys.stderr, flush=True)
        complete = complete and not lost and tried >= count
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
