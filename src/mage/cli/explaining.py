"""``mage explain``: one graph, node or all graphs of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mage.cli._app import app
from mage.cli._options import Results, report_failures, request_options, result_options, sharing


@app.command()
@sharing(fields=request_options, results=result_options)
def explain(
    model: Annotated[
        str | None,
        typer.Option(help="module:name of the model, or of a function that makes it; with --dataset gcn, gin or gat."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(help="State dict: .pt (weights only) or .npz; with --dataset a checkpoint of mage train."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Graph: .npz or .pt with x, edge_index, …")] = None,
    dataset: Annotated[
        str | None, typer.Option(help="A named dataset and its trained model instead: demo, or see mage datasets.")
    ] = None,
    graph: Annotated[
        int | None,
        typer.Option(
            help="Which graph (node, in a node-level set) of the dataset; the first explained one by default."
        ),
    ] = None,
    target: Annotated[int | None, typer.Option(help="Class; the predicted one by default.")] = None,
    node: Annotated[int | None, typer.Option(help="Explain this node.")] = None,
    masking: Annotated[
        str | None, typer.Option(help="remove, split, zero or mean; remove, or what the dataset says.")
    ] = None,
    tolerance: Annotated[float | None, typer.Option(help="Stop when the largest standard error is below.")] = None,
    until: Annotated[str | None, typer.Option(help="Stop sampling when: 'motifs stable'.")] = None,
    players: Annotated[
        str | None, typer.Option(help="What plays: nodes, edges or features (columns of x); nodes by default.")
    ] = None,
    groups: Annotated[str | None, typer.Option(help="Players that are groups: communities or rings.")] = None,
    refine: Annotated[bool | None, typer.Option(help="Then let the nodes of the best groups play.")] = None,
    max_players: Annotated[int | None, typer.Option(help="Most players; 300, and 48 of more, by default.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="With --dataset: explain all graphs that the paper would, into --folder.")
    ] = False,
    which: Annotated[
        str,
        typer.Option(
            help="With --all: paper, what it would explain (often one class, predicted rightly); test, the test part; "
            "all, the graphs for training too."
        ),
    ] = "paper",
    folder: Annotated[
        Path | None, typer.Option(help="With --all: folder of explanations, run by default; a second run resumes.")
    ] = None,
    graphs: Annotated[int | None, typer.Option(help="With --all: only the first so many.")] = None,
    engine: Annotated[str, typer.Option(help="With --all: local, ray or serial.")] = "local",
    workers: Annotated[int | None, typer.Option(help="With --all: processes or tasks at a time.")] = None,
    address: Annotated[str | None, typer.Option(help="With --engine ray: address of a cluster.")] = None,
    timeout: Annotated[
        float | None, typer.Option(help="With --all: most seconds for a graph; one that takes longer has failed.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --all: try graphs again that failed before.")
    ] = False,
    *,
    fields: dict[str, Any],
    results: Results,
) -> None:
    """Explain a model on one graph: your own model and data, or a named dataset.

    With --all, exit code 3 says that some graphs failed.
    """
    from mage import explain as explain_graph
    from mage.cli import _sources

    of_graphs = {
        "target": target,
        "node": node,
        "masking": masking,
        "tolerance": tolerance,
        "until": until,
        "players": players,
        "groups": groups,
        "refine": refine,
        "max_players": max_players,
    }
    given = fields | {name: value for name, value in of_graphs.items() if value is not None}
    _check_absent(everything, results.given, "is for one graph; --all writes into --folder")
    _check_absent(everything, {"--graph": graph, "--data": data}, "is for one graph; --all explains a dataset")
    if which not in {"paper", "test", "all"}:
        raise ValueError(f"--which must be paper, test or all, got {which!r}")
    for_all = {
        "--folder": folder,
        "--graphs": graphs,
        "--engine": None if engine == "local" else engine,
        "--workers": workers,
        "--address": address,
        "--timeout": timeout,
        "--retry-failed": retry_failed or None,
    }
    _check_absent(not everything, for_all, "goes with --all")
    if not everything and which != "paper":
        raise ValueError("--which goes with --all; name one graph with --graph")
    if everything:
        machine = {"name": engine, "workers": workers, "address": address, "timeout": timeout}
        kept = folder or Path("run")
        _explain_all(dataset, model, weights, kept, (which, graphs), machine, given, retry_failed)
        return
    network, item, settings = _sources.model_and_graph(model, weights, data, dataset, graph)
    named = item.get("names") is not None and players != "features"
    options: dict[str, Any] = {"names": list(item.names)} if named else {}
    # What a dataset says of itself is a default; an explanation to repeat says everything.
    options |= given if "like" in given else settings | given
    explanation = explain_graph(network, item, **options)
    results.write(explanation)
    results.show(explanation, [explanation])


def _check_absent(wrong: bool, options: dict[str, Any], reason: str) -> None:
    """Refuse options that would be ignored."""
    given = [option for option, value in options.items() if value is not None]
    if wrong and given:
        raise ValueError(f"{given[0]} {reason}")


def _explain_all(
    dataset: str | None,
    model: str | None,
    weights: Path | None,
    folder: Path,
    choice: tuple[str, int | None],
    machine: dict[str, Any],
    given: dict[str, Any],
    retry_failed: bool,
) -> None:
    from mage.cli import _sources
    from mage.experiments.corpus import LazyMapping, about_graph, explain_corpus
    from mage.experiments.engines import make_engine

    if dataset is None or dataset == "demo":
        raise ValueError("--all needs --dataset with the name of a dataset; see mage datasets")
    engine = make_engine(**machine)
    network, data = _sources.network_and_dataset(dataset, model, weights)
    chosen = _positions(data, network, *choice)
    known_as = model or (weights.stem if weights is not None else "gin")
    whole = data[0] if data.task == "node" else None
    # Made when they are needed: a corpus may be large, and a graph is needed for a moment.
    items = LazyMapping(chosen, lambda position: data[position] if whole is None else whole)
    about = LazyMapping(chosen, lambda position: about_graph(data, position, known_as))

    def options(position: int) -> dict[str, Any]:
        names = items[position].get("names")
        settings = _settings(data, position, bool(about[position]["origin"].truth))
        return {**settings, **({} if names is None else {"names": list(names)}), **given}

    entries = explain_corpus(
        network, items, folder, LazyMapping(chosen, options), engine, about=about, retry_failed=retry_failed
    )
    before, new, failed = 0, 0, []
    for entry in entries:
        if entry.failure is not None:
            failed.append(f"graph {entry.number}: {entry.failure.message}")
        else:
            before, new = before + entry.before, new + (not entry.before)
    typer.echo(f"{folder}: {before + new} explanations, {new} made now, {before} kept from before")
    report_failures(failed)


def _positions(dataset: Any, network: Any, which: str, limit: int | None) -> list[int]:
    """Graphs to explain: what the paper would, all of the test part, or all."""
    if which == "paper":
        return [int(position) for position in dataset.explained(network, limit)]
    positions = range(len(dataset.labels)) if which == "all" else dataset.split.test
    return [int(position) for position in positions[:limit]]


def _settings(dataset: Any, position: int, has_truth: bool) -> dict[str, Any]:
    """The dataset's settings for a graph; a size that the ground truth would give is left open where there is none."""
    settings: dict[str, Any] = dataset.settings(position)
    rule = dataset.info.settings
    sizes = {"num_motifs": rule.num_motifs, "max_nodes": rule.max_nodes}
    open_sizes = {name for name, size in sizes.items() if size is None and not has_truth}
    return {name: value for name, value in settings.items() if name not in open_sizes}
