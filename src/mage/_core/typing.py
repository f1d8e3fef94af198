"""Array types used in signatures."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[np.uint64]
"""Coalitions as rows of 64-bit words."""
Masks: TypeAlias = NDArray[np.bool_]
"""Coalitions as rows of booleans, one column per player."""
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
AnyArray: TypeAlias = NDArray[Any]
