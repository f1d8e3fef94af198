"""Motifs: which groups?"""

from mage.motifs.api import find_motifs
from mage.motifs.problem import MotifProblem
from mage.motifs.result import Motif, MotifSet

__all__ = ["Motif", "MotifProblem", "MotifSet", "find_motifs"]
