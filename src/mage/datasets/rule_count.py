"""Rule: two copies of A: whether a pattern is there twice or more."""

from mage.datasets.planted_rules import rule_info

INFO = rule_info("rule_count", "Rule: two copies of A", ("fewer than two", "two or more"))
