"""Files that are cut off or changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

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

Damage = Callable[[Path, np.random.Generator], None]
"""Damages a file, at random."""

_FOUND = "it is found, set aside and computed again; the others stay usable"


def _cut(path: Path, generator: np.random.Generator) -> None:
    """Cut a file off at a random place."""
    content = path.read_bytes()
    path.write_bytes(content[: int(generator.integers(len(content)))])


def _change(path: Path, generator: np.random.Generator) -> None:
    """Change a bit of a file."""
    content = bytearray(path.read_bytes())
    content[int(generator.integers(len(content)))] ^= 1 << int(generator.integers(8))
    path.write_bytes(content)


def _replace(path: Path, generator: np.random.Generator) -> None:
    """Put something else in the place of a file, in part or as a whole."""
    content = path.read_bytes()
    start, end = sorted(generator.choice(len(content), size=2, replace=False).tolist())
    kind = int(generator.integers(8))
    if kind < 4:
        bad = [
            b"",
            bytes(len(content)),
            content[:start] + bytes(len(content) - start),
            content[:start] + generator.bytes(end - start) + content[end:],
        ][kind]
        path.write_bytes(bad)
        return
    path.unlink()
    if kind == 4:
        path.mkdir()
    elif kind == 5:
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == 6 else path.name)


def _damage_parts(trials: Trials, damage: Damage) -> Iterator[str]:
    plan, folder, generator = small_plan(), trials.folder, trials.generator
    run_small_plan(folder, plan=plan)
    expected = plan_results(plan, folder)
    store = Store(folder)
    for _ in range(trials.count):
        path = store.path(str(generator.choice(sorted(expected))))
        damage(path, generator)
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
    yield from _damage_parts(trials, _cut)


@fault("a bit of a part of a store changed", "no record ever differs: the part reads as before, or is set aside", 40, 6)
def changed_parts(trials: Trials) -> Iterator[str]:
    yield from _damage_parts(trials, _change)


@fault("a part of a store replaced by zeros, random bytes, a folder, a pipe or a link", _FOUND, tries=40, short=6)
def replaced_parts(trials: Trials) -> Iterator[str]:
    yield from _damage_parts(trials, _replace)


def _damage_explanations(trials: Trials, damage: Damage) -> Iterator[str]:
    corpus, folder, generator = small_corpus(graphs=6), trials.folder, trials.generator
    run_small_corpus(folder, corpus=corpus)
    expected = corpus_results(folder)
    for _ in range(trials.count):
        path = folder / f"{generator.choice(sorted(expected))}.mage"
        damage(path, generator)
        run_small_corpus(folder, corpus=corpus)
        yield difference(expected, corpus_results(folder), expected)


@fault("an explanation cut off at a random place", _FOUND, tries=40, short=6)
def cut_explanations(trials: Trials) -> Iterator[str]:
    yield from _damage_explanations(trials, _cut)


@fault("a bit of an explanation changed", _FOUND, tries=40, short=6)
def changed_explanations(trials: Trials) -> Iterator[str]:
    yield from _damage_explanations(trials, _change)


@fault("an explanation replaced by zeros, random bytes, a folder, a pipe or a link", _FOUND, tries=40, short=6)
def replaced_explanations(trials: Trials) -> Iterator[str]:
    yield from _damage_explanations(trials, _replace)
