"""Motif search against the textbook formulation: ``python benchmarks/motifs.py [--quick]``.

Problems come from the real Myerson-Taylor index of fixed-weight GCN and GIN models. For each row the table has the
median and the largest seconds of ``find_motifs``, how many answers are proven, our own integer programme on the same
HiGHS (solver nodes limited), and the textbook motif-indexed linearisation, which is stopped after some seconds. Rows
of order 2 have the paper's objective without a noise floor, as the textbook programme has; those of order 3 have the
objective of the plain call, which that programme cannot have.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import textbook_motifs
from motif_instances import ORDER_3, ROWS, Row, instances

from mage import Interactions, MotifSet, find_motifs

SEEDS = range(3)
REFERENCE_INSTANCES = 4
REFERENCE_SECONDS = 10.0
PAPERS = {"objective": "paper", "noise_floor": 0.0}


def timed(index: Interactions, row: Row, tau: float, **options: object) -> tuple[float, MotifSet]:
    start = time.perf_counter()
    result = find_motifs(index, num_motifs=row.num_motifs, max_nodes=row.max_nodes, tau=tau, **options)
    return time.perf_counter() - start, result


def line(row: Row, problems: list[Interactions], tau: float, quick: bool) -> bool:
    goal = 0.3 if tau in (0.0, 1.0) else 3.0
    options = PAPERS if row.order == 2 else {}
    runs = [timed(index, row, tau, **options) for index in problems]
    seconds = [run[0] for run in runs]
    median = statistics.median(seconds)
    proven = sum(run[1].optimal for run in runs)
    sample = problems[: 1 if quick else REFERENCE_INSTANCES]
    programme = [timed(index, row, tau, solver="milp", node_limit=20, **options) for index in sample]
    good = proven == len(runs) and median <= goal
    for (_, ours), (_, theirs) in zip(runs, programme, strict=False):
        if theirs.optimal and ours.optimal:
            assert abs(ours.objective - theirs.objective) <= 1e-5 * max(1e-9, abs(theirs.objective)), (ours, theirs)
    text = (
        f"{row.name:28s} τ {tau:<4g}{proven:3d}/{len(runs):<3d} {median:8.4f} {max(seconds):8.4f}   "
        f"{statistics.median(run[0] for run in programme):8.3f} {sum(r.optimal for _, r in programme)}/{len(programme)}"
    )
    if row.order == 2:
        against, better = textbook(row, sample, runs, tau, 5.0 if quick else REFERENCE_SECONDS)
        text, good = f"{text}   {against}", good and better
    print(f"{text}   {'yes' if good else 'NO'}", flush=True)
    return good


def textbook(
    row: Row, problems: list[Interactions], runs: list[tuple[float, MotifSet]], tau: float, limit: float
) -> tuple[str, bool]:
    """The textbook programme on the same problems: what it took, and whether ours is 20 times as fast."""
    answers = [textbook_motifs.solve(index, row.num_motifs, row.max_nodes, tau, limit) for index in problems]
    for (_, ours), theirs in zip(runs, answers, strict=False):
        if theirs.proven and ours.optimal:
            assert abs(ours.objective - theirs.objective) <= 1e-5 * max(1e-9, abs(theirs.objective)), (ours, theirs)
    median = statistics.median(answer.seconds for answer in answers)
    ratio = median / statistics.median(run[0] for run in runs[: len(problems)])
    unproven = sum(not answer.proven for answer in answers)
    text = f"{median:8.2f} {len(problems) - unproven}/{len(problems)}  {'≥' if unproven else ' '}{ratio:8.0f}×"
    return text, ratio >= 20 or unproven == len(answers)


def main() -> None:
    quick = "--quick" in sys.argv
    print(f"{'':28s}        find_motifs: proven, median s, max s   our MILP: s, proven   textbook: s, proven, ratio")
    good = True
    for row in (*ROWS, *ORDER_3):
        problems = list(instances(row, range(1) if quick else SEEDS))
        find_motifs(problems[0], max_nodes=2)  # compile
        for tau in (1.0, 0.5):
            good &= line(row, problems, tau, quick)
    print(
        "all proven, median ≤ 0.3 s (one sign) and ≤ 3 s (mixed), ≥ 20× or textbook unproven:", "yes" if good else "NO"
    )


if __name__ == "__main__":
    main()
