"""Jobs and results as bytes, for sending to workers and back; tensors are sent without storage that they do not use.

A graph of a dataset is a view: its tensors lie in the storage of the whole dataset, and pickle would write all of it.
"""

from __future__ import annotations

import io
import pickle  # only between a run and the workers that it started
import sys
from typing import Any

import numpy as np

from mage.experiments.engines.base import Payload
from mage.experiments.engines.failures import Failure, run_job


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Tensors are sent as arrays, which hold only their own numbers."""
        torch = sys.modules.get("torch")
        if torch is None or type(value) is not torch.Tensor or not _is_plain(torch, value):
            return NotImplemented
        array = value.numpy()
        # torch would warn in the worker about a read-only array, which expanded tensors have.
        return torch.from_numpy, (array if array.flags.writeable else np.array(array),)


def _is_plain(torch: Any, tensor: Any) -> bool:
    """Whether a tensor is nothing more than its numbers, so that an array can replace it."""
    simple = tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
    unknown_to_numpy = tensor.dtype in (torch.bfloat16, torch.complex32)
    return simple and not (tensor.requires_grad or tensor.is_conj() or tensor.is_neg() or unknown_to_numpy)


def pack(value: Any) -> bytes:
    """An object as bytes."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def unpack(content: bytes) -> Any:
    """What :func:`pack` wrote, in this process or in the one that started it."""
    return pickle.loads(content)  # noqa: S301 (see above: never a file, never from others)


def run_packed_job(payload: Payload, content: bytes) -> bytes:
    """The packed result of a packed job, or the :class:`Failure` that it ended with."""
    try:
        return pack(run_job(payload, unpack(content)))
    except Exception as error:  # what cannot be packed or unpacked has no result either
        return pack(Failure.of(error))
