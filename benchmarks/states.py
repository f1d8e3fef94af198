"""The exact index by states against the plain loop over coalitions: ``python benchmarks/states.py [--graphs N]``.

``--sections ba_2motifs mutagenic ten-million plain-call orderings first-call`` runs some parts only. Needs the data and
checkpoints of the paper in ``MAGE_DATA``. Prints, one section after the other:

1. BA-2Motifs, all explained test graphs of up to 3,000,000 connected coalitions: model runs (as many nodes as the graph
   has are one run) and CPU time of the exact index of order 2 and 3, against the model asked for each coalition; peak
   memory of the process; and the number of model calls that GraphSHAP-IQ (Muschalik et al. 2025) would need. It
   asks for all coalitions that lie inside the receptive field of some node: sets of nodes that all are within as many
   hops of one node as the model has layers. Each such set is counted once, however many fields it lies in.
2. The same for Mutagenic with up to 10,000,000 coalitions.
3. The exact index of order 2 of a graph of 30 nodes with 10⁷ connected coalitions.
4. The plain call ``mage.explain(model, data)`` on four sets with the paper's masking and output: CPU time and method.
5. 200 orderings of order 3 on an SPMotif graph of 76 nodes, which the default budget ends.
6. The first call in a fresh process, without and with imports: cold, warm, and with a model that sleeps.

The plain loop is timed on a sample of coalitions, its sums are those of the index itself. CPU time is process time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

import mage
from mage import datasets
from mage.games import ModelGame
from mage.graph import packing
from mage.models import authors_checkpoint

SAMPLE = 2_000  # coalitions on which the plain loop is timed
SECTIONS = ("ba_2motifs", "mutagenic", "ten-million", "plain-call", "orderings", "first-call")
# By dataset: most connected coalitions, and what "one by one" must take at least of the CPU time, by order.
LIMITS = {"ba_2motifs": (3_000_000, {2: 8, 3: 5}), "mutagenic": (10_000_000, {2: 25, 3: 25})}
PLAIN_CALL = {"ba_2motifs": 1.5, "ba_house_grid": 1.5, "benzene": 1.0, "mutagenic": 1.0}  # CPU seconds, median

FIRST_CALL = """
import functools, json, sys, time
import torch
import mage
from mage.models.demo import demo_graph, load_demo_model
model, data = load_demo_model(), demo_graph()
if sys.argv[1] == "sleeping":
    inner = model.forward
    model.forward = functools.wraps(inner)(lambda *args, **kwargs: (time.sleep(0.05), inner(*args, **kwargs))[1])
