"""``mage benchmark``: the paper's tables beside ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mage._core.optional import require
from mage.cli._app import announce, app, cli_errors, print_json, say_written
from mage.cli._console import SafeConsole
from mage.cli._options import CHOICE, MODEL, RESULTS, RUN, check_files, checked_seeds, flag, option, report_failures
from mage.cli._results import AsJson
from mage.cli._tables import default_store, run_tables, say_tables_status

if TYPE_CHECKING:
    from mage.experiments import Plan, Store


_FORMS = {".md": "markdown", ".csv": "csv", ".tex": "latex", ".html": "html"}


def _names(text: str | None) -> list[str] | None:
    return text.split(",") if text and text != "all" else None


@app.command()
def benchmark(
    experiment: Annotated[
        str | None, typer.Argument(help="Name of an experiment, or a .toml file; without it, experiments are listed.")
    ] = None,
    all_tables: Annotated[
        bool, flag(CHOICE, "All tables of the paper and of the documentation.", "--all-tables")
    ] = False,
    datasets: Annotated[str | None, option(CHOICE, "Only these, separated by commas.")] = None,
    models: Annotated[str | None, option(CHOICE, "Only these, separated by commas.")] = None,
    methods: Annotated[str | None, option(CHOICE, "Only these, separated by commas.")] = None,
    graphs: Annotated[int | None, option(CHOICE, "Only this many graphs of each dataset, the first ones.")] = None,
    seeds: Annotated[str | None, option(CHOICE, "Seeds of the explainers, separated by commas.")] = None,
    permutations: Annotated[int | None, option(CHOICE, "Orderings per index, where an experiment sets them.")] = None,
    checkpoints: Annotated[Path | None, option(MODEL, "Use the paper's checkpoints, not those of the library.")] = None,
    trained: Annotated[Path | None, option(MODEL, "Use a folder of mage train instead.")] = None,
    root: Annotated[Path | None, option(MODEL, "Folder with published files; MAGE_DATA by default.")] = None,
    store: Annotated[
        Path | None,
        option(RUN, "Folder of finished results; by default mage-results, for --all-tables results if there is one."),
    ] = None,
    engine: Annotated[str, option(RUN, "local, ray or serial.")] = "local",
    workers: Annotated[int | None, option(RUN, "Processes or tasks at the same time; one per core by default.")] = None,
    address: Annotated[str | None, option(RUN, "Address of a Ray cluster.")] = None,
    gpus: Annotated[float, option(RUN, "GPUs for each Ray task.")] = 0.0,
    batch: Annotated[int, option(RUN, "Graphs in a batch; results are saved batch by batch.")] = 4,
    timeout: Annotated[
        float | None, option(RUN, "Time limit for a graph in seconds; a graph that takes longer counts as failed.")
    ] = None,
    retry_failed: Annotated[bool, flag(RUN, "Try again graphs that failed before.", "--retry-failed")] = False,
    status: Annotated[bool, flag(RESULTS, "Print what is finished; compute nothing.", "--status")] = False,
    listed: Annotated[bool, flag(RESULTS, "List the graphs or images; compute nothing.", "--list")] = False,
    export: Annotated[Path | None, option(RESULTS, "Write the table to this .md, .csv, .tex or .html file.")] = None,
    pack: Annotated[
        bool, flag(RESULTS, "Put finished results into one file for each dataset, at the end.", "--pack")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of the paper, or your own: only what is missing in the store is computed."""
    console = SafeConsole(stderr=as_json)
    store = store or default_store(all_tables)
    with cli_errors(f"interrupted; finished results are kept in {store}, and the same command resumes"):
        from mage import experiments

        if all_tables:
            _refuse_choice(experiment=experiment, graphs=graphs, seeds=seeds)
            tables = experiments.load_tables().restricted(_names(datasets), _names(models), _names(methods))
            results = experiments.open_store(store)
            if not status:
                machine = experiments.make_engine(engine, workers, address, gpus, timeout)
                run_tables(console, tables, results, machine, (root, checkpoints), retry_failed)
            if pack:
                results.pack()
            say_tables_status(console, tables, results, as_json)
            return
        if experiment is None:
            _say_overview(console, experiments.open_store(store) if status else None, as_json)
            return
        _check_options(graphs, batch, export)
        selection = experiments.load_experiment(experiment).restricted(
            _names(datasets), _names(models), _names(methods), checked_seeds(seeds)
        )
        if permutations is not None:
            selection = replace(selection, settings={**selection.settings, "permutations": permutations})
        machine = experiments.make_engine(engine, workers, address, gpus, timeout)
        inputs = experiments.Inputs(root, checkpoints, trained)
        announce("loading PyTorch, the models and the datasets")
        require("torch_geometric", "pyg")
        if not status and not listed:
            machine.prepare()
        plan = experiments.make_plan(selection, inputs, graphs, batch)
        if listed:
            _say_listing(console, plan)
            return
        results = experiments.open_store(store)
        if status:
            _say_status(console, plan, results, as_json)
            return
        experiments.run_plan(plan, results, machine, retry_failed=retry_failed)
        if pack:
            results.pack()
        _say_results(console, plan, results, export, as_json)
        report_failures([_failure_line(record) for record in plan.failures(results)])


