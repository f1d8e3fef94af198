"""What draws of coalitions say of an index: a value, and how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mage._core.typing import Floats, Integers
from mage.indices.estimators.surrogate.population import Population
from mage.indices.standard_errors import num_parts, widening


@dataclass
class Moments:
    """An estimate and the moments of its error.

    Args:
        value: The estimate [sets].
        variance: Its variance.
        third: The third central moment of its error.
        deviations: Parts of its error [parts, sets], see :mod:`mage.indices.standard_errors`; no rows if
            there are too many sets.
        draws: Coalitions drawn.
    """

    value: Floats
    variance: Floats
    third: Floats
    deviations: Floats
    draws: int = 0

    @classmethod
    def of(cls, value: Floats) -> Moments:
        """A value without error, to which draws are added."""
        nothing = np.zeros_like(value)
        return cls(value, nothing, nothing, np.zeros((num_parts(len(value)), len(value))))

    @property
    def std_error(self) -> Floats:
        """Standard errors, wider where draws are few or lopsided."""
        factor = widening(self.third**2, self.variance**3, self.draws)
        return np.asarray(factor * np.sqrt(self.variance))

    def add_draw(
        self,
        population: Population,
        rows: Integers,
        scaled: Floats,
        open_share: Floats,
        generator: np.random.Generator,
    ) -> None:
        """Add Σ c (f − g) / π over a draw of fixed size (variance by Hájek's approximation).

        Args:
            population: The coalitions.
            rows: Those drawn.
            scaled: ω (f − g) / π.
            open_share: 1 − π.
            generator: Deals the draw into parts.
        """
        self.value = self.value + population.index(scaled, rows)
        weight, count = float(open_share.sum()), len(rows)
        first, self.draws = self.draws, self.draws + count
        if weight <= 0:
            return
        centre = population.index(open_share * scaled, rows) / weight
        correction = count / max(count - 1, 1)
        squares = population.index(open_share * scaled**2, rows, power=2) - centre**2 * weight
        self.variance = self.variance + correction * np.maximum(squares, 0.0)
        shares = open_share**1.5
        cubes = (
            population.index(shares * scaled**3, rows, power=3)
            - 3 * centre * population.index(shares * scaled**2, rows, power=2)
            + 3 * centre**2 * population.index(shares * scaled, rows)
            - centre**3 * shares.sum()
        )
        self.third = self.third + correction**1.5 * cubes
        if len(self.deviations):
            # Dealt in turn, so that all parts get as much.
            part = (first + generator.permutation(count)) % len(self.deviations)
            roots = np.sqrt(correction * open_share)
            for number in np.unique(part):
                inside = part == number
                terms = population.index((roots * scaled)[inside], rows[inside])
                self.deviations[number] += terms - centre * roots[inside].sum()

    def averaged(self, other: Moments) -> Moments:
        """The mean of two independent estimates by their precision."""
        first, second = float(self.variance.mean()), float(other.variance.mean())
        share = first / (first + second) if first + second > 0 else 1.0
        return Moments(
            (1 - share) * self.value + share * other.value,
            (1 - share) ** 2 * self.variance + share**2 * other.variance,
            (1 - share) ** 3 * self.third + share**3 * other.third,
            (1 - share) * self.deviations + share * other.deviations,
            self.draws + other.draws,
        )
