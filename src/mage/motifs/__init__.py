"""Motifs: which groups?"""

from mage.indices.stopping import CONDITIONS
from mage.motifs.api import family_objective, find_motifs
from mage.motifs.problem import MotifProblem
from mage.motifs.request import MotifRequest
from mage.motifs.result import PROVEN, Motif, MotifSet
from mage.motifs.stability import MotifsStable

__all__ = [
    "PROVEN",
    "Motif",
    "MotifProblem",
    "MotifRequest",
    "MotifSet",
    "MotifsStable",
    "family_objective",
    "find_motifs",
]

CONDITIONS["motifs stable"] = MotifsStable
