"""What a first call costs: CPU seconds to compile, with an empty cache: ``python benchmarks/cold_start.py``.

Each row is a new process with a new, empty cache, the better of two. The table has all CPU seconds of the call, those
that numba spends on each kernel, and the CPU seconds of the same call in a second process, which finds the machine code
on disk. numba itself takes about 0.3 s to start, whatever it compiles; that is in the sum.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

WANTED = 2.0  # CPU seconds of a plain search for motifs
RUNS = 2

FIND_MOTIFS = """
import numpy as np
from mage import PlayerGraph, find_motifs
from mage.testing import random_graph, random_interactions
index = random_interactions(random_graph(12, 0.3, 0), {order}, 0)
call = lambda: find_motifs(index, num_motifs=2, max_nodes=5, tau=0.5, objective="{objective}")
"""
INTERACTIONS = """
import mage
game = mage.Game(lambda masks: masks.sum(axis=1) ** 2.0, 10, [(i, i + 1) for i in range(9)])
call = lambda: mage.interactions(game, order={order}, method="{method}", progress=False)
"""
ROWS = {
    "find_motifs, order 2": FIND_MOTIFS.format(order=2, objective="paper"),
    "find_motifs, order 3": FIND_MOTIFS.format(order=3, objective="paper"),
    "find_motifs, order 3, signed": FIND_MOTIFS.format(order=3, objective="signed"),
    "interactions, exact, order 2": INTERACTIONS.format(order=2, method="exact"),
    "interactions, permutation, order 2": INTERACTIONS.format(order=2, method="permutation"),
}


def measure() -> None:
    """In the new process: run the setting on standard input, print what compiling took."""
    from numba.core import event

    kernels: dict[str, float] = {}

    class Stopwatch(event.Listener):
        """CPU seconds of each compilation without those inside it."""

        def __init__(self) -> None:
            self.running: list[list[float]] = []

        def on_start(self, _event: event.Event) -> None:
            self.running.append([time.process_time(), 0.0])

        def on_end(self, event: event.Event) -> None:
            started, inner = self.running.pop()
            spent = time.process_time() - started
            if self.running:
                self.running[-1][1] += spent
            name = event.data["dispatcher"].__name__
            kernels[name] = kernels.get(name, 0.0) + spent - inner

    space: dict[str, Any] = {}
    exec(sys.stdin.read(), space)  # noqa: S102 (a row of the table above)
    event.register("numba:compile", Stopwatch())
    started = time.process_time()
    space["call"]()
    print(json.dumps({"total": time.process_time() - started, "kernels": kernels}))


def row(setting: str, cache: str) -> dict[str, Any]:
    """What a new process measures."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, __file__, "--measure"]
    answer = subprocess.run(  # noqa: S603 (this file)
        command, input=setting, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout.splitlines()[-1])


def pair(setting: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A process that compiles, and one that finds what the first has compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return row(setting, cache), row(setting, cache)


def main() -> None:
    good = True
    for name, setting in ROWS.items():
        first, second = min((pair(setting) for _ in range(RUNS)), key=lambda runs: runs[0]["total"])
        kernels = sorted(first["kernels"].items(), key=lambda item: -item[1])
        listed = ", ".join(f"{kernel} {seconds:.2f}" for kernel, seconds in kernels if seconds >= 0.01)
        print(f"{name:36s} {first['total']:5.2f} s, from disk {second['total']:5.2f} s: {listed}", flush=True)
        good &= first["total"] <= WANTED or not name.startswith("find_motifs")
    print(f"a search for motifs compiles in at most {WANTED:g} CPU s: {'yes' if good else 'NO'}")


if __name__ == "__main__":
    measure() if "--measure" in sys.argv else main()
