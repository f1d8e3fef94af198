"""The page "Reproduction": all tables, ours beside the paper's, made from finished results alone."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from importlib import resources

from mage import datasets
from mage.experiments.all_tables import AllTables, CellStatus, by_method, load_tables, method_name
from mage.experiments.cells import Cell, make_cell
from mage.experiments.pages.blocks import Block, Heading, Illustration, Listing, Paragraph, TextTable
from mage.experiments.pages.plots import dot_plot, frontier_plot, rank_plot
from mage.experiments.pages.ranking import Place, costs, is_black_box, places, quality, ranks
from mage.experiments.records import Record
from mage.experiments.spec import Column, Experiment, Method
from mage.metrics import find_metric

TITLE = "Reproduction"
COMMAND = "mage report results --markdown docs/reproduction.md --output reproduction.html"
_PLAIN, _PAPERS = "mage-plain", "mage"
_OURS = (_PLAIN, "mage-open", "mage-open-logit")
_LARGE = 0.1
_COMPARED = ("single-motif", "multi-motif")
_STANDING = (*_COMPARED, "carbonyls", "node-motifs")  # also cells that the paper does not have


def reproduction(records: Sequence[Record], tables: AllTables | None = None) -> list[Block]:
    """The blocks of the page.

    Args:
        records: What a store holds.
        tables: The tables; by default all that come with the library.
    """
    tables = tables or load_tables()
    cells = {experiment.name: table_cells(experiment, tables, records) for experiment in tables.experiments}
    statuses = tables.status(records)
    return [
        *_summary(cells, statuses),
        *_comparison([cell for name in _COMPARED for cell in cells.get(name, [])]),
        *(block for experiment in tables.experiments for block in _section(experiment, cells[experiment.name])),
        *_differences([cell for table in cells.values() for cell in table]),
        *_missing(statuses),
    ]


def table_cells(experiment: Experiment, tables: AllTables, records: Sequence[Record]) -> list[Cell]:
    """All cells of an experiment, with results or without."""
    groups = by_method(records)
    wanted = {cell.name: cell.wanted for cell in tables.cells}
    cells = []
    for column in experiment.columns:
        for method in experiment.methods:
            name = method_name(column, method)
            results = groups.get(name, [])
            cells += [
                make_cell(experiment, column, method, metric, results, expected=wanted.get(name, 0))
                for metric in column.metrics
            ]
    return cells


def _summary(cells: dict[str, list[Cell]], statuses: Sequence[CellStatus]) -> Iterator[Block]:
    finished = sum(status.is_finished for status in statuses)
    started = sum(0 < status.finished < status.cell.wanted for status in statuses)
    yield Paragraph(
        f"All tables of the paper, computed by this library on the networks of the paper's authors (on ours for text, "
        f"images and the sets that the paper does not have), from the records in `results`. {finished} of "
        f"{len(statuses)} cells are finished ({100 * finished / len(statuses):.0f} %), {started} rest on fewer graphs "
        f"than planned. `mage benchmark --all-tables --status` lists what is missing, the same command "
        f"without `--status` computes it, and `{COMMAND}` makes this page again."
    )
    compared = [cell for name in _STANDING for cell in cells.get(name, [])]
    columns = quality(compared)
    methods = {cell.method.name: cell.method for cell in compared}
    rivals = {name for name, method in methods.items() if name not in _OURS and is_black_box(method)}
    plain_places = places(columns, _PLAIN, rivals)
    lines = []
    if plain_places:
        first = [place for place in plain_places if place.is_first]
        lines.append(
            f"The plain call is first, or within one standard error of the first, in {len(first)} of "
            f"{len(plain_places)} cells among the methods that treat the model as a black box."
            + (f" In {waiting} cells it has not been run yet." if (waiting := _not_run(compared)) else "")
        )
        lines += [f"Not there: {_place_text(place)}." for place in plain_places if not place.is_first]
        with_paper = [place.cell for place in plain_places if _paper_mage(columns, place) is not None]
        below = [cell for cell in with_paper if _value(cell) < (_paper_mage_of(columns, cell) or -math.inf) - 5e-4]
        lines.append(
            f"It reaches the paper's figure of MAGE in {len(with_paper) - len(below)} of {len(with_paper)} cells."
        )
        lines += [
            f"Below the paper's MAGE: {_title(cell)}, {cell.ours_text} against {_paper_mage_of(columns, cell):.3f}."
            for cell in below
        ]
    else:
        lines.append("The plain call has not been run yet.")
    lines += _white_box_lines(columns, methods)
    yield Listing(tuple(lines))


def _not_run(cells: Sequence[Cell]) -> int:
    """Number of columns in which the plain call has no result yet."""
    return sum(
        cell.ours is None for cell in cells if cell.method.name == _PLAIN and cell.metric == cell.column.metrics[0]
    )


def _white_box_lines(columns: dict[tuple[str, str], dict[str, Cell]], methods: dict[str, Method]) -> Iterator[str]:
    """Where a method that looks inside the model is better than the best of MAGE."""
    inside = {name for name, method in methods.items() if not is_black_box(method)}
    for by_name in columns.values():
        mage = [cell for name, cell in by_name.items() if name in {_PLAIN, _PAPERS}]
        others = [cell for name, cell in by_name.items() if name in inside]
        if mage and others and _value(best := max(others, key=_value)) > _value(ours := max(mage, key=_value)) + 5e-4:
            yield (
                f"{best.title}, which uses the inside of the model, is ahead on {_title(best)}: {best.ours_text} "
                f"against {ours.ours_text} of {ours.title}."
            )


def _comparison(cells: Sequence[Cell]) -> Iterator[Block]:
    """Ranks over all cells, and what quality costs."""
    columns = quality(cells)
    if not columns:
        return
    titles = {cell.method.name: cell.title for cell in cells}
    # A method that has hardly been run would leave few columns to compare.
    methods = [name for name in titles if 2 * sum(name in by_name for by_name in columns.values()) >= len(columns)]
    yield Heading("All methods over all cells")
    if (mean_ranks := ranks(columns, methods)) is not None:
        yield Paragraph(
            f"Mean ranks of the methods that were run on at least half of the datasets and networks, over the "
            f"{mean_ranks.columns} that have figures for all of them. Mean ranks that are closer than the critical "
            f"difference could differ by chance."
        )
        yield Illustration(
            "ranks", rank_plot(mean_ranks, titles), "Mean ranks of the methods with the critical difference"
        )
    for metric, heading in (("queries", "queries of the model"), ("cpu_seconds", "CPU seconds per graph")):
        points = costs(cells, methods, metric)
        if points:
            frontier = ", ".join(titles[cost.method] for cost in points if cost.on_frontier)
            yield Paragraph(
                f"Mean F1 or AMI against {heading} (geometric mean over the same cells). No method is better at no "
                f"higher cost than {frontier}. Training of methods that learn is not counted."
            )
            yield Illustration(
                f"frontier_{metric}", frontier_plot(points, titles, heading), f"Quality against {heading}"
            )


def _section(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[Block]:
    numbers = " and ".join(str(number) for number in experiment.tables)
    of_paper = f" (table{'s' if len(experiment.tables) > 1 else ''} {numbers} of the paper)" if numbers else ""
    yield Heading(f"{experiment.title}{of_paper}")
    first = [cell for cell in cells if cell.metric == cell.column.metrics[0]]
    if any(cell.ours is not None for cell in first) and find_metric(first[0].metric).scale == "unit":
        titles = {cell.column.dataset: _dataset_title(cell.column.dataset) for cell in first}
        for place, models in enumerate(_chunks(list(dict.fromkeys(cell.column for cell in first)), 4)):
            shown = [cell for cell in first if cell.column in models]
            if any(cell.ours is not None for cell in shown):
                name = f"dots_{experiment.name}_{place + 1}"
                text = f"{experiment.title}: dots are ours with the standard error, diamonds the paper's"
                yield Illustration(name, dot_plot(shown, titles), text)
    for metric in dict.fromkeys(cell.metric for cell in cells):
        yield from _metric_table(metric, [cell for cell in cells if cell.metric == metric])


def _metric_table(metric: str, cells: Sequence[Cell]) -> Iterator[Block]:
    columns = list(dict.fromkeys(cell.column for cell in cells))
    kind = find_metric(metric)
    yield Heading(kind.heading, 3)
    by_place = {(cell.column, cell.method.name): cell for cell in cells}
    header = ("method", *(f"{_dataset_title(column.dataset)}, {column.model}" for column in columns))
    rows = []
    for method in dict.fromkeys(cell.method.name for cell in cells):
        line = [by_place.get((column, method)) for column in columns]
        title = next(cell.title for cell in line if cell is not None)
        rows.append((title, *("" if cell is None else _text(cell) for cell in line)))
    yield TextTable(header, tuple(rows))


def _text(cell: Cell) -> str:
    """Our figure, a mark where it is not the paper's, the paper's figure, and the number of graphs if it is small."""
    if cell.ours is None:
        beside = f" ({cell.paper_text})" if cell.paper is not None else ""
        return (cell.gap if cell.gap != "not run yet" else "–") + beside
    text = cell.ours_text
    if cell.paper is not None:
        text += f"{mark(cell)} ({cell.paper_text})"
    if cell.results < cell.expected or cell.ours.undefined:
        text += f", n = {cell.ours.count}"
    return text


def mark(cell: Cell) -> str:
    """▲ or ▼ where our figure differs from the paper's by more than two standard errors."""
    if cell.difference is None or cell.ours is None or cell.kind.scale == "log" or math.isnan(cell.ours.std_error):
        return ""
    # The paper prints no errors, so ours is the only one. A figure without spread is compared with three digits.
    if abs(cell.difference) <= max(2 * cell.ours.std_error, 5e-4):
        return ""
    return " ▲" if cell.difference > 0 else " ▼"


