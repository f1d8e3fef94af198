"""Fields of the requests as keyword arguments, so that editors and type checkers know their names and types.

What they mean is said where they belong: :class:`mage.GraphRequest`, :class:`mage.TextRequest`,
:class:`mage.ImageRequest`, :class:`mage.IndexRequest` and :class:`mage.MotifRequest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from mage.motifs.request import MotifFields

if TYPE_CHECKING:
    from mage.explainers.request import ExplainRequest
    from mage.explanation import Explanation


class CalculationFields(TypedDict, total=False):
    """What is computed, how, and at what cost: arguments of :func:`mage.explain`, fields elsewhere."""

    output: str
    order: int | None
    method: str
    budget: int | None
    permutations: int | None
    seed: int


class CommonFields(MotifFields, total=False):
    """The other fields that all kinds of input share.

    ``like`` is an explanation, loaded or just made, or its request, which is repeated; fields that are given change it.
    """

    like: Explanation | ExplainRequest | None
    task: str
    return_type: str
    baseline: float | None
    batch_size: int | None
    memory_cap: int
    index: str
    antithetic: bool
    orderings: Any
    radius: int | None
    regressor: str
    tolerance: float | None
    until: str | Callable[..., bool] | None
    samples: int | None
    connected: bool
    noise_floor: float


class OtherGraphFields(CommonFields, total=False):
    """What :func:`mage.explain` takes besides its everyday arguments."""

    players: str
    groups: Any
    refine: bool | str | None
    max_players: int | None
    num_hops: int | None
    forward: Callable[[Any, Any], Any] | None
    select: Any
    column: int | None
    inputs: Iterable[str] | None


class GraphFields(CalculationFields, OtherGraphFields, total=False):
    """All fields of a request for a graph, a node or a link."""

    target: int | None
    num_motifs: int | str
    max_nodes: int | float | str
    tau: float | str
    masking: str | Callable[..., Any]
    node: int | tuple[str, int] | None
    edge: Iterable[Any] | None


class OtherTextFields(CalculationFields, CommonFields, total=False):
    """What :func:`mage.explain_text` takes besides its everyday arguments."""

    kind: str
    encoder: str | Callable[..., Any] | None


class OtherImageFields(CalculationFields, CommonFields, total=False):
    """What :func:`mage.explain_image` takes besides its everyday arguments."""

    picture: Any
