"""Which trained networks ship with the library; known without PyTorch, which takes seconds to import."""

from importlib import resources
from pathlib import Path

from mage._core.checks import checked_text


def zoo_folder() -> Path:
    """Where the shipped checkpoints are."""
    return Path(str(resources.files("mage").joinpath("models", "zoo")))


def pretrained_names() -> list[tuple[str, str]]:
    """Datasets and kinds of the networks that ship with the library."""
    stems = sorted(path.stem for path in zoo_folder().glob("*.safetensors"))
    return [(dataset, kind) for dataset, _, kind in (stem.rpartition("_") for stem in stems)]


def check_shipped(dataset: str, model: str) -> None:
    """Refuse a network that does not ship with the library; the error says which do and how to train it."""
    checked_text("dataset", dataset)
    checked_text("model", model)
    if (dataset, model) in pretrained_names():
        return
    kinds = [kind for name, kind in pretrained_names() if name == dataset]
    alternatives = f"for {dataset} there is {', '.join(kinds)}" if kinds else f"there is none for {dataset}"
    raise ValueError(
        f"dataset, model: no network for {dataset} {model} ships with the library; {alternatives}. "
        f"Train one with: mage train {dataset} --model {model}"
    )
