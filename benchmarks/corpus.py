"""Many graphs on one machine or on two Ray nodes: ``python benchmarks/corpus.py [--engine ray] [--graphs 12000]``.

Explains the graphs of Benzene with the zoo's GIN, as ``mage explain --all --which all`` does, and prints what it takes:
graphs per second and core, what travels to a worker, the memory of all processes, files, and what follows for a million
graphs. With ``--engine ray``, two nodes of one core each are started on this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from machines import family, memory, two_ray_nodes

import mage
from mage.datasets import load
from mage.experiments import Engine, LocalEngine, RayEngine
from mage.experiments.corpus import LazyMapping, explain_corpus
from mage.experiments.engines import Payload
from mage.experiments.engines.packing import pack
from mage.models import pretrained


class Measured(Engine):
    """An engine that notes what it sends."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.payload = 0
        self.jobs: list[int] = []

    def run(self, payload: Payload, jobs: Iterable[Any]) -> Any:
        """What the other engine does."""
        self.payload = len(pack(payload))
        return self.engine.run(payload, self._noted(jobs))

    def _noted(self, jobs: Iterable[Any]) -> Iterator[Any]:
        for job in jobs:
            self.jobs.append(len(pack(job)))
            yield job


class MemoryWatch(threading.Thread):
    """The largest memory of this process and all that it started: shared pages count once (PSS)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.done = threading.Event()

    def run(self) -> None:
        """Look once a second or so."""
        while not self.done.wait(1.0):
            self.peak = max(self.peak, sum(map(memory, family(os.getpid()))))


def engine_of(name: str, stack: contextlib.ExitStack) -> Engine:
    """Two processes, or two Ray nodes of one core each on this machine."""
    if name == "local":
        return LocalEngine(2)
    stack.enter_context(two_ray_nodes())
    return RayEngine(workers=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=12_000)
    parser.add_argument("--dataset", default="benzene")
    parser.add_argument("--model", default="gin")
    parser.add_argument("--permutations", type=int, default=10)
    parser.add_argument("--engine", default="local", choices=("local", "ray"))
    arguments = parser.parse_args()
    dataset, network = load(arguments.dataset), pretrained(arguments.dataset, arguments.model)
    numbers = range(min(arguments.graphs, len(dataset)))
    sampling = {"method": "permutation", "permutations": arguments.permutations}
    options = LazyMapping(numbers, lambda number: {**dataset.settings(number), **sampling})
    watch = MemoryWatch()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        engine = Measured(engine_of(arguments.engine, stack))
        watch.start()
        start = time.perf_counter()
        graphs = LazyMapping(numbers, dataset.__getitem__)
        entries = list(explain_corpus(network, graphs, folder, options, engine, progress=False))
        seconds = time.perf_counter() - start
        watch.done.set()
        files = [path.stat().st_size for path in Path(folder).glob("*.mage")]
        # Time at work, without waiting for workers, files and each other; from some of the explanations.
        some = [entry for entry in entries if entry.failure is None][:: max(1, len(entries) // 500)]
        work = sum(mage.load(entry.path).seconds for entry in some) * len(entries) / len(some)
    failed = sum(entry.failure is not None for entry in entries)
    count = len(entries)
    print(
        f"{count:,} graphs of {arguments.dataset}, {arguments.model}, {arguments.permutations} orderings, "
        f"{arguments.engine} engine with 2 workers: {seconds:,.0f} s, {failed} failed"
    )
    print(f"throughput: {count / seconds / 2:.2f} graphs per second and core, {work / seconds / 2:.0%} of it at work")
    print(
        f"payload: {engine.payload:,} bytes to each worker once, {sum(engine.jobs) / count:,.0f} bytes with each graph"
    )
    print(
        f"memory of all processes: {watch.peak / 1e9:.2f} GB at most; files: {sum(files) / count:,.0f} bytes per graph"
    )
    print(
        f"a million graphs: {2e6 * seconds / count / 3600:,.0f} core-hours, {sum(files) / count / 1e3:,.1f} GB of files"
    )


if __name__ == "__main__":
    main()
