"""Many graphs of different sizes in a few flat arrays, and the work that makes them, spread over processes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mage._core.checks import checked_whole
from mage._core.typing import AnyArray, Integers

Piece = TypeVar("Piece")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class RaggedGraphs:
    """Many graphs, one behind the other, in flat arrays that can be stored and mapped from disk as they are.

    Attributes:
        x: Node features [N, d] of all graphs.
        node_ptr: Rows of ``x`` that belong to graph i are ``node_ptr[i]:node_ptr[i + 1]``; int64 [g + 1].
        edge_index: Edges of all graphs, int32 [2, E]; node numbers start at 0 in each graph, each undirected edge is
            there in both directions, and the edges of a graph are sorted by source, then target.
        edge_ptr: Columns of ``edge_index`` that belong to graph i are ``edge_ptr[i]:edge_ptr[i + 1]``; int64 [g + 1].
    """

    x: AnyArray
    node_ptr: Integers
    edge_index: AnyArray
    edge_ptr: Integers

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def graph(self, index: int) -> tuple[AnyArray, AnyArray]:
        """Features and edges of one graph, as views."""
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} graphs, got index {index}")
        nodes = slice(self.node_ptr[index], self.node_ptr[index + 1])
        edges = slice(self.edge_ptr[index], self.edge_ptr[index + 1])
        return self.x[nodes], self.edge_index[:, edges]


def pointers(counts: AnyArray | Sequence[int]) -> Integers:
    """Where each of several runs starts in a flat array, and last where it ends, from their lengths."""
    ends = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ends[1:])
    return ends


def concatenate(parts: Iterable[RaggedGraphs]) -> RaggedGraphs:
    """The graphs of all parts, in order."""
    parts = tuple(parts)
    if not parts:
        raise ValueError("parts must hold at least one RaggedGraphs: an empty list has no feature width")
    return RaggedGraphs(
        x=np.concatenate([part.x for part in parts]),
        node_ptr=pointers(np.concatenate([np.diff(part.node_ptr) for part in parts])),
        edge_index=np.concatenate([part.edge_index for part in parts], axis=1),
        edge_ptr=pointers(np.concatenate([np.diff(part.edge_ptr) for part in parts])),
    )


def mapped(function: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int) -> Iterator[Result]:
    """Results of a function in the order of the pieces, computed in this process or by several new ones.

    New processes are not forks of this one: a fork of a process whose torch threads are running may hang.
    """
    workers = min(checked_whole("workers", workers), len(pieces))
    if workers <= 1:
        yield from map(function, pieces)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers, mp_context=_context()) as pool:
        yield from pool.map(function, pieces)


def _context() -> Any:
    """How to start processes: from a server that imports torch once for all of them, which takes seconds, or anew."""
    import multiprocessing

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context
