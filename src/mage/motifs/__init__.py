"""Motifs: which groups?"""

from mage.indices.stopping import CONDITIONS
from mage.motifs.api import family_objective, find_motifs
from mage.motifs.problem import MotifProblem
from mage.motifs.request import BOTH, MotifRequest
from mage.motifs.result import PROVEN, Motif, MotifSet, PathStep, labels_of
from mage.motifs.stability import MotifsStable

__all__ = [
    "BOTH",
    "PROVEN",
    "Motif",
    "MotifProblem",
    "MotifRequest",
    "MotifSet",
    "MotifsStable",
    "PathStep",
    "family_objective",
    "find_motifs",
    "labels_of",
]

CONDITIONS["motifs stable"] = MotifsStable
