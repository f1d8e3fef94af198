"""What belongs to the short suite and what to the long one."""

import pytest
from hypothesis import settings


def long_case(*values):
    """A case of a parametrised test that only the long suite runs."""
    return pytest.param(*values, marks=pytest.mark.long)


def few_or_many_examples(few, many):
    """Settings of a property: few examples in the short suite, many with the profiles of the long one."""
    return settings(max_examples=many if settings().max_examples > 100 else few)
