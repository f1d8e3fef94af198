"""Rule: A and not B: whether one pattern is there without another."""

from mage.datasets.planted_rules import rule_info

INFO = rule_info("rule_not", "Rule: A and not B", ("no A, or B", "A and not B"))
