"""Games whose players are the regions of an image and whose referee is an image classifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mage._core.requests import changed
from mage._core.typing import Floats, Masks
from mage._torch.evaluation import evaluating, exclusively
from mage._torch.outputs import Readout
from mage.games.game import Game
from mage.games.request import ImageRequest
from mage.graph import PlayerGraph
from mage.image.regions import adjacent_regions, background, checked_segments, described, grid_segments

_BATCH_SIZE = 64  # images
_COPIES = 4
"""Activations that live at a time, in units of the largest: what goes in and out of a layer, and a short cut's."""


class ImageGame(Game):
    """What is a set of regions of an image worth to a classifier?

    Players are the patches of a grid or the segments of a label map, joined where they touch side by side. The worth of
    a coalition is the classifier's output on the image with all other regions hidden, less that with all hidden.

    Args:
        model: Any callable that maps images [b, c, h, w] to rows [b, classes], or to an object with such ``logits``. It
            is left as it was.
        image: One image [c, h, w], prepared the way the model wants it: resized, normalised, floats.
        request: How the model is queried; see :class:`mage.games.ImageRequest`.
        names: Names of the players; by default "row 1, column 1" or "segment 0".
        fields: Fields of the request by name, such as ``patches=(4, 4)``.

    Attributes:
        segments: The label map with labels 0, 1, … and −1 [h, w].
        prediction: The model's row for the whole image.
        masking: What hides a region, in a word.
    """

    level = "image"
    readout: Readout

    def __init__(
        self,
        model: Any,
        image: Any,
        request: ImageRequest | None = None,
        *,
        names: Sequence[str] | None = None,
        **fields: Any,
    ) -> None:
        self.request = request = changed(request or ImageRequest(), **fields)
        if not callable(model):
            raise TypeError(f"model must be callable with images [b, c, h, w], got {type(model).__name__}")
        self.model = model
        self.image = _checked_image(image, model)
        channels, height, width = self.image.shape
        if request.segments is None:
            self.segments, own_names = grid_segments(height, width, request.patches)
        else:
            self.segments, own_names = checked_segments(request.segments, height, width)
        self.masking = described(request.fill)
        self._hidden = background(self.image, request.fill)
        self._labels = torch.from_numpy(self.segments.ravel()).to(self.image.device)
        self._images_run = 0
        count = len(own_names)
        with exclusively(model), _largest_activation(model) as largest:
            rows = self._first_run(count)
        self.readout = Readout.of(rows[:1], request.task, request.target, request.output, request.return_type)
        self.prediction: Floats = rows[0].double().cpu().numpy()
        if request.return_type == "raw" and self.readout.task == "multiclass":
            _refuse_probabilities(rows)
        per_image = 4 * channels * height * width
        super().__init__(
            self._value,
            count,
            PlayerGraph(count, adjacent_regions(self.segments)),
            own_names if names is None else names,
            baseline=request.baseline,
            batch_size=request.batch_size or _BATCH_SIZE,
            # Without a look inside, a rough guess: convolutions make tens of channels of three at half the side.
            bytes_per_coalition=3 * per_image + _COPIES * (largest[0] or 8 * per_image),
            memory_cap=request.memory_cap,
        )
        self.settle_output(rows[1:])
        if self._baseline is None:
            self._baseline = float(self.readout(rows)[1])

    @property
    def num_queries(self) -> int:
        """Images the model has been run on, the whole one and the hidden one included."""
        return self._images_run

    def masked(self, coalitions: Any) -> Tensor:
        """The images [q, c, h, w] that the model sees for coalitions given as booleans [q, n]."""
        present = torch.as_tensor(np.asarray(coalitions, dtype=bool), device=self.image.device)
        # One more column for the pixels that belong to no region: the label −1 selects it.
        with_background = torch.cat([present, torch.ones_like(present[:, :1])], dim=1)
        visible = with_background[:, self._labels].view(-1, 1, *self.image.shape[1:])
        return torch.where(visible, self.image, self._hidden)

    # -- evaluation -----------------------------------------------------------------------------------------------

    def _value(self, masks: Masks) -> Floats:
        values: Floats = self.readings(masks, (self.readout,))[0]
        return values

    def readings(self, masks: Masks, readouts: Sequence[Readout]) -> Floats:
        """Several numbers [r, q] of the classifier's rows for coalitions [q, n], from one run."""
        outputs = self._outputs(self.masked(masks))
        return np.stack([readout(outputs).cpu().numpy() for readout in readouts])

    def _first_run(self, count: int) -> Tensor:
        """Rows for the whole image and for the hidden one, or an error that says what the model did not like."""
        try:
            return self._outputs(self.masked(np.repeat([[True], [False]], count, axis=1)))
        except (RuntimeError, IndexError, AssertionError, ValueError) as error:
            shape = " × ".join(str(side) for side in self.image.shape)
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise ValueError(
                f"image: the model does not take images of {shape} (channels × height × width): {reason}"
            ) from error

    def _outputs(self, images: Tensor) -> Tensor:
        self._images_run += len(images)
        threads = torch.get_num_threads()
        with evaluating(self.model):
            # Unlike graphs, images make kernels that are large enough to share.
            torch.set_num_threads(threads)
            returned = self.model(images)
        out = returned.logits if hasattr(returned, "logits") else returned
        if not isinstance(out, Tensor) or out.dim() not in (1, 2) or len(out) != len(images):
            description = list(out.shape) if isinstance(out, Tensor) else type(out).__name__
            raise ValueError(
                f"model must return one row of numbers for each of {len(images)} images, got {description}"
            )
        return out.unsqueeze(-1) if out.dim() == 1 else out


def _refuse_probabilities(rows: Tensor) -> None:
    """Say so where a model that should return scores returns probabilities."""
    if bool((rows >= 0).all()) and bool((rows.double().sum(dim=1) - 1).abs().max() < 1e-3):
        raise ValueError(
            "return_type: the model returns probabilities (rows that sum to 1), not scores; pass "
            "return_type='probs' with output='probability' or output='log-probability'"
        )


def _checked_image(image: Any, model: Any) -> Tensor:
    try:
        tensor = torch.as_tensor(image)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"image must be a tensor or array [c, h, w], got {type(image).__name__}") from None
    if tensor.dim() == 4 and len(tensor) == 1:
        tensor = tensor[0]
    if tensor.dim() != 3 or 0 in tensor.shape:
        raise ValueError(f"image must have shape [c, h, w], got {list(tensor.shape)}; one image at a time")
    if not tensor.is_floating_point():
        raise ValueError(
            f"image must hold floats prepared the way the model wants them, got {tensor.dtype}; "
            "mage.models.image_classifiers prepares files and arrays of bytes"
        )
    if not bool(tensor.isfinite().all()):
        raise ValueError("image must be finite")
    parameter = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    if parameter is not None and parameter.is_floating_point():
        tensor = tensor.to(parameter.device, parameter.dtype)
    return tensor.detach().clone()


@contextmanager
def _largest_activation(model: Any) -> Iterator[list[int]]:
    """Bytes of the largest output of a layer for an image, seen while the model runs on two."""
    largest = [0]

    def see(_module: nn.Module, _inputs: Any, returned: Any) -> None:
        if isinstance(returned, Tensor):
            largest[0] = max(largest[0], returned.numel() * returned.element_size() // 2)

    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    handles = [module.register_forward_hook(see) for module in modules]
    try:
        yield largest
    finally:
        for handle in handles:
            handle.remove()
