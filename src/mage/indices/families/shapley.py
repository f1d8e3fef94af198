"""The Shapley value (Shapley 1953) and the Myerson value (Myerson 1977): the Taylor indices of order 1."""

from mage.indices.families.family import Names, two_forms
from mage.indices.families.shapley_taylor import measure

FORMS = two_forms(Names("shapley", "φ", "SV"), Names("myerson", "ψ", "MV"), measure, largest_order=1)
