"""How the kernels are compiled, and the two bit instructions that numba lacks."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile on first call, keep the machine code on disk, release the interpreter lock while running."""
    return cast("Callable[Parameters, Result]", numba.njit(cache=True, nogil=True)(function))


def _popcount(_typing_context: Any, _word: Any) -> Any:
    """Number of set bits of a 64-bit word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _lowest_bit(_typing_context: Any, _word: Any) -> Any:
    """Position of the lowest set bit of a non-zero 64-bit word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


popcount = cast("Callable[[np.uint64], int]", intrinsic(_popcount))
lowest_bit = cast("Callable[[np.uint64], int]", intrinsic(_lowest_bit))
