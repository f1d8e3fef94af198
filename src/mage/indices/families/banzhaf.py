"""The Banzhaf interaction index (Grabisch and Roubens 1999): a_s(t) = 2^−(t−s), at every order.

Order 1 is the Banzhaf value.
"""

from mage.indices.families.family import Names, two_forms
from mage.indices.measures import Measure, Point


def measure(size: int, order: int) -> Measure:  # noqa: ARG001 (a value does not depend on the order of the index)
    """A mass at 1/2."""
    return Measure(points=(Point(1.0, 0.5),))


FORMS = two_forms(Names("banzhaf", "β", "BII"), Names("myerson-banzhaf", "βᴱ", "M-BII"), measure)
