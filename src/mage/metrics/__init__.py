"""Metrics: plain functions on masks, motifs and games, and the registry of those that tables show.

A line below makes a name public. The import of its module also registers the metrics in it.
"""

from mage.metrics.agreement import ami as ami
from mage.metrics.agreement import edge_auc as edge_auc
from mage.metrics.agreement import node_f1 as node_f1
from mage.metrics.agreement import signed_f1 as signed_f1
from mage.metrics.cases import ExplainedGraph as ExplainedGraph
from mage.metrics.cases import GroupPredictions as GroupPredictions
from mage.metrics.faithfulness import Fidelity as Fidelity
from mage.metrics.faithfulness import fidelity as fidelity
from mage.metrics.faithfulness import robust_fidelity as robust_fidelity
from mage.metrics.group_attribution import Infidelity as Infidelity
from mage.metrics.group_attribution import group_attributions as group_attributions
from mage.metrics.group_attribution import infidelity as infidelity
from mage.metrics.group_attribution import random_groups as random_groups
from mage.metrics.motif_overlap import motif_iou as motif_iou
from mage.metrics.registry import METRICS as METRICS
from mage.metrics.registry import Metric as Metric
from mage.metrics.registry import find_metric as find_metric
from mage.metrics.registry import measure_case as measure_case
from mage.metrics.registry import metrics_for as metrics_for
from mage.metrics.registry import register as register
from mage.metrics.size_and_cost import sparsity as sparsity
from mage.metrics.summary import Summary as Summary
from mage.metrics.summary import summarise as summarise