def _differences(cells: Sequence[Cell]) -> Iterator[Block]:
    """What differs by more than 0.1, with the reason."""
    large: dict[str, list[Cell]] = {}
    seen = set()
    for cell in cells:
        name = (cell.column.dataset, cell.column.model, cell.method.name, cell.metric)
        far = cell.difference is not None and abs(cell.difference) > _LARGE and cell.kind.scale != "log"
        if far and mark(cell) and name not in seen:
            seen.add(name)
            large.setdefault(cell.title, []).append(cell)
    yield Heading("Differences of more than 0.1, and why")
    yield Paragraph(
        "▲ and ▼ mark figures that differ from the paper's by more than two standard errors of ours; the paper prints "
        "no errors. Below are those that differ by more than 0.1 as well, with what is known to differ between our "
        "method and the paper's code. That this alone makes the difference was not measured."
    )
    lines = []
    for title, group in large.items():
        figures = ", ".join(f"{_title(cell)} {cell.kind.title} {_signed(cell.difference or 0.0)}" for cell in group)
        lines.append(f"{title}: {figures}. {reason(group[0].method.name)}")
    yield Listing(tuple(lines) or ("none",))


def _missing(statuses: Sequence[CellStatus]) -> Iterator[Block]:
    missing = [status for status in statuses if not status.is_finished]
    yield Heading("What is missing")
    if not missing:
        yield Paragraph("Nothing.")
        return
    groups: dict[tuple[str, str], list[str]] = {}
    for status in missing:
        dataset, model, method, _ = status.cell.name
        groups.setdefault((dataset, model), []).append(f"{method} {status.finished} of {status.cell.wanted}")
    yield Listing(tuple(f"{dataset}, {model}: {', '.join(items)}" for (dataset, model), items in groups.items()))


def reason(method: str) -> str:
    """Why figures of a method differ from the paper's."""
    reasons = tomllib.loads(resources.files("mage.experiments").joinpath("reasons.toml").read_text())
    return str(reasons.get(method, "The reason has not been found."))


def _paper_mage(columns: dict[tuple[str, str], dict[str, Cell]], place: Place) -> float | None:
    return _paper_mage_of(columns, place.cell)


def _paper_mage_of(columns: dict[tuple[str, str], dict[str, Cell]], cell: Cell) -> float | None:
    """The paper's own figure of MAGE for the column of a cell."""
    other = columns[cell.column.dataset, cell.column.model].get(_PAPERS)
    return None if other is None else other.paper


def _place_text(place: Place) -> str:
    return f"{_title(place.cell)}, {place.cell.ours_text} against {place.best.ours_text} of {place.best.title}"


def _title(cell: Cell) -> str:
    return f"{_dataset_title(cell.column.dataset)} {cell.column.model.upper()}"


def _dataset_title(name: str) -> str:
    return datasets.info(name).title if name in datasets.names() else name


def _value(cell: Cell) -> float:
    return -math.inf if cell.ours is None else cell.ours.mean


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _chunks(items: list[Column], size: int) -> list[list[Column]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
