"""Rule: A or B: whether at least one of two patterns is there."""

from mage.datasets.planted_rules import rule_info

INFO = rule_info("rule_or", "Rule: A or B", ("neither", "A or B"))
