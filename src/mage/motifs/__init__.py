"""Motifs: which groups?"""

from mage.indices.stopping import CONDITIONS
from mage.motifs.api import check_request, checked_max_nodes, find_motifs
from mage.motifs.problem import MotifProblem
from mage.motifs.result import Motif, MotifSet
from mage.motifs.stability import MotifsStable

__all__ = ["Motif", "MotifProblem", "MotifSet", "MotifsStable", "check_request", "checked_max_nodes", "find_motifs"]

CONDITIONS["motifs stable"] = MotifsStable
