"""Speed of the indices, as ratios against named references: ``python benchmarks/indices.py``.

(a) Algorithm 1 against a plain transcription of the paper's pseudo-code, same model, same orderings, same numbers;
(b) connected coalitions listed and accumulated per second, and peak memory for 10⁷ of them;
(c) exact Myerson values against the PyPI package ``myerson``;
(d) exact Shapley-Taylor interactions against ``shapiq``;
(e) cost as the number of players grows, also drawn to benchmarks/results/indices.svg.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np

from mage import Game, PlayerGraph, interactions
from mage.indices import FAMILIES
from mage.indices.closed_form import ClosedForm
from mage.plots import save_figure

sys.path.insert(0, str(Path(__file__).parent))
from graphs import ba_with_house

RESULTS = Path(__file__).parent / "results"


def clock(work: Callable[[], object], repeat: int = 3) -> float:
    """Best wall-clock seconds of a few runs."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return float(best)


def verdict(ratio: float, goal: float, unit: str = "×") -> str:
    return f"{ratio:8.1f}{unit}   (wanted ≥ {goal:g}{unit}: {'yes' if ratio >= goal else 'NO'})"


class Timed:
    """A value function that adds up the seconds spent inside it."""

    def __init__(self, worth: Callable[[np.ndarray], np.ndarray]) -> None:
        self.worth, self.seconds, self.rows = worth, 0.0, 0

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        """Worths, timed."""
        start = time.perf_counter()
        values = self.worth(masks)
        self.seconds += time.perf_counter() - start
        self.rows += len(masks)
        return values


def transcription(value_fn: Timed, n: int, edges: list[tuple[int, int]], orderings: np.ndarray) -> np.ndarray:
    """Algorithms 1 and 2 of the paper for k = 2 as they stand: sets, a dictionary as memo, new components in one batch.

    The batch of an ordering is collected first, so that the model is not called for one coalition at a time.
    """
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in edges:
        neighbours[i].add(j)
        neighbours[j].add(i)
    memo: dict[frozenset[int], float] = {}
    baseline = float(value_fn(np.zeros((1, n), dtype=bool))[0])

    def components(coalition: set[int]) -> list[frozenset[int]]:
        parts, remaining = [], set(coalition)
        while remaining:
            todo, component = [remaining.pop()], set()
            while todo:
                node = todo.pop()
                component.add(node)
                near = neighbours[node] & remaining
                remaining -= near
                todo.extend(near)
            parts.append(frozenset(component))
        return parts

    def ask(coalitions: list[frozenset[int]]) -> None:
        new = list(dict.fromkeys(c for c in coalitions if c not in memo))
        if new:
            masks = np.zeros((len(new), n), dtype=bool)
            for row, coalition in enumerate(new):
                masks[row, list(coalition)] = True
            memo.update(zip(new, (value_fn(masks) - baseline).tolist(), strict=True))

    total = np.zeros((n, n))
    for ordering in orderings.tolist():
        rank = {node: position for position, node in enumerate(ordering)}
        needed: dict[tuple[int, int], list[list[frozenset[int]]]] = {}
        for i, j in itertools.combinations(range(n), 2):
            before = set(ordering[: min(rank[i], rank[j])])
            needed[i, j] = [components(before | joined) for joined in ({i, j}, {i}, {j}, set())]
        ask([c for parts in needed.values() for part in parts for c in part])
        for (i, j), (both, first, second, neither) in needed.items():
            worth = [sum(memo[c] for c in part) for part in (both, first, second, neither)]
            total[i, j] += worth[0] - worth[1] - worth[2] + worth[3]
    result = total / len(orderings)
    ask([frozenset([i]) for i in range(n)])
    return result + result.T + np.diag([memo[frozenset([i])] for i in range(n)])


