"""``mage benchmark``: the paper's tables, ours beside."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mage._core.optional import require
from mage.cli._app import app, cli_errors
from mage.cli._options import check_files, checked_seeds, report_failures

if TYPE_CHECKING:
    from mage.experiments import Plan, Store


_FORMS = {".md": "markdown", ".csv": "csv", ".tex": "latex", ".html": "html"}


def _names(text: str | None) -> list[str] | None:
    return text.split(",") if text and text != "all" else None


@app.command()
def benchmark(
    experiment: Annotated[
        str | None, typer.Argument(help="Name of an experiment, or a .toml file of one's own.")
    ] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these, with commas between.")] = None,
    models: Annotated[str | None, typer.Option(help="Only these, with commas between.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these, with commas between.")] = None,
    graphs: Annotated[int | None, typer.Option(help="Only the first so many graphs of each dataset.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds of the explainers, with commas between.")] = None,
    checkpoints: Annotated[Path | None, typer.Option(help="The paper's checkpoints instead of our zoo.")] = None,
    trained: Annotated[Path | None, typer.Option(help="A folder of mage train instead of our zoo.")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder with published files; MAGE_DATA by default.")] = None,
    store: Annotated[Path, typer.Option(help="Folder of finished results.")] = Path("mage-results"),
    engine: Annotated[str, typer.Option(help="local, ray or serial.")] = "local",
    workers: Annotated[int | None, typer.Option(help="Processes or tasks at a time; one a core by default.")] = None,
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster.")] = None,
    gpus: Annotated[float, typer.Option(help="GPUs for each Ray task.")] = 0.0,
    batch: Annotated[int, typer.Option(help="Graphs in a batch, which is what is kept at a time.")] = 4,
    timeout: Annotated[
        float | None, typer.Option(help="Most seconds for a graph; one that takes longer has failed.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try graphs again that failed before.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Say what is finished; compute nothing.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write the table: .md, .csv, .tex or .html.")] = None,
    permutations: Annotated[
        int | None, typer.Option(help="Orderings for each index, in experiments that set them for all methods.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the graphs or images; compute nothing.")] = False,
) -> None:
    """Run an experiment: only what is missing in the store is computed. Without a name: list the experiments.

    Exit codes: 0 for a table, 1 for a failure, 2 for wrong arguments, 3 where some graphs or images failed.
    """
    console = Console()
    with cli_errors():
        require("torch_geometric", "pyg")
        from mage import experiments

        if experiment is None:
            if status:
                _say_contents(console, experiments.open_store(store))
            for name in [] if status else experiments.experiment_names():
                console.print(f"{name}: {experiments.load_experiment(name).title}", highlight=False)
            return
        _check_options(graphs, batch, export)
        chosen = experiments.load_experiment(experiment).restricted(
            _names(datasets), _names(models), _names(methods), checked_seeds(seeds)
        )
        if permutations is not None:
            chosen = replace(chosen, settings={**chosen.settings, "permutations": permutations})
        machine = experiments.make_engine(engine, workers, address, gpus, timeout)
        if not status and not listed:
            machine.prepare()
        plan = experiments.make_plan(chosen, experiments.Inputs(root, checkpoints, trained), graphs, batch)
        if listed:
            _say_listing(console, plan)
            return
        results = experiments.open_store(store)
        if status:
            _say_status(console, plan, results)
            return
        experiments.run_plan(plan, results, machine, retry_failed=retry_failed)
        _say_results(console, plan, results, export)
        report_failures([_failure_line(record) for record in plan.failures(results)])


def _check_options(graphs: int | None, batch: int, export: Path | None) -> None:
    check_files(export=export)
    if export is not None and export.suffix not in _FORMS:
        raise ValueError(f"--export: {export.name} must end in {', '.join(_FORMS)}")
    for option, number in (("--graphs", graphs), ("--batch", batch)):
        if number is not None and number < 1:
            raise ValueError(f"{option} must be at least 1, got {number}")


def _say_contents(console: Console, results: Store) -> None:
    """What a store holds, whatever experiments it is from."""
    if not any(results.parts.glob("*.parquet")):
        console.print("nothing finished yet")
        return
    sql = "SELECT dataset, model, method, count(*) AS n FROM records GROUP BY ALL ORDER BY ALL"
    for row in results.query(sql):
        console.print(f"{row['dataset']} {row['model']} {row['method']}: {row['n']} results", highlight=False)


def _say_listing(console: Console, plan: Plan) -> None:
    for table in plan.procedure.listing():
        console.print(table)
    _say_gaps(console, plan)


def _say_status(console: Console, plan: Plan, results: Store) -> None:
    missing = plan.count(plan.missing(results))
    failed = Counter((record["dataset"], record["model"], record["method"]) for record in plan.failures(results))
    for name, every in plan.count(plan.batches).items():
        done, bad = every - missing.get(name, 0), failed.get(name, 0)
        failures = f", {bad} failed" if bad else ""
        console.print(f"{' '.join(name)}: {done} of {every} {plan.procedure.items}{failures}", highlight=False)
    _say_gaps(console, plan)


def _failure_line(record: dict[str, Any]) -> str:
    item = f"graph {record['graph']}" if record["image"] is None else record["image"]
    return f"{record['dataset']} {record['model']} {record['method']}, {item}: {record['error']}"


def _say_gaps(console: Console, plan: Plan) -> None:
    for name, reason in plan.gaps.items():
        console.print(f"{' '.join(name)}: {reason}", highlight=False, markup=False)


def _say_results(console: Console, plan: Plan, results: Store, export: Path | None) -> None:
    """The tables of an experiment, on the terminal and in a file."""
    from mage import experiments
    from mage._core.files import atomic_path

    table = experiments.cells(plan, results)
    for rich_table in experiments.rich_tables(table, plan.procedure.items):
        console.print(rich_table)
    for rich_table in plan.procedure.comparisons(plan.records(results)):
        console.print(rich_table)
    for line in plan.procedure.remarks():
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if export is not None:
        with atomic_path(export) as unfinished:
            unfinished.write_text(experiments.export(table, _FORMS[export.suffix], plan.experiment.title))
        console.print(f"wrote {export}", soft_wrap=True, markup=False, highlight=False)
