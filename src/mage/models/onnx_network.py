"""Networks in the ONNX format, run by ONNX Runtime: other people's, and ours where that is faster."""

from __future__ import annotations

import hashlib
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mage._core.optional import require


class OnnxNetwork:
    """A network [b, c, h, w] → [b, classes] of an ONNX file, on the processor.

    Can be sent to other processes, where it is set up anew with as many threads as torch has there.

    Args:
        content: The file's content.
        name: Its name, for messages.
    """

    def __init__(self, content: bytes, name: str = "the ONNX model") -> None:
        self.content = content
        self.name = name
        self._session: Any = None
        inputs = self.session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4:
            shapes = ", ".join(f"{tensor.name} {tensor.shape}" for tensor in inputs)
            raise ValueError(f"model: {name} must take one input [b, c, h, w], it takes {shapes}")
        if inputs[0].type != "tensor(float)":
            raise ValueError(f"model: {name} must take 32-bit floats, it takes {inputs[0].type}")

    @classmethod
    def of_file(cls, path: str | Path) -> OnnxNetwork:
        """The network of a file."""
        file = Path(path)
        if not file.is_file():
            raise FileNotFoundError(f"model: the file {file} does not exist")
        return cls(file.read_bytes(), file.name)

    @classmethod
    def of_module(cls, module: torch.nn.Module, shape: tuple[int, int, int]) -> OnnxNetwork:
        """A torch network, exported; on processors without a GPU several times as fast for small convolutions."""
        require("onnx", "image")
        written = io.BytesIO()
        training = module.training
        try:
            with warnings.catch_warnings():
                # The exporter that needs nothing but torch and onnx warns that there is another one.
                warnings.simplefilter("ignore")
                torch.onnx.export(
                    module.eval(),
                    (torch.zeros(2, *shape),),
                    written,  # type: ignore[arg-type]  # files are taken, though the signature does not say so
                    input_names=["images"],
                    output_names=["logits"],
                    dynamic_axes={"images": {0: "batch"}, "logits": {0: "batch"}},
                    dynamo=False,
                )
        finally:
            module.train(training)
        return cls(written.getvalue(), type(module).__name__)

    @property
    def session(self) -> Any:
        """ONNX Runtime's session, made on first use."""
        if self._session is None:
            runtime = require("onnxruntime", "image")
            options = runtime.SessionOptions()
            options.intra_op_num_threads = torch.get_num_threads()
            options.log_severity_level = 3
            try:
                self._session = runtime.InferenceSession(self.content, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # ONNX Runtime has a class of its own for each kind of damage
                raise ValueError(f"model: {self.name} cannot be run by ONNX Runtime: {error}") from error
        return self._session

    @property
    def size(self) -> tuple[int, int, int] | None:
        """Channels, height and width that the network takes; None where it leaves one of them open."""
        _, *sides = self.session.get_inputs()[0].shape
        return tuple(sides) if all(isinstance(side, int) for side in sides) else None

    @property
    def fingerprint(self) -> str:
        """What tells this network from others."""
        return hashlib.sha256(self.content).hexdigest()

    def __call__(self, images: Tensor) -> Tensor:
        """Rows of the first output."""
        signature = self.session.get_inputs()[0]
        array = images.detach().cpu().float().numpy()
        # Files that were exported for one image at a time take no more.
        portion = signature.shape[0] if isinstance(signature.shape[0], int) else max(1, len(array))
        if len(array) % portion:
            raise ValueError(f"model: {self.name} takes batches of {portion} images only; export it with a free batch")
        parts = [array[start : start + portion] for start in range(0, len(array), portion)]
        rows = [self.session.run(None, {signature.name: part})[0] for part in parts]
        return torch.from_numpy(np.concatenate(rows))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}
