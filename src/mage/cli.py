"""The command line."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from mage._version import __version__

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Which groups of nodes made a graph model say this, for and against, and how sure are we?",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mage {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say what is being done and why.")] = False,
) -> None:
    del version
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(message)s")


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the picture and the page.")] = Path("demo-output"),
    seed: Annotated[int, typer.Option(help="Which demo graph.")] = 0,
) -> None:
    """Explain a bundled graph network on a graph with a grid and an injected five-cycle."""
    from mage import demo as module

    with _failing_politely():
        explanation, files = module.run(output, seed)
    console = Console()
    console.print(explanation)
    for file in files:
        console.print(f"wrote {file}", soft_wrap=True)


@app.command()
def explain(
    model: Annotated[str | None, typer.Option(help="module:name of the model, or of a function that makes it.")] = None,
    weights: Annotated[Path | None, typer.Option(help="State dict: .pt (weights only), or .npz.")] = None,
    data: Annotated[Path | None, typer.Option(help="Graph: .npz or .pt with x, edge_index, …")] = None,
    dataset: Annotated[str | None, typer.Option(help="A named dataset with its model instead; here: demo.")] = None,
    graph: Annotated[int, typer.Option(help="Which graph of the dataset.")] = 0,
    num_motifs: Annotated[int, typer.Option(help="m, most motifs.")] = 2,
    max_nodes: Annotated[float, typer.Option(help="M, most nodes in all: a count ≥ 1 or a share below 1.")] = 0.3,
    tau: Annotated[float, typer.Option(help="1: what speaks for; 0: against; between: both.")] = 1.0,
    target: Annotated[int | None, typer.Option(help="Class; the predicted one by default.")] = None,
    node: Annotated[int | None, typer.Option(help="Explain this node.")] = None,
    output: Annotated[str, typer.Option(help="logit, probability or log-probability.")] = "logit",
    masking: Annotated[str, typer.Option(help="remove, split, zero or mean.")] = "remove",
    method: Annotated[str, typer.Option(help="auto, exact or permutation.")] = "auto",
    budget: Annotated[int | None, typer.Option(help="Most coalitions to ask for.")] = None,
    permutations: Annotated[int | None, typer.Option(help="Orderings to sample.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the explanation in this file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw it to this .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Explain a model on one graph: your own model and data, or a named dataset.

    Exit codes: 0 for an explanation, 1 for a failure, 2 for wrong arguments.
    """
    with _failing_politely():
        from mage import _sources
        from mage import explain as explain_graph

        network, item = _sources.model_and_graph(model, weights, data, dataset, graph)
        options: dict[str, Any] = {"names": list(item.names)} if item.get("names") is not None else {}
        explanation = explain_graph(
            network,
            item,
            num_motifs,
            int(max_nodes) if max_nodes >= 1 else max_nodes,
            tau,
            target,
            output,
            masking,
            node=node,
            method=method,
            budget=budget,
            permutations=permutations,
            seed=seed,
            **options,
        )
        if save is not None:
            explanation.save(save)
        if picture is not None:
            from mage.plots import save_figure

            save_figure(explanation.plot(), picture)
    if as_json:
        typer.echo(json.dumps(explanation.to_dict(), indent=2))
    else:
        Console().print(explanation)


class _failing_politely:  # noqa: N801 (used as a statement)
    """Errors that the user can mend become one line and an exit code; others keep their traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ValueError | TypeError | OSError | ImportError | RuntimeError):
            typer.echo(f"mage: {error}", err=True)
            raise typer.Exit(2 if isinstance(error, ValueError | TypeError) else 1) from error


def main() -> None:
    """Entry point of the ``mage`` command."""
    app()
