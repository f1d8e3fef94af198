"""What to compute: an index, its order, a method, and how much it may cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mage._core.checks import checked_array, checked_choice, checked_whole
from mage.indices.estimators import ESTIMATORS, accepted_fields
from mage.indices.estimators.surrogate import REGRESSORS
from mage.indices.families import checked_order, family_named
from mage.indices.method_choice import AUTO_METHODS
from mage.indices.stopping import CONDITIONS

_MOST_DRAWS = 10**7  # each is kept until all are there


@dataclass(frozen=True)
class IndexRequest:
    """Which index to compute, how, and at what cost. Values are checked when the request is made.

    Requests are compared by value, and ``dataclasses.replace`` checks the new one too.

    Attributes:
        index: Name of the index, see :data:`mage.indices.FAMILIES`; ``"shapley"``, ``"shapley-taylor"``, ``"sii"`` and
            the like ignore the graph, ``"myerson"``, ``"myerson-taylor"``, ``"myerson-sii"`` and the like respect it.
        order: k, the largest number of players in a set; None for the default of the index.
        method: ``"auto"`` or the name of an estimator, see :func:`mage.interactions`.
        budget: The largest number of distinct coalitions; None for the default of the method.
        permutations: Orderings to sample; None for the default of the method.
        seed: Seed of everything that is random.
        antithetic: Whether orderings come in pairs, one the reverse of the other, and random sets with complements.
        orderings: Use these orderings instead of random ones: a tuple of tuples (any array [t, n] is accepted).
        radius: Hops within which players act together, for ``"exact-local"``; None to read it from the model.
        regressor: The regressor of the surrogate.
        tolerance: Stop sampling when the largest standard error is at most this.
        until: Stop sampling when this is true: the name of a condition, or a function of the interactions so far.
        samples: Random sets to draw; None for the default of the method.
    """

    index: str = "myerson-taylor"
    order: int | None = None
    method: str = "auto"
    budget: int | None = None
    permutations: int | None = None
    seed: int = 0
    antithetic: bool = True
    orderings: Any = None
    radius: int | None = None
    regressor: str = "auto"
    tolerance: float | None = None
    until: str | Callable[..., bool] | None = None
    samples: int | None = None

    def __post_init__(self) -> None:
        family = family_named(self.index)
        self._set("index", family.name)
        if self.order is not None:
            self._set("order", checked_order(family, self.order))
        checked_choice("method", self.method, ("auto", *ESTIMATORS))
        for name, least in (("budget", 1), ("permutations", 1), ("samples", 1), ("seed", 0), ("radius", 0)):
            value = getattr(self, name)
            if value is not None or name == "seed":
                self._set(name, checked_whole(name, value, least=least))
        for name in ("permutations", "samples"):
            if (getattr(self, name) or 0) > _MOST_DRAWS:
                raise ValueError(
                    f"{name}: {getattr(self, name):,} draws are more than the {_MOST_DRAWS:,} that can be kept"
                )
        if not isinstance(self.antithetic, bool | np.bool_):
            raise ValueError(f"antithetic must be True or False, got {self.antithetic!r}")
        self._set("antithetic", bool(self.antithetic))
        checked_choice("regressor", self.regressor, REGRESSORS)
        if self.orderings is not None:
            self._set("orderings", _checked_orderings(self.orderings))
            if self.permutations is not None:
                raise ValueError("permutations: orderings already say how many; give one of the two")
        _check_stopping(self.tolerance, self.until)
        self._check_method()

    @property
    def checked_order(self) -> int:
        """The order that is computed: the one that was given, or the default of the index."""
        return checked_order(family_named(self.index), self.order)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_method(self) -> None:
        """Refuse what the method does not take."""
        methods = AUTO_METHODS if self.method == "auto" else (self.method,)
        refused = accepted_fields(ESTIMATORS) - accepted_fields(methods)
        for field in fields(self):
            if field.name in refused and getattr(self, field.name) != field.default:
                owners = " or ".join(repr(name) for name in ESTIMATORS if field.name in ESTIMATORS[name].fields)
                raise ValueError(f"{field.name} needs method={owners}, not method={self.method!r}")


def _checked_orderings(orderings: Any) -> tuple[tuple[int, ...], ...]:
    """Orderings given by the user, [t, n], each a permutation of the players 0 … n − 1."""
    array = checked_array("orderings", orderings, "an array of shape [t, n]")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"orderings must have shape [t, n] with t ≥ 1, got {list(array.shape)}")
    if not np.array_equal(np.sort(array, axis=1), np.broadcast_to(np.arange(array.shape[1]), array.shape)):
        raise ValueError("orderings: each row must name every player once")
    return tuple(map(tuple, array.astype(np.int64).tolist()))


def _check_stopping(tolerance: Any, until: Any) -> None:
    number = isinstance(tolerance, int | float | np.number) and not isinstance(tolerance, bool)
    if tolerance is not None and not (number and 0 < tolerance < math.inf):
        raise ValueError(f"tolerance must be a positive number, got {tolerance!r}")
    if isinstance(until, str):
        if until not in CONDITIONS:
            raise ValueError(f"until must be a function or one of {', '.join(CONDITIONS)}; got {until!r}")
    elif until is not None and not callable(until):
        raise ValueError(f"until must be a function of the interactions, got {until!r}")
