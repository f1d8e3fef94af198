"""The result of an index: its values and their errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mage._core.checks import checked_instance, checked_number, checked_numbers, checked_whole, shortened
from mage._core.printing import printable
from mage._core.typing import Floats, Integers
from mage.graph import PlayerGraph, checked_player
from mage.indices.consistency import check_fields, count_sets
from mage.indices.standard_errors import error_of_sum, noise
from mage.indices.subsets import ranks, subsets_of_size

if TYPE_CHECKING:
    from pathlib import Path

    import shapiq


class Term(NamedTuple):
    """One interaction: its players, its value, and the standard error of that value."""

    players: tuple[int, ...]
    value: float
    std_error: float


@dataclass(frozen=True, eq=False)
class Interactions:
    """A k-order interaction index of one game: a value for every set of at most k players.

    Attributes:
        index: Name of the index, e.g. ``"myerson-taylor"``.
        order: k.
        graph: The players' graph.
        values: All values: sets by size, then in lexicographic order; see :attr:`coalitions`.
        std_error: Standard error of each value, in the same order; zero for values known exactly. It is estimated from
            the sampled orderings, and NaN if there are too few of them.
        exact: Whether every value is exact up to rounding.
        method: How it was computed, see :data:`mage.indices.ESTIMATORS`.
        num_queries: Runs of the model for this computation; known coalitions cost nothing. An explanation
            counts more, see :attr:`mage.Explanation.num_queries`.
        num_permutations: Orderings averaged over; 0 for methods that do not draw them.
        baseline: Worth of the empty coalition before normalisation.
        names: Names of the players.
        stopped: What ended the sampling: ``"budget"``, ``"tolerance"``, ``"until"``, ``"cancelled"`` by a callback or
            ``"interrupted"`` from the keyboard; empty if the run was complete.
        error_parts: D, how parts of the sample deviate, for sets of size k and as many smaller sizes as have errors
            [parts, sets]: the squares of a column add up to about the squared standard error, and DᵀD says how errors
            go together, see :meth:`group_error`. None where there is no error, or where the errors are taken as
            independent.
        num_samples: Random sets averaged over; 0 for methods that do not draw them.
        reason: Why this method was chosen.
    """

    index: str
    order: int
    graph: PlayerGraph
    values: Floats
    std_error: Floats
    exact: bool
    method: str
    num_queries: int
    num_permutations: int = 0
    baseline: float = 0.0
    names: tuple[str, ...] = field(default=())
    stopped: str = ""
    error_parts: Floats | None = field(default=None, repr=False)
    num_samples: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "values", checked_numbers("values", self.values))
        expected = count_sets(self.num_players, self.order, self.values.size)
        for name in ("values", "std_error"):
            array = checked_numbers(name, getattr(self, name))
            if array.shape != (expected,):
                raise ValueError(f"{name} must have shape [{expected}], got {list(array.shape)}")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.error_parts is not None:
            parts = checked_numbers("error_parts", self.error_parts)
            counts = np.cumsum([math.comb(self.num_players, size) for size in reversed(self.sizes)])
            if parts.ndim != 2 or parts.shape[1] not in counts:
                raise ValueError(
                    f"error_parts must have a column for each set of {self.order}, or of smaller sizes too, "
                    f"got {parts.shape}"
                )
            parts.setflags(write=False)
            object.__setattr__(self, "error_parts", parts)
        if not self.names:
            object.__setattr__(self, "names", tuple(str(i) for i in range(self.num_players)))
        if len(self.names) != self.num_players:
            raise ValueError(f"names must list {self.num_players} names, got {len(self.names)}")

    # -- reading --------------------------------------------------------------------------------------------------

    @property
    def num_players(self) -> int:
        """Number of players n."""
        return self.graph.num_players

    @property
    def coalitions(self) -> list[tuple[int, ...]]:
        """The sets of :attr:`values`, in the same order."""
        return [tuple(row) for size in self.sizes for row in subsets_of_size(self.num_players, size).tolist()]

    @property
    def sizes(self) -> range:
        """1 … k."""
        return range(1, self.order + 1)

    def of_size(self, size: int) -> tuple[Integers, Floats, Floats]:
        """Sets of one size [c, size], their values [c] and standard errors [c]."""
        part = self._slice(size)
        return subsets_of_size(self.num_players, size), self.values[part], self.std_error[part]

    def __getitem__(self, players: int | Iterable[int]) -> float:
        return float(self.values[self._position(players)])

    def error(self, players: int | Iterable[int]) -> float:
        """Standard error of one value."""
        return float(self.std_error[self._position(players)])

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Term]:
        for players, value, error in zip(self.coalitions, self.values.tolist(), self.std_error.tolist(), strict=True):
            yield Term(players, value, error)

    @property
    def partial(self) -> bool:
        """Whether the run was interrupted, so that the sample is smaller than requested."""
        return self.stopped in {"cancelled", "interrupted"}

    @property
    def how(self) -> str:
        """How it was computed, in a few words."""
        if self.exact:
            return "exact"
        draws = ((self.num_permutations, "orderings"), (self.num_samples, "random sets"))
        words = [self.method, *(f"{count} {name}" for count, name in draws if count), self.stopped * self.partial]
        return ", ".join(word for word in words if word)

    @property
    def first_order(self) -> Floats:
        """Values of single players [n]."""
        return self.values[: self.num_players].copy()

    @property
    def player_values(self) -> Floats:
        """The contribution of each player, with its part of all its interactions: Myerson or Shapley value [n]."""
        values = np.zeros(self.num_players)
        for size in self.sizes:
            subsets, terms, _ = self.of_size(size)
            np.add.at(values, subsets, (terms / size)[:, None])
        return values

    @property
    def pair_values(self) -> Floats:
        """As :attr:`matrix`, but each pair also has a third of each triple that contains it.

        Of a Taylor index of order 3 these are the pairs of the index of order 2.
        """
        matrix = self.matrix
        if self.order >= 3 and self.num_players >= 3:
            triples, terms, _ = self.of_size(3)
            for i, j in ((0, 1), (0, 2), (1, 2)):
                for row, column in ((i, j), (j, i)):
                    np.add.at(matrix, (triples[:, row], triples[:, column]), terms / 3)
        return matrix

    @property
    def matrix(self) -> Floats:
        """B of the paper: n × n, symmetric, pairs off the diagonal and single players on it."""
        return self._as_matrix(self.values)

    @property
    def std_error_matrix(self) -> Floats:
        """Standard errors in the layout of :attr:`matrix`."""
        return self._as_matrix(self.std_error)

    def group(self, players: Iterable[int], tau: float | None = None) -> float:
        """GrAttr(S): the contribution of a group by the index, the sum of all interactions within it.

        Of all players this is their worth where the values of the index add up, which those of SII and Banzhaf do not.

        Args:
            players: The group S.
            tau: Weight τ ∈ [0, 1] of positive terms; negative ones have the weight 1 − τ. None is the plain sum.
        """
        _check_tau(tau)
        members = np.array(sorted(set(self._checked(players))), dtype=np.int64)
        total = 0.0
        for size in self.sizes:
            if len(members) >= size:
                inside = members[subsets_of_size(len(members), size)]
                values = self.values[self._slice(size)][ranks(inside, self.num_players)]
                weights = 1.0 if tau is None else np.where(values > 0, tau, 1 - tau)
                total += float(np.sum(weights * values))
        return total

    def group_error(self, players: Iterable[int], tau: float | None = None) -> float:
        """Standard error of :meth:`group`, for known signs; NaN if there are too few samples."""
        _check_tau(tau)
        members = np.array(sorted(set(self._checked(players))), dtype=np.int64)
        inside = [
            self._slice(size).start + ranks(members[subsets_of_size(len(members), size)], self.num_players)
            for size in self.sizes
        ]
        rows = np.concatenate(inside)
        weights = np.ones(len(rows)) if tau is None else np.where(self.values[rows] > 0, tau, 1 - tau)
        errors = weights * self.std_error[rows]
        if self.error_parts is None:
            return error_of_sum(errors, None)
        columns = rows - (len(self.values) - self.error_parts.shape[1])
        in_parts = columns >= 0
        parts = weights[in_parts] * self.error_parts[:, columns[in_parts]]
        return math.hypot(error_of_sum(errors[~in_parts], None), error_of_sum(errors[in_parts], parts))

    def redrawn(self, generator: np.random.Generator) -> Interactions:
        """The same interactions with values redrawn within their errors."""
        checked_instance("generator", generator, np.random.Generator, "a generator, as of numpy.random.default_rng(0)")
        return replace(self, values=self.values + noise(self.std_error, self.error_parts, generator))

    def top(self, count: int = 10, size: int | None = None, sign: int = 0) -> list[Term]:
        """The strongest interactions, by absolute value, ties in lexicographic order.

        Args:
            count: How many.
            size: Of sets of this size; the order of the index by default.
            sign: +1 for positive ones only, −1 for negative ones only.
        """
        count = checked_whole("count", count, least=0)
        if not isinstance(sign, int) or sign not in (-1, 0, 1):
            raise ValueError(f"sign must be 1, -1, or 0 for both, got {shortened(sign)}")
        subsets, values, errors = self.of_size(self.order if size is None else size)
        eligible = np.flatnonzero(values * sign > 0) if sign else np.arange(len(values))
        best = eligible[np.argsort(-np.abs(values[eligible]), kind="stable")][:count]
        return [Term(tuple(subsets[row].tolist()), float(values[row]), float(errors[row])) for row in best]

    def __repr__(self) -> str:
        lines = [
            f"Interactions({self.index}, order {self.order}, {self.num_players} players; {self.how}, "
            f"{self.num_queries:,} queries)"
        ]
        for term in self.top(5) if len(self.values) else []:
            error = "" if self.exact else f" ± {term.std_error:.2g}"
            lines.append(f"  {{{', '.join(self.names[p] for p in term.players)}}}: {term.value:+.4g}{error}")
        return printable("\n".join(lines))

    def _repr_html_(self) -> str:
        from mage.report.notebook import interactions_html

        return interactions_html(self)

    # -- arithmetic: indices are linear in the game ---------------------------------------------------------------

    __array_ufunc__ = None  # arrays cannot be added to an index, element by element

    def __add__(self, other: Interactions) -> Interactions:
        """The index of the sum of two games; errors are combined as those of independent runs (different seeds)."""
        if not isinstance(other, Interactions):
            return NotImplemented
        if other is self:
            return self * 2
        if (self.index, self.order, self.graph) != (other.index, other.order, other.graph):
            raise ValueError("can only add interactions of the same index, order and graph")
        return replace(
            self,
            values=self.values + other.values,
            std_error=np.hypot(self.std_error, other.std_error),
            exact=self.exact and other.exact,
            method=self.method if self.method == other.method else f"{self.method} + {other.method}",
            num_queries=self.num_queries + other.num_queries,
            num_permutations=self.num_permutations + other.num_permutations,
            baseline=self.baseline + other.baseline,
            stopped=self.stopped if self.partial or not other.partial else other.stopped,
            error_parts=_stacked(self, other),
            num_samples=self.num_samples + other.num_samples,
            reason=self.reason if self.reason == other.reason else "",
        )

    def __mul__(self, factor: float) -> Interactions:
        if not isinstance(factor, int | float | np.number):
            return NotImplemented
        scale = checked_number("factor", factor)
        return replace(
            self,
            values=scale * self.values,
            std_error=abs(scale) * self.std_error,
            baseline=scale * self.baseline,
            error_parts=None if self.error_parts is None else scale * self.error_parts,
        )

    __rmul__ = __mul__

    def __radd__(self, other: object) -> Interactions:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __truediv__(self, divisor: float) -> Interactions:
        if not checked_number("divisor", divisor):
            raise ValueError("divisor must not be 0")
        return self * (1 / divisor)

    def __neg__(self) -> Interactions:
        return self * -1

    def __sub__(self, other: Interactions) -> Interactions:
        return self + (-other) if isinstance(other, Interactions) else NotImplemented

    # -- keeping --------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write to a file (zip of plain arrays and JSON, no pickle); it is never left incomplete."""
        from mage.indices.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Interactions:
        """Read what :meth:`save` wrote."""
        from mage.indices.storage import load

        return load(path)

    def to_shapiq(self) -> shapiq.InteractionValues:
        """As ``shapiq.InteractionValues``, for its plots (extra ``shapiq``)."""
        from mage.indices.shapiq_values import to_shapiq

        values: shapiq.InteractionValues = to_shapiq(self)
        return values

    @classmethod
    def from_shapiq(cls, values: shapiq.InteractionValues, edges: Any = None) -> Interactions:
        """From ``shapiq.InteractionValues`` (Shapley values, Shapley-Taylor, or the result of :meth:`to_shapiq`)."""
        from mage.indices.shapiq_values import from_shapiq

        return from_shapiq(values, edges)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _slice(self, size: int) -> slice:
        if not 1 <= checked_whole("size", size) <= self.order:
            raise ValueError(f"size must lie in 1 … {self.order}, got {size}")
        start = sum(math.comb(self.num_players, smaller) for smaller in range(1, size))
        return slice(start, start + math.comb(self.num_players, size))

    def _checked(self, players: int | Iterable[int]) -> list[int]:
        if isinstance(players, np.ndarray) and players.dtype == np.bool_:
            if players.shape != (self.num_players,):
                raise ValueError(f"players must be a mask [{self.num_players}], got {list(players.shape)}")
            return np.flatnonzero(players).tolist()
        listed = [players] if isinstance(players, int | np.integer) else players
        if not isinstance(listed, Iterable) or getattr(listed, "ndim", 1) == 0:
            raise TypeError(f"players must be a player or several, got {players!r}")
        try:
            return [checked_player(player, self.num_players) for player in listed]
        except NotImplementedError:
            raise TypeError(f"players must be a player or several, got {shortened(players)}") from None
        except ValueError as error:
            raise KeyError(str(error)) from None

    def _position(self, players: int | Iterable[int]) -> int:
        subset = sorted(set(self._checked(players)))
        if not 1 <= len(subset) <= self.order:
            raise KeyError(f"{tuple(subset)} has {len(subset)} players; this index covers 1 … {self.order}")
        offset = self._slice(len(subset)).start
        return int(offset + ranks(np.array([subset], dtype=np.int64), self.num_players)[0])

    def _as_matrix(self, numbers: Floats) -> Floats:
        result = np.diag(numbers[: self.num_players])
        if self.order >= 2:
            rows, columns = np.triu_indices(self.num_players, 1)
            result[rows, columns] = result[columns, rows] = numbers[self._slice(2)]
        return result


def _check_tau(tau: float | None) -> None:
    if tau is not None and not 0 <= checked_number("tau", tau) <= 1:
        raise ValueError(f"tau must lie in [0, 1], got {tau}")


def _stacked(first: Interactions, second: Interactions) -> Floats | None:
    """Deviations of the sum of two independent estimates."""
    parts = [one.error_parts for one in (first, second) if one.error_parts is not None]
    independent = any(one.error_parts is None and one.std_error.any() for one in (first, second))
    return None if independent or not parts else np.concatenate(parts)
