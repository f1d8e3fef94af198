"""The Shapley-Taylor index (Sundararajan, Dhamdhere, Agarwal 2020) and the Myerson-Taylor index (Bui et al. 2024).

Sets below the order get what they add to nothing, the rest goes to sets of the order: a_s(t) = [t = s] for s < k and
a_k(t) = 1 / C(t, k).
"""

from mage.indices.families.family import Names, two_forms
from mage.indices.measures import Density, Measure, Point


def measure(size: int, order: int) -> Measure:
    """δ₀ below the order, k (1−x)^(k−1) dx at the order."""
    return Measure((Density(order, absent=order - 1),)) if size == order else Measure(points=(Point(1.0, 0.0),))


FORMS = two_forms(Names("shapley-taylor", "Φ", "STII"), Names("myerson-taylor", "Ψ", "MTII"), measure)
