"""The Shapley interaction index (Grabisch and Roubens 1999): a_s(t) = 1 / (t − s + 1), at every order."""

from mage.indices.families.family import Names, two_forms
from mage.indices.measures import Density, Measure


def measure(size: int, order: int) -> Measure:  # noqa: ARG001 (a value does not depend on the order of the index)
    """Lebesgue measure, dx."""
    return Measure((Density(1.0),))


FORMS = two_forms(Names("sii", "I", "SII"), Names("myerson-sii", "Iᴱ", "M-SII"), measure)
