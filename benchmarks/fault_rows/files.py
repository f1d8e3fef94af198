"""Files that are cut off or changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fault_rows import Trials, fault
from fault_rows.small_work import (
    corpus_results,
    difference,
    plan_results,
    run_small_corpus,
    run_small_plan,
    small_corpus,
    small_plan,
)
from mage.experiments import Store

_FOUND = "it is found, set aside and computed again; the others stay usable"


def _damaged(content: bytes, generator: np.random.Generator, cut: bool) -> bytes:
    """Bytes that are cut off at a random place, or of which one has changed."""
    place = int(generator.integers(len(content)))
    if cut:
        return content[:place]
    changed = bytearray(content)
    changed[place] ^= 1 << int(generator.integers(8))
    return bytes(changed)


def _damage_parts(trials: Trials, cut: bool) -> Iterator[str]:
    plan, folder, generator = small_plan(), trials.folder, trials.generator
    run_small_plan(folder, plan=plan)
    expected = plan_results(plan, folder)
    store = Store(folder)
    for _ in range(trials.count):
        path = store.path(str(generator.choice(sorted(expected))))
        content = path.read_bytes()
        path.write_bytes(_damaged(content, generator, cut))
        # One that reads as before is not damaged; anything else must be noticed by whoever looks.
        others = {name: value for name, value in plan_results(plan, folder).items() if name != path.stem}
        count = store.query("SELECT count(*) AS n FROM records")[0]["n"]
        loss = difference(expected, others, set(expected) - {path.stem})
        if count < len(expected) - 1:
            loss = loss or f"a query sees {count} of {len(expected)} records"
        run_small_plan(folder, plan=plan)
        yield loss or difference(expected, plan_results(plan, folder), expected)


@fault("a part of a store cut off at a random place", _FOUND, tries=40, short=6)
def cut_parts(trials: Trials) -> Iterator[str]:
    yield from _damage_parts(trials, cut=True)


@fault("a bit of a part of a store changed", "no record ever differs: the part reads as before, or is set aside", 40, 6)
def changed_parts(trials: Trials) -> Iterator[str]:
    yield from _damage_parts(trials, cut=False)


def _damage_explanations(trials: Trials, cut: bool) -> Iterator[str]:
    corpus, folder, generator = small_corpus(graphs=6), trials.folder, trials.generator
    run_small_corpus(folder, corpus=corpus)
    expected = corpus_results(folder)
    for _ in range(trials.count):
        path = folder / f"{generator.choice(sorted(expected))}.mage"
        path.write_bytes(_damaged(path.read_bytes(), generator, cut))
        run_small_corpus(folder, corpus=corpus)
        yield difference(expected, corpus_results(folder), expected)


@fault("an explanation cut off at a random place", _FOUND, tries=40, short=6)
def cut_explanations(trials: Trials) -> Iterator[str]:
    yield from _damage_explanations(trials, cut=True)


@fault("a bit of an explanation changed", _FOUND, tries=40, short=6)
def changed_explanations(trials: Trials) -> Iterator[str]:
    yield from _damage_explanations(trials, cut=False)
