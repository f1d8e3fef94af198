"""The k-SII (Bordt and von Luxburg 2023): the Shapley interaction index, made to add up.

The sets of s players get Σ over S′ ⊇ S, |S′| = s + i ≤ k, of Bᵢ · SII(S′), with Bernoulli's numbers Bᵢ. The sum of the
derivatives over all S′ is a derivative by x, so this is the Euler-Maclaurin formula,

    ∫ p dx + Σ over i = 1 … k−s of Bᵢ / i! · (p⁽ⁱ⁻¹⁾(1) − p⁽ⁱ⁻¹⁾(0)),

which is p(0) for polynomials of degree ≤ k − s: unanimity games of at most k players are given to their carrier alone.
"""

from mage.indices.families.family import Names, two_forms
from mage.indices.measures import Density, Measure, Point


def measure(size: int, order: int) -> Measure:
    """dx, and derivatives at both ends."""
    from scipy.special import bernoulli  # takes 0.1 s to import, which other indices do not need

    numbers = bernoulli(order - size)
    ends = [
        Point(sign * float(numbers[i]) / i, place, i - 1)
        for i in range(1, order - size + 1)
        for place, sign in ((0.0, -1), (1.0, 1))
        if numbers[i]
    ]
    return Measure((Density(1.0),), tuple(ends))


FORMS = two_forms(Names("k-sii", "Iᵏ", "k-SII"), Names("myerson-k-sii", "Iᵏᴱ", "M-k-SII"), measure)
