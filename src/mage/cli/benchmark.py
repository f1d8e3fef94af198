"""``mage benchmark``: the paper's tables, ours beside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from mage._core.optional import require
from mage.cli._app import app, failing_politely
from mage.cli._options import check_files, checked_seeds

if TYPE_CHECKING:
    from mage.experiments import Plan, Store


# The one experiment that is not about graphs; see mage.experiments.group_attribution.
_IMAGES = "group-attribution"


def _listed(text: str | None) -> list[str] | None:
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
    status: Annotated[bool, typer.Option("--status", help="Say what is finished; compute nothing.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write the table: .md, .csv, .tex or .html.")] = None,
    permutations: Annotated[int | None, typer.Option(help="Of group-attribution: orderings for each index.")] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Of group-attribution: say what the models see in each image.")
    ] = False,
) -> None:
    """Run an experiment: only what is missing in the store is computed. Without a name: list the experiments."""
    console = Console()
    with failing_politely():
        require("torch_geometric", "pyg")
        from mage import experiments

        if experiment is None and status:
            _say_contents(console, experiments.open_store(store))
            return
        if experiment is None:
            for name in experiments.experiment_names():
                console.print(f"{name}: {experiments.load_experiment(name).title}", highlight=False)
            console.print(f"{_IMAGES}: infidelity of the four indices on images", highlight=False)
            return
        check_files(export=export)
        if experiment == _IMAGES:
            from mage.cli.group_attribution import run_group_attribution

            run_group_attribution(
                console,
                foreign={"--datasets": datasets, "--checkpoints": checkpoints, "--trained": trained},
                models=_listed(models),
                methods=_listed(methods),
                images=graphs,
                seeds=seeds,
                permutations=permutations,
                root=root,
                store=store,
                machine=(engine, workers, address, gpus),
                status=status,
                listed=listed,
                export=export,
            )
            return
        _check_options(graphs, batch, permutations is not None or listed)
        forms = {".md": "markdown", ".csv": "csv", ".tex": "latex", ".html": "html"}
        if export is not None and export.suffix not in forms:
            raise ValueError(f"--export: {export.name} must end in {', '.join(forms)}")
        chosen = experiments.load_experiment(experiment).restricted(
            _listed(datasets), _listed(models), _listed(methods), checked_seeds(seeds)
        )
        machine = experiments.make_engine(engine, workers, address, gpus)
        if not status:
            machine.prepare()
        source = experiments.Source(root, checkpoints, trained)
        plan = experiments.make_plan(chosen, source, graphs, batch)
        results = experiments.open_store(store)
        if status:
            _say_status(console, plan, results)
            return
        experiments.run_plan(plan, results, machine, source)
        made = experiments.cells(plan, results)
        for table in experiments.rich_tables(made):
            console.print(table)
        for line in sorted({f"{subject.dataset}: {subject.origin}" for subject in plan.subjects}):
            console.print(line, soft_wrap=True, markup=False, highlight=False)
        if export is not None:
            from mage._core.files import atomic_path

            with atomic_path(export) as unfinished:
                unfinished.write_text(experiments.export(made, forms[export.suffix], chosen.title))
            console.print(f"wrote {export}", soft_wrap=True, markup=False, highlight=False)


def _check_options(graphs: int | None, batch: int, of_images: bool) -> None:
    if of_images:
        raise ValueError(f"--permutations and --list go with {_IMAGES}; other experiments are set by their file")
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
        console.print(f"{row['dataset']} {row['model']} {row['method']}: {row['n']} graphs", highlight=False)


def _say_status(console: Console, plan: Plan, results: Store) -> None:
    missing = {batch.key for batch in plan.missing(results)}
    for number, subject in enumerate(plan.subjects):
        for method in plan.experiment.methods:
            own = [batch for batch in plan.batches if batch.subject == number and batch.method == method]
            if own:
                done = sum(len(batch.positions) for batch in own if batch.key not in missing)
                every = sum(len(batch.positions) for batch in own)
                name = f"{subject.dataset} {subject.model_name} {method.name}"
                console.print(f"{name}: {done} of {every} graphs", highlight=False)
    for (dataset, model, name), reason in plan.gaps.items():
        console.print(f"{dataset} {model} {name}: {reason}", highlight=False, markup=False)
