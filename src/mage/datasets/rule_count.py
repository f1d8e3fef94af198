"""Rule: two copies of A: whether a pattern is there twice or more, as a network with weights set by hand computes it."""

from mage.datasets.planted_rules import rule_info

INFO = rule_info("rule_count", "Rule: two copies of A", ("fewer than two", "two or more"))