def algorithm_1() -> None:
    import torch
    from reference_models import GraphWorth

    torch.set_num_threads(1)
    print("(a) Algorithm 1, 200 orderings, 3-layer GCN of width 20, BA graph + house, 25 nodes")
    n, edges = ba_with_house(seed=0)
    orderings = np.array([np.random.default_rng(t).permutation(n) for t in range(200)])
    worth = GraphWorth(n, edges, width=20)
    interactions(Game(Timed(worth), n, edges), orderings=orderings[:2])  # compile

    ours_model, ours_total, matrix = np.inf, np.inf, np.zeros((n, n))
    for _ in range(3):
        spy = Timed(worth)
        start = time.perf_counter()
        result = interactions(Game(spy, n, edges), orderings=orderings)
        seconds = time.perf_counter() - start
        if seconds < ours_total:
            ours_total, ours_model, matrix, queries = seconds, spy.seconds, result.matrix, result.num_queries
    spy = Timed(worth)
    start = time.perf_counter()
    reference = transcription(spy, n, edges, orderings)
    theirs_total = time.perf_counter() - start
    outside = (theirs_total - spy.seconds) / (ours_total - ours_model)
    print(f"    transcription   {theirs_total:7.3f} s, of which the model {spy.seconds:.3f} s, {spy.rows:,} queries")
    print(f"    mage            {ours_total:7.3f} s, of which the model {ours_model:.3f} s, {queries:,} queries")
    print(f"    outside the model {verdict(outside, 50)}")
    print(f"    end to end        {verdict(theirs_total / ours_total, 15)}")
    print(f"    largest difference {np.abs(matrix - reference).max():.1e}")

    exact = interactions(Game(worth, n, edges), method="exact")
    print("    root mean square error against the exact index, mean of 20 seeds (and distinct queries):")
    for permutations in (50, 200):
        line = f"      {permutations:4d} orderings:"
        for antithetic in (False, True):
            runs = [
                interactions(
                    Game(worth, n, edges),
                    method="permutation",
                    permutations=permutations,
                    seed=seed,
                    antithetic=antithetic,
                )
                for seed in range(20)
            ]
            error = np.mean([np.sqrt(np.mean((run.matrix - exact.matrix) ** 2)) for run in runs])
            num_queries = np.mean([run.num_queries for run in runs])
            line += f"  {'antithetic' if antithetic else 'independent'} {error:.2e} ({num_queries:,.0f})"
        print(line)


def enumeration() -> None:
    print("(b) connected coalitions, BA graph + house")
    n, edges = ba_with_house(seed=0, base=24)
    graph = PlayerGraph(n, edges)
    count = graph.count_connected()

    def accumulate() -> None:
        total = ClosedForm(n, {2: FAMILIES["myerson-taylor"].measure(2, 2)})
        for block in graph.blocks():
            total.add(block, np.ones(len(block.sizes)))

    def listing() -> int:
        return sum(len(block.sizes) for block in graph.blocks())

    accumulate()
    listed, summed = count / clock(listing), count / clock(accumulate)
    print(f"    {n} nodes, {count:,} coalitions")
    print(f"    listing                  {verdict(listed / 1e6, 5, '·10⁶/s')}")
    print(f"    listing + accumulation   {verdict(summed / 1e6, 1.5, '·10⁶/s')}")
    weights = np.linspace(-1, 1, n).astype(np.float32)
    seconds = clock(
        lambda: interactions(
            Game(lambda masks: np.tanh(masks.astype(np.float32) @ weights), n, graph),
            method="exact",
            budget=10**9,
        ),
        repeat=1,
    )
    print(f"    whole exact index, cheap game {count / seconds / 1e6:4.1f}·10⁶/s, memo and value function included")
    out = subprocess.run([sys.executable, __file__, "--memory"], capture_output=True, text=True, check=True)  # noqa: S603
    print(out.stdout, end="")


