"""The settings of an explanation: the model, the index and the motif search, each with a request of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mage._core.checks import checked_list
from mage._core.conversion import NotStored, stored_as
from mage._core.requests import changed, field_names, unknown_field
from mage.games.request import GraphRequest, ModelRequest
from mage.indices.request import IndexRequest
from mage.motifs import MotifRequest

Kind = TypeVar("Kind", bound=ModelRequest)
_MOST_REQUESTS = 100  # later ones override earlier ones, so that nobody needs more
_PARTS = {"model": ModelRequest, "index": IndexRequest, "motifs": MotifRequest}


@stored_as("request")
@dataclass(frozen=True)
class ExplainRequest:
    """All settings of an explanation, besides the model and its input.

    Attributes:
        model: Which number of the model is explained, and what absence means.
        index: Which interactions are computed, and how.
        motifs: Which groups are searched for.
    """

    model: ModelRequest = field(default_factory=GraphRequest)
    index: IndexRequest = field(default_factory=IndexRequest)
    motifs: MotifRequest = field(default_factory=MotifRequest)

    def __post_init__(self) -> None:
        for name, kind in _PARTS.items():
            if not isinstance(getattr(self, name), kind):
                type_name = type(getattr(self, name)).__name__
                raise TypeError(f"{name} must be a {kind.__name__}, got {type_name}")
        if self.index.order is not None:
            self.motifs.check_order(self.index.order)

    @classmethod
    def of(cls, kind: type[ModelRequest], request: Any = None, /, *, like: Any = None, **fields: Any) -> ExplainRequest:
        """Combine requests and single fields; later ones override earlier ones.

        Args:
            kind: The kind of request that goes with the input: graph, sentence or image.
            like: An explanation, or its request, to repeat.
            request: One request, or several: an :class:`ExplainRequest` or some of its parts.
            fields: Single fields by name; None leaves a field unchanged.
        """
        whole = cls(kind()) if like is None else _repeated(like, kind)
        for part in _parts(request):
            whole = _with_part(whole, part, kind)
        whole = whole.changed(**fields)
        for name, value in whole.fields().items():
            if isinstance(value, NotStored):
                raise ValueError(f"{name}: {value.what} is not kept in files; pass {name}= again")
        return whole

    def changed(self, **changes: Any) -> ExplainRequest:
        """The request with some fields changed and checked again. None leaves a field unchanged."""
        owner = {name: part for part in _PARTS for name in field_names(getattr(self, part))}
        by_part: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            if name not in owner:
                raise TypeError(unknown_field(name, owner))
            by_part.setdefault(owner[name], {})[name] = value
        return replace(self, **{part: changed(getattr(self, part), **values) for part, values in by_part.items()})

    def fields(self) -> dict[str, Any]:
        """All fields of the three requests by name."""
        parts = (getattr(self, part) for part in _PARTS)
        return {name: getattr(part, name) for part in parts for name in field_names(part)}

    def model_as(self, kind: type[Kind]) -> Kind:
        """The request for the model, if it is of this kind; otherwise an error."""
        if not isinstance(self.model, kind):
            raise TypeError(f"request: this input needs a {kind.__name__}, got a {type(self.model).__name__}")
        return self.model

    @property
    def graph(self) -> GraphRequest:
        """How a graph model is queried; an error if the input is not a graph."""
        return self.model_as(GraphRequest)

    @property
    def seed(self) -> int:
        """Seed of everything random."""
        return self.index.seed


def _parts(request: Any) -> list[Any]:
    if request is None:
        return []
    is_list = isinstance(request, Iterable) and not isinstance(request, ExplainRequest | str)
    return (
        checked_list("request", request, "a request or some requests", most=len(_PARTS) + 1) if is_list else [request]
    )


def _with_part(whole: ExplainRequest, part: Any, kind: type[ModelRequest]) -> ExplainRequest:
    if isinstance(part, ExplainRequest):
        return _of_kind(part, kind)
    if isinstance(part, IndexRequest):
        return replace(whole, index=part)
    if isinstance(part, MotifRequest):
        return replace(whole, motifs=part)
    if isinstance(part, ModelRequest):
        return _of_kind(replace(whole, model=part), kind)
    raise TypeError(
        f"request must be {kind.__name__}, IndexRequest, MotifRequest or ExplainRequest, one or several; got "
        f"{type(part).__name__}"
    )


def _of_kind(whole: ExplainRequest, kind: type[ModelRequest]) -> ExplainRequest:
    """Refuse the request of another kind of input; a plain one is taken over."""
    if isinstance(whole.model, kind):
        return whole
    if type(whole.model) is not ModelRequest:
        whole.model_as(kind)
    shared = {name: getattr(whole.model, name) for name in field_names(ModelRequest)}
    return replace(whole, model=kind(**shared))


def _repeated(like: Any, kind: type[ModelRequest]) -> ExplainRequest:
    request = getattr(like, "request", like)
    if not isinstance(request, ExplainRequest):
        raise TypeError(
            f"like must be an explanation that keeps its request, or an ExplainRequest; got {type(like).__name__}"
        )
    return _of_kind(request, kind)
