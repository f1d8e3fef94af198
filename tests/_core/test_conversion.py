from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from mage._core.conversion import from_plain, same, stored_as, to_plain


@stored_as("tests.conversion.thing")
@dataclass(frozen=True)
class Thing:
    """Fields with the names that files use for marks, but for the dollar sign."""

    kind: str = "auto"
    array: Any = None
    what: tuple[int, ...] = ()


@dataclass(frozen=True)
class Holder:
    thing: Any
    numbers: Mapping[str, float] = field(default_factory=dict)


@pytest.mark.parametrize("array", [None, 3, np.arange(4), {"array": 1, "kind": "x"}, [1, (2.0, "a")]])
def test_field_names_are_not_mistaken_for_marks(array):
    value = Holder(Thing("graph", array, (1, 2)), {"kind": 1.0, "array": 2.0})
    plain, arrays = to_plain(value)
    again = from_plain(Holder, plain, arrays)
    assert same(again, value)
    assert again.thing.kind == "graph"


@pytest.mark.parametrize("mapping", [{"$kind": "not stored"}, {"$array": "thing"}])
def test_mappings_cannot_pretend_to_be_something_else(mapping):
    with pytest.raises(TypeError, match=r"thing: names of a mapping must not start with '\$'"):
        to_plain(Holder(mapping))
