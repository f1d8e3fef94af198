"""The faithful Shapley interaction index (Tsai, Yeh, Ravikumar 2023): the best fit by sets of at most k.

Its values on unanimity games (their Theorem 19) are, for t > k,

    a_s(t) = (−1)^(k−s) · s/(k+s) · C(k, s) · C(t−1, k) / C(t+k−1, k+s),

and [t = s] for t ≤ k. With m = k − s this is one rational function of t, the moments of the polynomial

    Σ over i = 0 … m of (−1)^i · (k+s−1)! k! / ((s−1)! i! (m−i)! (s+i)! (k−1−i)!) · x^(s−1+i) (1−x)^(k−1−i).

At s = k it is the density of the Beta(k, k) distribution.
"""

from math import factorial

from mage.indices.families.family import Names, two_forms
from mage.indices.measures import Density, Measure


def measure(size: int, order: int) -> Measure:
    """The polynomial above."""
    densities = []
    for i in range(order - size + 1):
        above = factorial(order + size - 1) * factorial(order)
        below = factorial(size - 1) * factorial(i) * factorial(order - size - i)
        below *= factorial(size + i) * factorial(order - 1 - i)
        densities.append(Density((-1) ** i * above / below, size - 1 + i, order - 1 - i))
    return Measure(tuple(densities))


FORMS = two_forms(Names("faith-shap", "F", "FSII"), Names("myerson-faith-shap", "Fᴱ", "M-FSII"), measure)
