"""Rule: A and B: whether both of two patterns are there."""

from mage.datasets.planted_rules import rule_info

INFO = rule_info("rule_and", "Rule: A and B", ("not both", "A and B"))