def _refuse_choice(**options: Any) -> None:
    """Refuse options that would change the cells of the tables."""
    names = [name for name, value in options.items() if value is not None]
    if names:
        option_name = "EXPERIMENT" if names[0] == "experiment" else f"--{names[0]}"
        raise ValueError(
            f"{option_name}: --all-tables says which graphs and seeds a cell has; choose cells with --datasets, "
            "--models and --methods, or name an experiment without --all-tables"
        )


def _check_options(graphs: int | None, batch: int, export: Path | None) -> None:
    check_files(export=export)
    if export is not None and export.suffix not in _FORMS:
        raise ValueError(f"--export: {export.name} must end in {', '.join(_FORMS)}")
    for name, number in (("--graphs", graphs), ("--batch", batch)):
        if number is not None and number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")


def _say_overview(console: SafeConsole, results: Store | None, as_json: bool) -> None:
    """The experiments that ship with the library; or the content of a store, of all experiments."""
    if results is None:
        from mage import experiments

        titles = {name: experiments.load_experiment(name).title for name in experiments.experiment_names()}
        if as_json:
            print_json(titles)
        for name, title in titles.items():
            console.print(f"{name}: {title}", highlight=False, markup=False)
        return
    rows: list[dict[str, Any]] = []
    if any(results.parts.glob("*.parquet")):
        rows = results.query("SELECT dataset, model, method, count(*) AS n FROM records GROUP BY ALL ORDER BY ALL")
    if as_json:
        print_json(rows)
    for row in rows:
        line = f"{row['dataset']} {row['model']} {row['method']}: {row['n']} results"
        console.print(line, highlight=False, markup=False)
    if not rows:
        console.print("nothing finished yet")


def _say_listing(console: SafeConsole, plan: Plan) -> None:
    for table in plan.procedure.listing():
        console.print(table)
    _say_gaps(console, plan)


def _say_status(console: SafeConsole, plan: Plan, results: Store, as_json: bool) -> None:
    missing = plan.count(plan.missing(results))
    failed = Counter((record["dataset"], record["model"], record["method"]) for record in plan.failures(results))
    counts = plan.count(plan.batches)
    if as_json:
        keys = ("dataset", "model", "method")
        print_json(
            [
                {
                    **dict(zip(keys, name, strict=True)),
                    "finished": count - missing.get(name, 0),
                    "all": count,
                    "failed": failed.get(name, 0),
                }
                for name, count in counts.items()
            ]
        )
    for name, count in counts.items():
        finished, num_failed = count - missing.get(name, 0), failed.get(name, 0)
        failures = f", {num_failed} failed" if num_failed else ""
        line = f"{' '.join(name)}: {finished} of {count} {plan.procedure.items}{failures}"
        console.print(line, highlight=False, markup=False)
    _say_gaps(console, plan)


def _failure_line(record: dict[str, Any]) -> str:
    item = f"graph {record['graph']}" if record["image"] is None else record["image"]
    return f"{record['dataset']} {record['model']} {record['method']}, {item}: {record['error']}"


def _say_gaps(console: SafeConsole, plan: Plan) -> None:
    for name, reason in plan.gaps.items():
        console.print(f"{' '.join(name)}: {reason}", highlight=False, markup=False)


def _say_results(console: SafeConsole, plan: Plan, results: Store, export: Path | None, as_json: bool) -> None:
    """The tables of an experiment, on the terminal and in a file."""
    from mage import experiments
    from mage._core.files import atomic_path

    table = experiments.cells(plan, results)
    if as_json:
        print_json(experiments.table_rows(table))
    for rich_table in experiments.rich_tables(table, plan.procedure.items):
        console.print(rich_table)
    for rich_table in plan.procedure.comparisons(plan.records(results)):
        console.print(rich_table)
    for line in plan.procedure.remarks():
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if export is not None:
        with atomic_path(export) as unfinished:
            unfinished.write_text(experiments.export(table, _FORMS[export.suffix], plan.experiment.title))
    say_written(export, as_json=as_json)