started = time.process_time()
why = mage.explain(model, data)
ended = time.process_time()
print(json.dumps([ended, ended - started, why.interactions.method, why.num_queries]))
"""


def checkpoints() -> Path:
    folder = Path(os.environ.get("MAGE_DATA", "")) / "authors_checkpoints"
    if not folder.is_dir():
        sys.exit("set MAGE_DATA to a folder that holds ba_2motifs, mutagenicity, benzene and authors_checkpoints")
    return folder


def processor_seconds(work) -> tuple[float, object]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def plain_seconds(game: ModelGame, count: int, seed: int = 0) -> float:
    """CPU time of asking for each of ``count`` connected coalitions, from a sample of them."""
    generator = np.random.default_rng(seed)
    share = min(1.0, 4 * SAMPLE / count)
    blocks = (block.members for block in game.graph.blocks())
    members = np.concatenate([block[generator.random(len(block)) < share] for block in blocks])
    members = members[generator.permutation(len(members))[:SAMPLE]]
    # All at once, as the plain loop would: in batches of the size that a game takes.
    masks = packing.unpack(members, game.num_players)
    game.value_fn(masks[:64])
    seconds, _ = processor_seconds(lambda: game.value_fn(masks))
    return seconds / len(masks) * count


def graphshap_iq_calls(data: Data, hops: int) -> int:
    """Subsets of nodes that lie in the receptive field of some node: what GraphSHAP-IQ asks for."""
    n = data.num_nodes
    adjacency = np.zeros((n, n), dtype=bool)
    adjacency[data.edge_index[0], data.edge_index[1]] = True
    field = np.eye(n, dtype=bool)
    for _ in range(hops):
        field |= (field @ (adjacency | adjacency.T)) > 0
    balls = {sum(1 << int(v) for v in np.flatnonzero(row)) for row in field}
    largest = [ball for ball in balls if not any(ball != other and ball & other == ball for other in balls)]

    @cache
    def subsets(node: int, alive: int) -> int:
        """Subsets of the nodes from ``node`` on that fit into one of the balls still alive."""
        if node == n:
            return 1
        inside = sum(1 << b for b, ball in enumerate(largest) if alive >> b & 1 and ball >> node & 1)
        return subsets(node + 1, alive) + (subsets(node + 1, inside) if inside else 0)

    return subsets(0, (1 << len(largest)) - 1)


def explained_games(
    folder: Path, dataset: str, kind: str, most: int, limit: int | None
) -> Iterator[tuple[Data, torch.nn.Module, int]]:
    graphs, model = datasets.load(dataset), authors_checkpoint(folder, dataset, kind)
    for number in graphs.explained(model, limit):
        data = graphs[int(number)]
        count = ModelGame(model, data, masking="split", output="logit").graph.count_connected(cap=most)
        if count <= most:
            yield data, model, count


def verdict(text: str, good: bool) -> None:
    print(f"  {text}: {'yes' if good else 'NO'}", flush=True)


def against_the_plain_loop(folder: Path, dataset: str, kinds: list[str], limit: int | None) -> None:
    most, wanted = LIMITS[dataset]
    if len(kinds) > 1:
        # Each network in a process of its own, so that its peak memory is known.
        for kind in kinds:
            graphs = [] if limit is None else ["--graphs", str(limit)]
            command = [sys.executable, __file__, "--sections", dataset, "--networks", kind, *graphs]
            subprocess.run(command, check=True)  # noqa: S603
        return
    for kind in kinds:
        rows = [index_costs(*case) for case in explained_games(folder, dataset, kind, most, limit)]
        # Before the references are counted, which take memory of their own.
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for row, (data, model, count) in zip(rows, explained_games(folder, dataset, kind, most, limit), strict=True):
            game = ModelGame(model, data, masking="split", output="probability")
            row["plain"] = plain_seconds(game, count)
            row["graphshap-iq"] = graphshap_iq_calls(data, game.num_hops)
        table = {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}
        total = {key: values.sum() for key, values in table.items()}
        print(
            f"{dataset} {kind}: {len(rows)} graphs, {np.median(table['count']):,.0f} connected coalitions in the "
            f"median (most {table['count'].max():,.0f}); states shared on {table['shared'].mean():.0%}\n"
            f"  model runs: {np.median(table['runs']):,.0f} in the median, {table['runs'].max():,.0f} at most\n"
            f"  CPU seconds per graph, median: order 2 {np.median(table['cpu 2']):.2f}, order 3 "
            f"{np.median(table['cpu 3']):.2f}, one by one {np.median(table['plain']):.1f}\n"
            f"  one by one ÷ by states, all graphs together: order 2 {total['plain'] / total['cpu 2']:.1f}x, order 3 "
            f"{total['plain'] / total['cpu 3']:.1f}x; median of graphs: "
            f"{np.median(table['plain'] / table['cpu 2']):.1f}x and {np.median(table['plain'] / table['cpu 3']):.1f}x"
        )
        ratio = table["runs"] / table["graphshap-iq"]
        print(
            f"  GraphSHAP-IQ: {np.median(table['graphshap-iq']):,.0f} model calls in the median; ours are 1/"
            f"{1 / np.median(ratio):,.0f} in the median of graphs\n"
            f"  peak memory of the process {memory:,.0f} MiB"
        )
        for order, factor in wanted.items():
            verdict(f"order {order} at least {factor}x", total["plain"] >= factor * total[f"cpu {order}"])
        if dataset == "ba_2motifs":
            verdict("at most 300 runs in the median, states shared", np.median(table["runs"]) <= 300)
        else:
            verdict("ours at most 1/50 of GraphSHAP-IQ's calls in the median", np.median(ratio) <= 1 / 50)
            verdict("memory below 1 GB", memory * 2**20 < 10**9)


def index_costs(data: Data, model: torch.nn.Module, count: int) -> dict[str, float]:
    """Model runs and CPU seconds of the exact index of order 2 and 3, by states."""
    row: dict[str, float] = {"count": count}
    for order in (2, 3):
        game = ModelGame(model, data, masking="split", output="probability")
        row[f"cpu {order}"], index = processor_seconds(
            lambda game=game, order=order: mage.interactions(game, order=order, method="exact")
        )
        assert index.exact
        row["runs"] = game.num_queries
        row["shared"] = bool(game.states is not None and game.states.num_states)
    return row


def ten_million(folder: Path) -> None:
    model = authors_checkpoint(folder, "ba_2motifs", "gcn")
    for seed in range(1000):
        tree = nx.barabasi_albert_graph(30, 1, seed=seed)
        edges = torch.tensor(list(tree.edges())).T
        data = Data(x=torch.full((30, 10), 0.1), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
        game = ModelGame(model, data, masking="split", output="probability")
        count = game.graph.count_connected(cap=11_000_000)
        if 9_000_000 <= count <= 10_000_000:
            break
    seconds, index = processor_seconds(lambda: mage.interactions(game, order=2, method="exact"))
    print(
        f"30-node BA graph (seed {seed}), {count:,} connected coalitions: exact order 2 in {seconds:.1f} CPU s, "
        f"{index.num_queries:,} model runs"
    )
    verdict("within 30 CPU s", seconds <= 30)


def orderings(folder: Path) -> None:
    graphs, model = datasets.load("spmotif"), authors_checkpoint(folder, "spmotif", "gcn")
    number = next(int(i) for i in graphs.explained(model, None) if graphs[int(i)].num_nodes == 76)
    settings = graphs.settings(number)
    game = ModelGame(model, graphs[number], masking=settings["masking"], output=settings["output"])
    seconds, index = processor_seconds(lambda: mage.interactions(game, order=3, method="permutation", permutations=200))
    print(
        f"200 orderings of order 3, SPMotif graph {number} of 76 nodes: {seconds:.1f} CPU s, {index.num_permutations} "
        f"orderings, {index.num_queries:,} model runs, ended by {index.stopped or 'nothing'}"
    )
    verdict("ended by the default budget", index.stopped == "budget")


def plain_call(folder: Path, limit: int | None) -> None:
    for dataset, wanted in PLAIN_CALL.items():
        graphs = datasets.load(dataset)
        for kind in ("gcn", "gin"):
            model = authors_checkpoint(folder, dataset, kind)
            seconds, methods, exact = [], {}, []
            for number in graphs.explained(model, limit or 30):
                settings = graphs.settings(int(number))
                settings_of_paper = {"masking": settings["masking"], "output": settings["output"]}
                data = graphs[int(number)]
                cost, why = processor_seconds(
                    lambda model=model, data=data, settings_of_paper=settings_of_paper: mage.explain(
                        model, data, **settings_of_paper
                    )
                )
                seconds.append(cost)
                methods[why.interactions.method] = methods.get(why.interactions.method, 0) + 1
                exact.append(why.interactions.exact)
            print(
                f"mage.explain, {dataset} {kind}: {np.median(seconds):.2f} CPU s in the median, {max(seconds):.1f} at "
                f"most, {len(seconds)} graphs, order {why.interactions.order}; exact on {np.mean(exact):.0%} "
                f"({methods})"
            )
            verdict(f"at most {wanted} CPU s in the median", np.median(seconds) <= wanted)


def first_call() -> None:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
        calls = {}
        for case in ("cold", "warm", "sleeping"):
            command = [sys.executable, "-c", FIRST_CALL, case]
            out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
            whole, seconds, method, queries = json.loads(out.stdout.strip().splitlines()[-1])
            print(
                f"first call, {case}: {seconds:.1f} CPU s, {whole:.1f} with all imports, method {method}, "
                f"{queries:,} queries"
            )
            calls[case] = (seconds, method, queries)
        verdict("at most 7 CPU s cold", calls["cold"][0] <= 7)
        verdict("the same method and number of queries", len({call[1:] for call in calls.values()}) == 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, help="only the first so many of each set")
    parser.add_argument("--sections", nargs="*", default=SECTIONS, choices=SECTIONS)
    parser.add_argument("--networks", nargs="*", default=["gcn", "gin"], help="of the first two sections")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    folder = checkpoints()
    # The kernels are compiled before anything is timed.
    small = Data(x=torch.ones(12, 10), edge_index=torch.tensor([[*range(11)], [*range(1, 12)]]))
    for order in (2, 3):
        warm = ModelGame(authors_checkpoint(folder, "ba_2motifs", "gcn"), small, masking="split", output="probability")
        mage.interactions(warm, order=order, method="exact")
    for dataset in LIMITS:
        if dataset in arguments.sections:
            against_the_plain_loop(folder, dataset, arguments.networks, arguments.graphs)
    if "ten-million" in arguments.sections:
        ten_million(folder)
    if "plain-call" in arguments.sections:
        plain_call(folder, arguments.graphs)
    if "orderings" in arguments.sections:
        orderings(folder)
    if "first-call" in arguments.sections:
        first_call()


if __name__ == "__main__":
    main()
