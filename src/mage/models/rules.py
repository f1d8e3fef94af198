"""Networks whose weights are set by a formula, so that what they do is known: the rules of ``rule_*`` datasets."""

from __future__ import annotations

import torch
from torch import nn
from torch_geometric.nn import GraphConv, global_add_pool

from mage._core.checks import checked_text
from mage.datasets.planted_rules import NUM_COLOURS, PATTERNS, RULES, Rule

SCALE = 4.0
"""What one copy of a pattern adds to the difference of the logits where its weight is 1."""


class RuleNetwork(nn.Module):
    """Counts the copies of two patterns and compares a weighted sum of the counts with a threshold.

    The layer has one unit per pattern: ReLU(own colour is the centre's + neighbours of the leaves' colours − number of
    leaves). It is 1 at the centre of a copy and 0 at all other nodes as long as no node has two neighbours of a
    leaf's colour. Readout is the sum, which counts copies. The logits are −z / 2 and z / 2 with z = ``SCALE`` ·
    (weights · counts − threshold).

    Args:
        rule: The rule.
    """

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self.convolution = GraphConv(NUM_COLOURS, len(PATTERNS))
        self.head = nn.Linear(len(PATTERNS), 2)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.zero_()
            for unit, pattern in enumerate(PATTERNS):
                self.convolution.lin_root.weight[unit, pattern.centre] = 1.0
                self.convolution.lin_rel.weight[unit, list(pattern.leaves)] = 1.0
                self.convolution.lin_rel.bias[unit] = -len(pattern.leaves)
            for label, half in ((0, -SCALE / 2), (1, SCALE / 2)):
                self.head.weight[label] = half * torch.tensor(rule.weights)
                self.head.bias[label] = -half * rule.threshold

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor | None = None) -> torch.Tensor:
        """Logits of each graph."""
        copies = global_add_pool(self.convolution(x, edge_index).relu(), batch)
        logits: torch.Tensor = self.head(copies)
        return logits


def rule_network(dataset: str) -> RuleNetwork:
    """The network of the rule of a dataset, in evaluation mode.

    Args:
        dataset: ``"rule_and"``, ``"rule_or"``, ``"rule_not"`` or ``"rule_count"``.
    """
    if checked_text("dataset", dataset) not in RULES:
        raise ValueError(f"dataset: {dataset!r} has no rule; those with one are {', '.join(RULES)}")
    return RuleNetwork(RULES[dataset]).eval()
