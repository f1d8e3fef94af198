"""The rows of a model's output that are explained, and what they belong to: graphs, nodes or links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.explain.config import ModelMode

TASKS = {
    ModelMode.multiclass_classification: "multiclass",
    ModelMode.binary_classification: "binary",
    ModelMode.regression: "regression",
}


class ExplainedRow(NamedTuple):
    """One number of the output.

    Attributes:
        row: Its row.
        column: Its column, where each is an output of its own (labels, numbers of a regression); else None.
        target: The class; None for regressions.
    """

    row: int
    column: int | None
    target: int | None


def level_of(declared: str, rows: int, sizes: dict[str, int]) -> str:
    """What the rows of the output are: as PyG's configuration says, else what has as many.

    Args:
        declared: The task level of the configuration.
        rows: Rows of the output.
        sizes: How many graphs, nodes and links there are, by level.
    """
    fitting = [level for level in (declared, "graph", "node", "edge") if sizes.get(level) == rows]
    if fitting:
        return fitting[0]
    if rows == 1:
        return "graph"
    listed = ", ".join(f"{count} for {level}s" for level, count in sizes.items() if count)
    raise ValueError(f"model returned {rows} rows for task_level={declared!r}, and there should be {listed}")


def explained_rows(
    prediction: Tensor, mode: ModelMode, index: int | Tensor | None, target: Tensor | None
) -> list[ExplainedRow]:
    """All outputs that PyG's ``index`` names.

    Args:
        prediction: The model's output [r, c].
        mode: What the model does.
        index: Rows; all by default.
        target: The class of each row (of each label); ignored for regression.
    """
    count, columns = prediction.shape
    apart = mode != ModelMode.multiclass_classification and columns > 1
    classes = None if mode == ModelMode.regression or target is None else _classes(target, count, columns, apart)
    outputs = []
    for row in checked_index(index, count):
        for column in range(columns) if apart else (None,):
            place = row if column is None else row * columns + column
            outputs.append(ExplainedRow(row, column, None if classes is None else classes[place]))
    return outputs


def checked_index(index: int | Tensor | Sequence[int] | None, count: int) -> list[int]:
    """Rows by number; negative ones count from the end, and truth values choose."""
    if index is None:
        return list(range(count))
    try:
        rows = torch.as_tensor(index).flatten()
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"index must be a number or a tensor of numbers, got {index!r}") from None
    if rows.dtype == torch.bool:
        if len(rows) != count:
            raise ValueError(f"index: a mask needs a value for each of {count} outputs, got {len(rows)}")
        rows = torch.nonzero(rows).flatten()
    if rows.is_floating_point() or rows.is_complex():
        raise ValueError(f"index must hold whole numbers, got {rows.dtype}")
    wrong = [row for row in rows.tolist() if not -count <= row < count]
    if wrong:
        raise ValueError(f"index: {wrong[0]} is not one of the model's {count} outputs")
    if not len(rows):
        raise ValueError("index names no output")
    return list(dict.fromkeys(int(row) % count for row in rows.tolist()))


def _classes(target: Tensor, count: int, columns: int, apart: bool) -> list[int]:
    """The class of each row, or of each label of each row."""
    flat = target.flatten()
    expected = count * columns if apart else count
    if flat.numel() == 1:
        flat = flat.expand(expected)
    if flat.numel() != expected:
        raise ValueError(f"target must name a class for each of {expected} outputs, got {list(target.shape)}")
    wrong = flat[flat != flat.long()]
    if len(wrong):
        raise ValueError(f"target must hold the numbers of classes, got {wrong[0].item()}")
    return [int(number) for number in flat.tolist()]
