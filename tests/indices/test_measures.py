"""Integrals of measures, against rational arithmetic."""

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest

from mage.indices import FAMILIES, Density, Measure, Point

MEASURES = {
    (name, size, order): family.measure(size, order)
    for name, family in FAMILIES.items()
    if not family.sees_graph
    for order in range(1, (family.largest_order or 4) + 1)
    for size in range(1, order + 1)
}


def exact_terms(measure, u, v):
    """∫ x^u (1−x)^v of each density and point of a measure, as fractions."""
    for weight, a, b in measure.densities:
        yield Fraction(weight) * Fraction(factorial(u + a) * factorial(v + b), factorial(u + a + v + b + 1))
    for weight, place, derivative in measure.points:
        x = Fraction(place)
        # The derivative of a polynomial, coefficient by coefficient.
        coefficients = {u + i: Fraction((-1) ** i * comb(v, i)) for i in range(v + 1)}
        yield Fraction(weight) * sum(
            c * comb(power, derivative) * x ** (power - derivative)
            for power, c in coefficients.items()
            if power >= derivative
        )


@pytest.mark.parametrize("key", MEASURES, ids=str)
def test_integrals_are_precise(key):
    measure = MEASURES[key]
    table = measure.integrals(60)
    generator = np.random.default_rng(0)
    pairs = [*generator.integers(0, 60, size=(40, 2)).tolist(), (0, 0), (0, 1), (1, 0), (60, 0), (0, 60), (2, 1)]
    for u, v in pairs:
        terms = list(exact_terms(measure, u, v))
        scale = float(sum(abs(term) for term in terms))
        assert table[u, v] == pytest.approx(float(sum(terms)), rel=0, abs=1e-13 * scale + 1e-300)


@pytest.mark.parametrize("largest", [170, 400, 1000])
def test_integrals_stay_precise_for_many_players(largest):
    table = FAMILIES["shapley-taylor"].measure(2, 2).integrals(largest)
    for u, v in np.random.default_rng(1).integers(0, largest // 2, size=(200, 2)).tolist():
        expected = 2 / ((u + v + 2) * comb(u + v + 1, u))  # 2 B(u + 1, v + 2), divided without rounding
        if expected > 1e-300:
            assert table[u, v] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("key", MEASURES, ids=str)
def test_integrals_are_those_of_a_linear_functional(key):
    """x + (1 − x) = 1."""
    table = MEASURES[key].integrals(30)
    scale = np.abs(table).max()
    np.testing.assert_allclose(table[1:, :-1] + table[:-1, 1:], table[:-1, :-1], atol=1e-13 * scale, rtol=1e-12)


@pytest.mark.parametrize("key", MEASURES, ids=str)
def test_moments_and_parts_belong_together(key):
    measure = MEASURES[key]
    np.testing.assert_array_equal(measure.moments(20), measure.integrals(20)[:, 0])
    total = measure.inner.integrals(20) + measure.boundary.integrals(20)
    np.testing.assert_allclose(total, measure.integrals(20), rtol=1e-14, atol=1e-14)


def test_the_density_is_what_is_integrated():
    measure = Measure((Density(2.0, 1, 2), Density(-3.0, 0, 1)))
    x = (np.arange(20_000) + 0.5) / 20_000
    assert measure.density(x).mean() == pytest.approx(measure.integrals(0)[0, 0], abs=1e-8)
    assert (measure.density(x) * x**2 * (1 - x)).mean() == pytest.approx(measure.integrals(2)[2, 1], abs=1e-8)


def test_derivatives_matter_where_they_are():
    measure = Measure(points=(Point(1.0, 0.0, 2), Point(2.0, 1.0)))
    assert measure.highest_derivative(0.0) == 2
    assert measure.highest_derivative(1.0) == 0
    assert measure.highest_derivative(0.5) == -np.inf
    # p''(0)/2 + 2 p(1): of x² (1 − x)^v, 1 and another 2 where v = 0.
    assert measure.integrals(3)[2].tolist() == [3.0, 1.0, 1.0, 1.0]
    assert measure.integrals(3)[3].tolist() == [2.0, 0.0, 0.0, 0.0]
    assert not measure.inner
    assert measure.boundary == measure


@pytest.mark.parametrize("point", [Point(1.0, 1.5), Point(1.0, -0.1), Point(1.0, 0.5, 1)])
def test_points_outside_are_refused(point):
    with pytest.raises(ValueError, match=r"points lie in \[0, 1\]"):
        Measure(points=(point,))
