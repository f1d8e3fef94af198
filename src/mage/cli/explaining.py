"""``mage explain``: one graph, one node, or all graphs of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mage._core.checks import checked_choice
from mage._torch.conventions import MASKING_NAMES
from mage.cli._app import announce, app, cli_errors, print_json
from mage.cli._options import CORPUS, EXPLAINED, INTERACTIONS, LARGE, MODEL, flag, option, report_failures, sharing
from mage.cli._request import check_request, request_options
from mage.cli._results import Results, result_options
from mage.games import GraphRequest

_WHICH = ("paper", "test", "all")


@app.command()
@sharing(fields=request_options, results=result_options)
def explain(
    model: Annotated[
        str | None,
        option(
            MODEL,
            "module:name of the model, or of a function that makes it; a TorchScript .pt file; a checkpoint of "
            "mage train; with --dataset: gcn, gin or gat. A module is imported, from the current folder first, which "
            "runs its code; mage --checkpoints-only refuses that.",
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        option(MODEL, "State dict: .pt (weights only) or .npz; with --dataset: a checkpoint of mage train."),
    ] = None,
    data: Annotated[Path | None, option(MODEL, "Graph: .npz or .pt with x, edge_index, …")] = None,
    dataset: Annotated[
        str | None, option(MODEL, "A dataset and its trained network: demo, or see mage datasets.")
    ] = None,
    smiles: Annotated[
        str | None, option(MODEL, "A molecule instead of --data, such as CCO; needs RDKit (extra chem).")
    ] = None,
    featurizer: Annotated[
        str | None,
        option(
            MODEL,
            "With --smiles: how the graph is made: pyg, mutagenic, benzene, fluoride_carbonyl, alkane_carbonyl, "
            "or module:function; by default that of the network's dataset, else pyg.",
        ),
    ] = None,
    graph: Annotated[
        int | None,
        option(
            EXPLAINED,
            "With --dataset: number of the graph (of the node, in a node-level dataset); by default the first one "
            "that the paper explains.",
        ),
    ] = None,
    node: Annotated[int | None, option(EXPLAINED, "Explain this node.")] = None,
    target: Annotated[int | None, option(EXPLAINED, "Class; the predicted one by default.")] = None,
    masking: Annotated[
        str | None,
        option(
            EXPLAINED, "What absence means: remove, split, zero or mean; by default the dataset's setting, else split."
        ),
    ] = None,
    tolerance: Annotated[float | None, option(INTERACTIONS, "Stop when all standard errors are below this.")] = None,
    until: Annotated[str | None, option(INTERACTIONS, "Stop sampling when: 'motifs stable'.")] = None,
    players: Annotated[
        str | None,
        option(EXPLAINED, "What the players are: nodes, edges or features (columns of x); nodes by default."),
    ] = None,
    groups: Annotated[str | None, option(LARGE, "Players are groups of nodes: communities or rings.")] = None,
    refine: Annotated[bool | None, flag(LARGE, "After the groups, explain the nodes of the best groups.")] = None,
    max_players: Annotated[
        int | None, option(LARGE, "The largest number of players; by default 300, or 48 if there are more.")
    ] = None,
    everything: Annotated[
        bool, flag(CORPUS, "With --dataset: explain all graphs that the paper explains.", "--all")
    ] = False,
    which: Annotated[
        str,
        option(
            CORPUS,
            "Which graphs: paper (those that the paper explains: often one class, predicted correctly), test "
            "(the test part) or all (training graphs too).",
        ),
    ] = "paper",
    folder: Annotated[
        Path | None, option(CORPUS, "Folder for the explanations, run by default; a second run resumes.")
    ] = None,
    graphs: Annotated[int | None, option(CORPUS, "Only this many graphs, the first ones.")] = None,
    engine: Annotated[str, option(CORPUS, "local, ray or serial.")] = "local",
    workers: Annotated[int | None, option(CORPUS, "Processes or tasks at the same time.")] = None,
    address: Annotated[str | None, option(CORPUS, "With --engine ray: address of a cluster.")] = None,
    timeout: Annotated[
        float | None, option(CORPUS, "Time limit for a graph in seconds; a graph that takes longer counts as failed.")
    ] = None,
    retry_failed: Annotated[bool, flag(CORPUS, "Try again graphs that failed before.", "--retry-failed")] = False,
    *,
    fields: dict[str, Any],
    results: Results,
) -> None:
    """Explain a prediction for a graph or a molecule: your own model and data, or a named dataset."""
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
    request_fields = fields | {name: value for name, value in of_graphs.items() if value is not None}
    _check_absent(everything, results.files, "is for one graph; --all writes into --folder")
    one = {"--graph": graph, "--data": data, "--smiles": smiles}
    _check_absent(everything, one, "is for one graph; --all explains a dataset")
    _check_absent(smiles is not None, {"--graph": graph, "--data": data}, "and --smiles exclude each other")
    _check_absent(smiles is None, {"--featurizer": featurizer}, "needs --smiles")
    checked_choice("--which", which, _WHICH)
    for_all = {
        "--folder": folder,
        "--graphs": graphs,
        "--engine": None if engine == "local" else engine,
        "--workers": workers,
        "--address": address,
        "--timeout": timeout,
        "--retry-failed": retry_failed or None,
    }
    _check_absent(not everything, for_all, "needs --all")
    if not everything and which != "paper":
        raise ValueError("--which needs --all; choose one graph with --graph")
    if masking is not None:
        checked_choice("--masking", masking, ("auto", *MASKING_NAMES))
    check_request(GraphRequest, request_fields)
    if everything:
        machine = {"name": engine, "workers": workers, "address": address, "timeout": timeout}
        source = dataset, model, weights
        _explain_all(
            source, folder or Path("run"), (which, graphs), machine, request_fields, retry_failed, results.as_json
        )
        return
    if smiles is not None:
        _explain_molecule(smiles, model, weights, dataset, featurizer, request_fields, results)
        return
    _sources.check_sources(model, weights, data, dataset, graph)
    announce("loading PyTorch, the model and the graph")
    network, item, settings = _sources.model_and_graph(model, weights, data, dataset, graph)
    names = _sources.names_of(item) if players != "features" else None
    options: dict[str, Any] = {} if names is None else {"names": names}
    # The settings of a dataset are defaults; an explanation to repeat has all settings.
    options |= request_fields if "like" in request_fields else settings | request_fields
    announce("explaining")
    explanation = explain_graph(network, item, **options)
    results.finish(explanation, [explanation])


def _explain_molecule(
    smiles: str,
    model: str | None,
    weights: Path | None,
    dataset: str | None,
    featurizer: str | None,
    fields: dict[str, Any],
    results: Results,
) -> None:
    from mage import explain_smiles
    from mage.cli import _molecules
    from mage.datasets.smiles import atom_names

    _molecules.check_molecule(model, weights, dataset, featurizer)
    atom_names(smiles, 0)  # refuses what is no molecule
    announce("loading PyTorch, RDKit and the model")
    network, features = _molecules.model_and_featurizer(model, weights, dataset, featurizer)
    announce("explaining")
    explanation = explain_smiles(network, smiles, featurizer=features, **fields)
    motif_names = _molecules.named_motifs(explanation)
    results.finish(
        explanation, _molecules.molecule_parts(explanation), title=f"Why? {smiles}", named_motifs=motif_names
    )


def _check_absent(wrong: bool, options: dict[str, Any], reason: str) -> None:
    """Refuse options that would be ignored."""
    options_in_use = [option for option, value in options.items() if value is not None]
    if wrong and options_in_use:
        raise ValueError(f"{options_in_use[0]} {reason}")


def _explain_all(
    source: tuple[str | None, str | None, Path | None],
    folder: Path,
    choice: tuple[str, int | None],
    machine: dict[str, Any],
    fields: dict[str, Any],
    retry_failed: bool,
    as_json: bool,
) -> None:
    from mage.cli import _sources
    from mage.experiments.corpus import LazyMapping, about_graph, explain_corpus
    from mage.experiments.engines import make_engine

    dataset, model, weights = source
    if dataset is None or dataset == "demo":
        raise ValueError("--all needs --dataset with the name of a dataset; see mage datasets")
    _sources.check_dataset(dataset, model, weights)
    engine = make_engine(**machine)
    announce("loading PyTorch, the model and the dataset")
    network, data = _sources.network_and_dataset(dataset, model, weights)
    selection = _positions(data, network, *choice)
    known_as = model or (weights.stem if weights is not None else "gin")
    whole = data[0] if data.task == "node" else None
    # Made when they are needed: a corpus may be large, and a graph is needed for a moment.
    items = LazyMapping(selection, lambda position: data[position] if whole is None else whole)
    about = LazyMapping(selection, lambda position: about_graph(data, position, known_as))

    def options(position: int) -> dict[str, Any]:
        names = _sources.names_of(items[position])
        settings = _sources.dataset_options(data, position)
        return {**settings, **({} if names is None else {"names": names}), **fields}

    entries = explain_corpus(
        network, items, folder, LazyMapping(selection, options), engine, about=about, retry_failed=retry_failed
    )
    before, new, failed = 0, 0, []
    with cli_errors(f"interrupted; finished explanations are kept in {folder}, and the same command resumes"):
        for entry in entries:
            if entry.failure is not None:
                failed.append(f"graph {entry.number}: {entry.failure.message}")
            else:
                before, new = before + entry.before, new + (not entry.before)
    if as_json:
        print_json({"folder": str(folder), "new": new, "from_before": before, "failed": failed})
    count = before + new
    typer.echo(f"wrote {folder}: {count} explanations, {new} new, {before} from an earlier run", err=as_json)
    if count:
        typer.echo(f"mage report {folder} writes one page with all of them", err=True)
    report_failures(failed)


def _positions(dataset: Any, network: Any, which: str, limit: int | None) -> list[int]:
    """Graphs to explain: what the paper would, all of the test part, or all."""
    if which == "paper":
        return [int(position) for position in dataset.explained(network, limit)]
    positions = range(len(dataset.labels)) if which == "all" else dataset.split.test
    return [int(position) for position in positions[:limit]]
