"""Metrics: plain functions on masks, motifs and games."""

from mage.metrics.agreement import ami, edge_auc, node_f1, sparsity
from mage.metrics.faithfulness import Fidelity, fidelity, robust_fidelity
from mage.metrics.group_attribution import Infidelity, group_attributions, infidelity, random_groups
from mage.metrics.summary import Summary, summarise

__all__ = [
    "Fidelity",
    "Infidelity",
    "Summary",
    "ami",
    "edge_auc",
    "fidelity",
    "group_attributions",
    "infidelity",
    "node_f1",
    "random_groups",
    "robust_fidelity",
    "sparsity",
    "summarise",
]
