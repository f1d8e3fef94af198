"""PyG's own tests of its explanation algorithms, with MAGE in their place: ``python benchmarks/pyg_tests.py FOLDER``.

``FOLDER`` is a clone of PyG's repository at about the installed version. Nothing of it is changed: the names of PyG's
algorithms stand for :class:`mage.pyg.MAGEExplainer` while its tests run. Printed are how many cases pass, by test, and
the names of those that fail; ``docs/pyg.md`` says why they do. Captum is not needed.

Without ``FOLDER``, our own reading of those tests is run, with the same settings: ``tests/pyg``. Nothing is fetched.

``--every 10`` takes every tenth case of each test, from ``--first`` on: the whole takes long.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch_geometric
import torch_geometric.explain
import torch_geometric.explain.algorithm
import torch_geometric.testing

from mage.pyg import MAGEExplainer

OWN = Path(__file__).resolve().parent.parent / "tests" / "pyg"
ALGORITHMS = ("GNNExplainer", "DummyExplainer", "CaptumExplainer", "AttentionExplainer", "GraphMaskExplainer")
# Others test parts of PyG that no algorithm of ours stands in for, or train PGExplainer first.
FILES = (
    "test_explainer.py",
    "test_hetero_explainer.py",
    "metric",
    "algorithm/test_gnn_explainer.py",
    "algorithm/test_attention_explainer.py",
    "algorithm/test_captum_explainer.py",
    "algorithm/test_graphmask_explainer.py",
)


class Substitute(MAGEExplainer):
    """Takes the arguments of any algorithm, and does not look at them."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


class Counting:
    """A plugin of pytest: takes every n-th case of a test, and counts how cases end.

    Args:
        every: The distance between two cases that are run.
        first: The first case of a test that is run.
    """

    def __init__(self, every: int, first: int) -> None:
        self._every, self._first = every, first
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self.failures: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep every n-th case of each test; tests with few cases keep all."""
        tests: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            tests[_test_of(item.nodeid)].append(item)
        items[:] = [
            item
            for cases in tests.values()
            for item in (cases[self._first :: self._every] if len(cases) > 40 else cases)
        ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a case."""
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[_test_of(report.nodeid)][report.outcome] += 1
            if report.failed:
                lines = report.longreprtext.strip().splitlines()
                self.failures.append(f"{report.nodeid}: {lines[-1] if lines else ''}")


def _test_of(name: str) -> str:
    return name.split("[", maxsplit=1)[0].rsplit("/", 1)[-1]


def _put_in_place() -> None:
    """Let the names of PyG's algorithms stand for ours."""
    for module in (torch_geometric.explain, torch_geometric.explain.algorithm):
        for name in ALGORITHMS:
            if hasattr(module, name):
                setattr(module, name, Substitute)
    needs = torch_geometric.testing.withPackage
    torch_geometric.testing.withPackage = lambda *names: (lambda test: test) if names == ("captum",) else needs(*names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="a clone of PyG's repository; our own tests without it")
    parser.add_argument("--every", type=int, default=1, help="run every n-th case of tests with more than 40")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--files", nargs="*", default=FILES, choices=FILES)
    parser.add_argument("-k", default="", help="only tests of such names, as for pytest")
    arguments = parser.parse_args()
    counting, start = Counting(arguments.every, arguments.first), time.process_time()
    options = ["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-W", "ignore"]
    options += ["-k", arguments.k] if arguments.k else []
    if arguments.folder is None:
        pytest.main([*options, "-m", "", str(OWN)], plugins=[counting])
    else:
        tests = arguments.folder / "test" / "explain"
        if not tests.is_dir():
            sys.exit(f"{tests} is missing: clone PyG's repository, version {torch_geometric.__version__} or near it")
        _put_in_place()
        options += ["-c", "/dev/null", "--rootdir", str(arguments.folder)]
        pytest.main([*options, *(str(tests / name) for name in arguments.files)], plugins=[counting])
    total: Counter[str] = Counter()
    for test, outcomes in counting.outcomes.items():
        total += outcomes
        run = sum(outcomes.values()) - outcomes["skipped"]
        print(f"{test:75s} {outcomes['passed']:4d} of {run:4d}")
    run = sum(total.values()) - total["skipped"]
    share = 100 * total["passed"] / max(run, 1)
    print(f"all: {total['passed']} of {run} ({share:.1f} %), {total['skipped']} skipped, ", end="")
    print(f"{time.process_time() - start:.0f} CPU s")
    for failure in counting.failures:
        print("failed:", failure[:300])


if __name__ == "__main__":
    main()
