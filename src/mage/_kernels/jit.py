"""How the kernels are compiled, and the two bit instructions that numba lacks."""

import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import event
from numba.extending import intrinsic

_log = logging.getLogger("mage")
_PATIENCE = 1.0  # seconds of compiling after which people are told

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


# Kernels are loops over numbers: without callbacks from C, and without fused array expressions, they compile in a tenth
# less time.
_ALLOCATING: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, "no_rewrites": True}
_KERNEL: dict[str, Any] = {**_ALLOCATING, "_nrt": False}  # counts no references to arrays
_INNER: dict[str, Any] = {**_KERNEL, "cache": False, "no_cpython_wrapper": True}


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile on first call, keep the machine code on disk, release the interpreter lock while running.

    The caller makes all arrays, which saves a tenth of the time to compile. Shapes and tuples are unpacked, since numba
    compiles a function for each place of them that is looked up.
    """
    return cast("Callable[Parameters, Result]", numba.njit(**_KERNEL)(function))


def allocating_kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The same for kernels that make arrays to work in."""
    return cast("Callable[Parameters, Result]", numba.njit(**_ALLOCATING)(function))


def inner(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile what only kernels call: as a part of them, that Python cannot call and that is not kept for itself.

    Numbers that are written out, such as 0, have types of their own here: with ``np.int64(0)`` it is compiled once.
    """
    return cast("Callable[Parameters, Result]", numba.njit(**_INNER)(function))


class CompilationNotice(event.Listener):
    """Says once that kernels are being compiled, when that takes longer than a moment."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._seconds = 0.0
        self.given = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002 (the interface of numba)
        """A kernel, or a function inside one, begins to be compiled."""
        depth = getattr(self._local, "depth", 0)
        if depth == 0:
            self._local.started = time.perf_counter()
            if self._seconds > _PATIENCE and not self.given:
                self._give()
        self._local.depth = depth + 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002 (the interface of numba)
        """It is compiled."""
        self._local.depth -= 1
        if self._local.depth == 0:
            self._seconds += time.perf_counter() - self._local.started

    def _give(self) -> None:
        self.given = True
        _log.info("compiling, once: later calls start at once")
        if sys.stderr is not None and sys.stderr.isatty():
            print("mage: compiling, once; later calls start at once", file=sys.stderr)


notice = CompilationNotice()
event.register("numba:compile", notice)  # type: ignore[no-untyped-call] # likewise


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