def peak_memory() -> float:
    """Megabytes this process has held at its peak; getrusage would count those of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def memory() -> None:
    """Run in a process of its own: peak memory of exact indices over more and more coalitions."""
    n, edges = ba_with_house(seed=0, base=18)
    small = interactions(Game(lambda masks: masks.sum(axis=1), n, edges), method="exact").num_queries
    before = peak_memory()
    for base in (24, 27):
        n, edges = ba_with_house(seed=0, base=base)
        game = Game(lambda masks: masks[:, 0] * 1.0, n, edges)
        result = interactions(game, "myerson-taylor", method="exact", budget=10**9)
        peak = peak_memory()
        growth = f"{peak - before:.0f} MB above a run of {small:,}"
        verdict = f"(wanted < 1000 MB: {'yes' if peak < 1000 else 'NO'})"
        print(f"    {result.num_queries:12,} coalitions: peak memory {peak:.0f} MB, {growth} {verdict}")


def myerson_package() -> None:
    from myerson import MyersonCalculator

    print("(c) exact Myerson values against PyPI myerson, the same game and graph")
    for n in (16, 18):
        tree = nx.barabasi_albert_graph(n, 1, seed=n)
        weights = np.random.default_rng(n).normal(size=n)

        def value_fn(masks: np.ndarray, weights: np.ndarray = weights) -> np.ndarray:
            return np.tanh(masks @ weights)

        def single(coalition: tuple[int, ...], _graph: nx.Graph, weights: np.ndarray = weights) -> float:
            return float(np.tanh(weights[list(coalition)].sum()))

        start = time.perf_counter()
        reference = MyersonCalculator(tree, single).calculate_all_myerson_values()
        theirs = time.perf_counter() - start
        ours = clock(
            lambda n=n, drawn=tree, value_fn=value_fn: interactions(Game(value_fn, n, drawn), "myerson", method="exact")
        )
        values = interactions(Game(value_fn, n, tree), "myerson", method="exact").values
        difference = max(abs(values[i] - reference[i]) for i in range(n))
        print(f"    {n} nodes: myerson {theirs:8.2f} s, mage {ours:.4f} s {verdict(theirs / ours, 100)}")
        print(f"              largest difference {difference:.0e}")


def shapiq_package() -> None:
    import shapiq

    print("(d) exact Shapley-Taylor interactions of order 2 against shapiq, the same game")
    for n in (12, 13, 14):
        weights = np.random.default_rng(n).normal(size=n)

        def value_fn(masks: np.ndarray, weights: np.ndarray = weights) -> np.ndarray:
            return np.tanh(masks @ weights) - np.tanh(0.0)

        def theirs(n: int = n, value_fn: Callable[[np.ndarray], np.ndarray] = value_fn) -> shapiq.InteractionValues:
            return shapiq.ExactComputer(game=value_fn, n_players=n)("STII", order=2)

        slow = clock(theirs, repeat=1)
        fast = clock(
            lambda n=n, value_fn=value_fn: interactions(Game(value_fn, n), "shapley-taylor", method="exact"), repeat=5
        )
        ours = interactions(Game(value_fn, n), "shapley-taylor", method="exact")
        reference = theirs()
        difference = max(abs(reference[t.players] - t.value) for t in ours)
        print(f"    {n} players: shapiq {slow:8.3f} s, mage {fast:.4f} s {verdict(slow / fast, 10)}")
        print(f"                largest difference {difference:.0e}")


def growth() -> None:
    print("(e) cost as the graph grows (BA graph + house; exact and 200 orderings, model excluded: a cheap game)")
    print("      n   coalitions   exact [s]   permutation [s]   distinct queries")
    rows = []
    for n in (10, 15, 20, 25, 30, 40, 60, 100):
        _, edges = ba_with_house(seed=0, base=n - 5)
        graph = PlayerGraph(n, edges)
        weights = np.linspace(-1, 1, n).astype(np.float32)

        def value_fn(masks: np.ndarray, weights: np.ndarray = weights) -> np.ndarray:
            return np.tanh(masks.astype(np.float32) @ weights)

        count = graph.count_connected()
        exact = np.nan
        if count <= 20_000_000:
            exact = clock(
                lambda graph=graph, n=n, value_fn=value_fn: interactions(
                    Game(value_fn, n, graph), method="exact", budget=10**9
                ),
                repeat=1,
            )
        start = time.perf_counter()
        sampled = interactions(Game(value_fn, n, graph), method="permutation", permutations=200)
        seconds = time.perf_counter() - start
        rows.append((n, count, exact, seconds, sampled.num_queries))
        print(f"    {n:3d}   {count:10.3g}   {exact:9.3f}   {seconds:15.3f}   {sampled.num_queries:16,}")
    draw(rows)


def draw(rows: list[tuple[int, int, float, float, int]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    n, _, exact, sampled, _ = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    axes.semilogy(n, exact, "o-", label="exact")
    axes.semilogy(n, sampled, "s--", label="200 orderings")
    axes.set_xlabel("players")
    axes.set_ylabel("seconds outside the model")
    axes.legend()
    RESULTS.mkdir(exist_ok=True)
    save_figure(figure, RESULTS / "indices.svg")
    print("    drawn to benchmarks/results/indices.svg")


if __name__ == "__main__":
    if "--memory" in sys.argv:
        memory()
    else:
        algorithm_1()
        enumeration()
        myerson_package()
        shapiq_package()
        growth()
