"""Many graphs on one machine or on two Ray nodes: ``python benchmarks/corpus.py [--engine ray] [--graphs 12000]``.

Explains the graphs of Benzene with the zoo's GIN, as ``mage explain --all --which all`` does, and prints what it takes:
graphs per second of CPU time, what travels to a worker, the memory of all processes, files, and what follows for a
million graphs; as ratios too: to the same explanations in one process without an engine, and to a graph that is
pickled as a view of its dataset. All processes count, those of Ray included; CPU time hardly depends on what else the
machine does. With ``--engine ray``, two nodes of one core each are started on this machine. With ``--command``, the
command line runs as a process of its own, and memory and time are those of it and its workers.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle  # only to count bytes
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from machines import cpu_seconds, family, memory, two_ray_nodes

from mage import explain
from mage.datasets import load
from mage.experiments import Engine, LocalEngine, RayEngine
from mage.experiments.corpus import LazyMapping, explain_corpus
from mage.experiments.engines import Payload
from mage.experiments.engines.serialization import pack
from mage.explanation.storage import file_content
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


class Watch(threading.Thread):
    """The largest memory of a process and all that it started (PSS: shared pages count once), and their CPU time.

    Args:
        root: The process.
    """

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.peak = 0
        self.done = threading.Event()
        self._seconds: dict[int, float] = {}

    @property
    def seconds(self) -> float:
        """CPU time of all processes, of those that have ended as it was last seen."""
        return sum(self._seconds.values())

    def run(self) -> None:
        """Look once a second or so."""
        while not self.done.wait(1.0):
            self.look()

    def look(self) -> None:
        """Look now."""
        processes = family(self.root)
        self.peak = max(self.peak, sum(map(memory, processes)))
        for process in processes:
            self._seconds[process] = max(self._seconds.get(process, 0.0), cpu_seconds(process))


def engine_of(name: str, stack: contextlib.ExitStack) -> Engine:
    """Two processes, or two Ray nodes of one core each on this machine."""
    if name == "local":
        return LocalEngine(2)
    stack.enter_context(two_ray_nodes())
    return RayEngine(workers=2)


def bytes_of_a_view(dataset: Any, numbers: Iterable[int]) -> int:
    """What pickle writes for one graph of a dataset that keeps all its graphs in one storage, as those of PyG do."""
    from torch_geometric.data import InMemoryDataset
    from torch_geometric.data.separate import separate

    graphs = [dataset[number] for number in numbers]
    whole, slices = InMemoryDataset.collate(graphs)
    return len(pickle.dumps(separate(type(graphs[0]), whole, 0, slices, decrement=False)))


def run_command(arguments: argparse.Namespace) -> None:
    """``mage explain --all`` with two local workers, watched from outside."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--dataset", arguments.dataset, "--model", arguments.model, "--all", "--which", "all"]
        options += ["--graphs", str(arguments.graphs), "--folder", folder, "--workers", "2"]
        options += ["--method", "permutation", "--permutations", str(arguments.permutations)]
        run = subprocess.Popen([sys.executable, "-m", "mage", "explain", *options])  # noqa: S603 (ourselves)
        watch = Watch(run.pid)
        watch.start()
        code = run.wait()
        watch.done.set()
        watch.join()
        files = len(list(Path(folder).glob("*.mage")))
    print(
        f"mage explain --all of {arguments.dataset}, {arguments.model}, {arguments.permutations} orderings: "
        f"exit code {code}, {files:,} files, {watch.peak / 1e9:.2f} GB of memory "
        f"at most, {files / watch.seconds:.1f} graphs per second of a core"
    )


def seconds_alone(network: Any, dataset: Any, options: LazyMapping, count: int) -> float:
    """CPU time for a graph in this process, without an engine; the first graph compiles, and does not count."""
    numbers = list(options)[: count + 1]
    for number in numbers[:1]:
        explain(network, dataset[number], progress=False, **options[number])
    started = time.process_time()
    for number in numbers[1:]:
        file_content(explain(network, dataset[number], progress=False, **options[number]))
    return (time.process_time() - started) / max(1, len(numbers) - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=12_000)
    parser.add_argument("--dataset", default="benzene")
    parser.add_argument("--model", default="gin")
    parser.add_argument("--permutations", type=int, default=10)
    parser.add_argument("--engine", default="local", choices=("local", "ray"))
    parser.add_argument("--command", action="store_true", help="Run the command line itself, with local workers.")
    parser.add_argument("--alone", type=int, default=500, help="Graphs to explain without an engine, to compare with.")
    arguments = parser.parse_args()
    if arguments.command:
        run_command(arguments)
        return
    dataset, network = load(arguments.dataset), pretrained(arguments.dataset, arguments.model)
    numbers = range(min(arguments.graphs, len(dataset)))
    sampling = {"method": "permutation", "permutations": arguments.permutations}
    options = LazyMapping(numbers, lambda number: {**dataset.settings(number), **sampling})
    watch = Watch(os.getpid())
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        engine = Measured(engine_of(arguments.engine, stack))
        watch.look()
        before = watch.seconds
        watch.start()
        graphs = LazyMapping(numbers, dataset.__getitem__)
        entries = list(explain_corpus(network, graphs, folder, options, engine, progress=False))
        watch.done.set()
        watch.join()
        watch.look()
        files = [path.stat().st_size for path in Path(folder).glob("*.mage")]
    failed, count = sum(entry.failure is not None for entry in entries), len(entries)
    seconds, driver = watch.seconds - before, time.process_time()
    alone = seconds_alone(network, dataset, options, arguments.alone)
    whole = bytes_of_a_view(dataset, numbers)
    job = sum(engine.jobs) / count
    print(
        f"{count:,} graphs of {arguments.dataset}, {arguments.model}, {arguments.permutations} orderings, "
        f"{arguments.engine} engine with 2 workers: {seconds:,.0f} s of CPU time, {failed} failed"
    )
    print(
        f"throughput: {count / seconds:.1f} graphs per second of a core; the command itself took {driver:.0f} s of it"
    )
    print(f"payload: {engine.payload:,} bytes to each worker once, {job:,.0f} bytes with each graph")
    print(
        f"memory of all processes: {watch.peak / 1e9:.2f} GB at most; files: {sum(files) / count:,.0f} bytes per graph"
    )
    print(
        f"ratios: {seconds / count / alone:.2f} times the CPU time of {arguments.alone} explanations without an engine "
        f"({1e3 * alone:.1f} ms each); a graph that is pickled as a "
        f"view of its dataset takes {whole / job:,.0f} times as many bytes"
    )
    print(
        f"a million graphs: {1e6 * seconds / count / 3600:,.1f} core-hours, {sum(files) / count / 1e3:,.1f} GB of files"
    )


if __name__ == "__main__":
    main()
