"""A whole run as one page: a folder of explanations, a store of benchmark results, or both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mage.experiments.pages.benchmark import benchmark_page, benchmark_sections, benchmark_style
from mage.experiments.pages.stored_cells import read_parts, result_files
from mage.report.corpus import corpus_page
from mage.report.corpus.entries import read_entries


@dataclass(frozen=True)
class RunPage:
    """The page of a run, and what it was made of.

    Attributes:
        text: The HTML file.
        explanations: Number of explanations in it.
        results: Number of benchmark records in it.
        skipped: Files that could not be read, with the reason.
    """

    text: str
    explanations: int
    results: int
    skipped: tuple[tuple[str, str], ...]


def run_page(folder: str | Path, title: str = "") -> RunPage:
    """The page of all that a folder holds.

    Args:
        folder: Explanations of ``mage explain --all`` or :func:`mage.explain_many` (``*.mage``), the store of
            ``mage benchmark`` (``parts/*.parquet``, ``packs/*.parquet``), or both.
        title: Heading of the page; by default the dataset and the model.

    Raises:
        ValueError: If there is neither, or if no file could be read.
    """
    run = Path(folder)
    if not run.is_dir():
        raise ValueError(f"run: the folder {run} does not exist")
    files = sorted(run.glob("*.mage"))
    parts = result_files(run)
    if not files and not parts:
        raise ValueError(
            f"run: {run} holds neither explanations (*.mage) nor benchmark results (parts/*.parquet); "
            f"make some with `mage explain --dataset mutagenic --all --folder {run}` or `mage benchmark --store {run}`"
        )
    entries, skipped = read_entries(files)
    records: list[dict[str, Any]] = []
    damaged: list[tuple[str, str]] = []
    if parts:
        records, damaged = read_parts(parts)
    if not entries and not records:
        name, reason = (skipped + damaged)[0]
        raise ValueError(f"run: none of the {len(files) + len(parts)} files in {run} can be read; {name}: {reason}")
    if not entries:
        text = benchmark_page(records, damaged, title)
    elif not records and not damaged:
        text = corpus_page(entries, skipped, title)
    else:
        text = corpus_page(entries, skipped, title, benchmark_sections(records, damaged), [benchmark_style()])
    return RunPage(text, len(entries), len(records), tuple(skipped + damaged))
