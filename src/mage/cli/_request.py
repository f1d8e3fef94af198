"""Options that say how an explanation is computed, the same for graphs, sentences and images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mage._torch.conventions import OUTPUTS
from mage.cli._options import INTERACTIONS, MOTIFS, option
from mage.explainers import ExplainRequest
from mage.indices import ESTIMATORS
from mage.motifs import MotifRequest

if TYPE_CHECKING:
    from mage.explanation import Explanation

_METHODS = ("auto", *ESTIMATORS)
_SIZE = "a count ≥ 1 or a share below 1; chosen by the search by default"


def _listed(choices: Sequence[str]) -> str:
    """Choices for a line of help; the first is the default."""
    return f"{', '.join(choices)}; {choices[0]} by default"


def request_options(
    num_motifs: Annotated[int | None, option(MOTIFS, "m, the largest number of motifs; up to 3 by default.")] = None,
    max_nodes: Annotated[float | None, option(MOTIFS, f"M, nodes in all motifs together: {_SIZE}.")] = None,
    tau: Annotated[
        float | None,
        option(MOTIFS, "1: motifs for the output; 0: against it; between: both. By default one search per side."),
    ] = None,
    model_output: Annotated[
        str | None, option(INTERACTIONS, f"Output of the model that is explained: {_listed(OUTPUTS)}.")
    ] = None,
    order: Annotated[
        int | None, option(INTERACTIONS, "Order of the index, 1 to 3; by default 3 if the cost allows it, else 2.")
    ] = None,
    method: Annotated[str | None, option(INTERACTIONS, f"How interactions are computed: {_listed(_METHODS)}.")] = None,
    budget: Annotated[int | None, option(INTERACTIONS, "The largest number of coalitions to query.")] = None,
    permutations: Annotated[int | None, option(INTERACTIONS, "Orderings to sample.")] = None,
    seed: Annotated[int | None, option(INTERACTIONS, "Seed of the sampling; 0 by default.")] = None,
    like: Annotated[
        Path | None, option(INTERACTIONS, "Take all settings from this saved explanation; other options override them.")
    ] = None,
) -> dict[str, Any]:
    """Fields of the requests that are given, by name."""
    fields = {
        "num_motifs": num_motifs,
        "max_nodes": None if max_nodes is None else _checked_max_nodes(max_nodes),
        "tau": tau,
        "output": model_output,
        "order": order,
        "method": method,
        "budget": budget,
        "permutations": permutations,
        "seed": seed,
        "like": None if like is None else _loaded(like),
    }
    return {name: value for name, value in fields.items() if value is not None}


def check_request(kind: type[Any], fields: dict[str, Any]) -> None:
    """Refuse wrong values before a model is loaded, which takes seconds.

    Args:
        kind: Request of the model: of graphs, sentences or images.
        fields: What is given on the command line.
    """
    ExplainRequest.of(kind, None, **fields)


def _checked_max_nodes(max_nodes: float) -> int | float | str:
    try:
        # The command line knows no difference between 5 and 5.0; the rest is the rule of the request.
        return MotifRequest(max_nodes=int(max_nodes) if max_nodes.is_integer() else max_nodes).max_nodes
    except ValueError as error:
        raise ValueError(f"--max-nodes: {error}") from None


def _loaded(path: Path) -> Explanation:
    from mage.explanation import Explanation

    if not path.is_file():
        raise ValueError(f"--like: {path} does not exist")
    return Explanation.load(path)
