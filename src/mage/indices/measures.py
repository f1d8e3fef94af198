"""Measures on [0, 1]: what an index gives on unanimity games, as the moments of a measure.

An index gives a set S of s players on the unanimity game u_T, S ⊆ T, |T| = t, a number a_s(t) that depends on sizes
only. Where a_s(t) = ∫ x^(t−s) dμ(x), all else follows from μ: a connected coalition R with S ⊆ R ∪ N(R) and
q = |S ∩ N(R)| counts (−1)^q ∫ x^(|R|+q−s) (1−x)^(|N(R)|−q) dμ(x) times its worth (docs/mathematics.md has the proof).

Here μ may be anything that turns polynomials into numbers by three kinds of terms: polynomial densities, point masses,
and derivatives at 0 and 1. The point 0 stands for the discrete derivative at the empty coalition, the point 1 for that
at all other players, and a chance x in between for random coalitions that take every player with chance x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mage._core.typing import Floats, Integers


class Density(NamedTuple):
    """The density w · x^a · (1−x)^b.

    Attributes:
        weight: w.
        present: a.
        absent: b.
    """

    weight: float
    present: int = 0
    absent: int = 0


class Point(NamedTuple):
    """A mass w at one place c, or a derivative there: p ↦ w · p⁽ʲ⁾(c) / j!.

    Attributes:
        weight: w.
        place: c.
        derivative: j; more than 0 only at the places 0 and 1.
    """

    weight: float
    place: float
    derivative: int = 0


@dataclass(frozen=True)
class Measure:
    """A sum of densities and points, which turns a polynomial p into a number ∫ p dμ.

    Attributes:
        densities: Polynomial densities.
        points: Point masses, and derivatives at 0 and 1.
    """

    densities: tuple[Density, ...] = ()
    points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        for point in self.points:
            if not 0 <= point.place <= 1 or (point.derivative and 0 < point.place < 1):
                raise ValueError(f"points lie in [0, 1], and derivatives at 0 or 1; got {point}")

    @property
    def inner(self) -> Measure:
        """The part that random coalitions sample: densities and points between 0 and 1."""
        return Measure(self.densities, tuple(point for point in self.points if 0 < point.place < 1))

    @property
    def boundary(self) -> Measure:
        """The part that few coalitions tell exactly: what happens at 0 and at 1."""
        return Measure((), tuple(point for point in self.points if not 0 < point.place < 1))

    def __bool__(self) -> bool:
        return bool(self.densities or self.points)

    def highest_derivative(self, place: float) -> float:
        """The highest derivative at a place, 0 for a mass; −∞ where there is neither."""
        return max((point.derivative for point in self.points if point.place == place), default=-math.inf)

    def density(self, x: Floats) -> Floats:
        """The sum of all densities at x."""
        return sum((w * x**a * (1 - x) ** b for w, a, b in self.densities), start=np.zeros_like(x))

    def moments(self, largest: int) -> Floats:
        """∫ x^d dμ for d = 0 … largest: what an index gives on unanimity games, a_s(s), a_s(s + 1) and so on."""
        return self._integrals(largest, 0)[:, 0]

    def integrals(self, largest: int) -> Floats:
        """∫ x^u (1−x)^v dμ for u, v = 0 … largest."""
        return self._integrals(largest, largest)

    def _integrals(self, most_present: int, most_absent: int) -> Floats:
        u, v = np.arange(most_present + 1)[:, None], np.arange(most_absent + 1)[None, :]
        total = np.zeros((most_present + 1, most_absent + 1))
        for weight, a, b in self.densities:
            total += weight * _beta_integrals(most_present + a, most_absent + b)[a:, b:]
        for weight, place, j in self.points:
            if place == 0:
                # The coefficient of xʲ in x^u (1−x)^v, and at 1 that of (x−1)ʲ.
                total += weight * _signs(j - u) * _binomials(v, j - u)
            elif place == 1:
                total += weight * _signs(v) * _binomials(u, j - v)
            else:
                total += weight * place**u * (1 - place) ** v
        return total


def _beta_integrals(most_present: int, most_absent: int) -> Floats:
    """∫ x^u (1−x)^v dx = B(u+1, v+1), by B(u+1, v+1) = B(u, v+1) · u / (u+v+1): more precise than by logarithms."""
    u, v = np.arange(1, most_present + 1)[:, None], np.arange(most_absent + 1)[None, :]
    return np.multiply.accumulate(np.concatenate([1 / (v + 1.0), u / (u + v + 1.0)]), axis=0)


def _binomials(n: Integers, k: Integers) -> Floats:
    """C(n, k), which is 0 where k is negative."""
    return np.asarray(_binomial(n, np.maximum(k, 0)) * (k >= 0))


_binomial = np.vectorize(math.comb, otypes=[np.float64])


def _signs(exponent: Integers) -> Floats:
    return np.where(exponent % 2 == 0, 1.0, -1.0)
