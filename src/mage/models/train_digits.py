"""Trains the digit transformer on MNIST and writes its checkpoint: ``python -m mage.models.train_digits``.

The published split: 60,000 digits for training, of which the last 5,000 only tell the best epoch, and 10,000 for tests.
One thread, so that sums come in one order and the same seed gives the same weights on the same machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mage._core.files import atomic_path
from mage._core.optional import require
from mage.models.digit_transformer import CHECKPOINT, DigitTransformer
from mage.models.zoo import zoo_folder

_BATCH_SIZE = 64
_LEARNING_RATE = 2e-3
_WEIGHT_DECAY = 0.05
_NUM_TEST = 10_000
_NUM_VALIDATION = 5_000


def digits(root: str | Path | None = None) -> tuple[Tensor, Tensor]:
    """All digits [70000, 1, 28, 28] with ink 1 and paper 0, the 10,000 test images first, and their classes."""
    from mage.datasets._sources import locate
    from mage.datasets.mnist import SOURCE, images

    pictures, labels = images(locate(SOURCE, root))
    return torch.from_numpy(pictures).float().div(255).unsqueeze(1), torch.from_numpy(labels)


def train(
    images: Tensor, labels: Tensor, held_out: tuple[Tensor, Tensor], epochs: int, seed: int
) -> tuple[DigitTransformer, int]:
    """The network of the epoch that is best on the held-out digits, and that epoch's number from 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = DigitTransformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    steps = epochs * -(-len(images) // _BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _LEARNING_RATE, total_steps=steps)
    best, best_epoch, best_weights = -1.0, 0, model.state_dict()
    for epoch in range(1, epochs + 1):
        model.train()
        for chosen in torch.split(torch.randperm(len(images), generator=generator), _BATCH_SIZE):
            loss = torch.nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            optimizer.zero_grad()
            torch.autograd.backward(loss)  # the typed spelling of loss.backward()
            optimizer.step()
            schedule.step()
        reached = accuracy(model, *held_out)
        print(f"epoch {epoch}: validation accuracy {reached:.2%}", flush=True)
        if reached > best:
            best, best_epoch = reached, epoch
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best_weights)
    return model.eval(), best_epoch


@torch.no_grad()
def accuracy(model: DigitTransformer, images: Tensor, labels: Tensor) -> float:
    """Share of the digits that the network puts into their class."""
    model.eval()
    parts = zip(torch.split(images, 500), torch.split(labels, 500), strict=True)
    right = [int((model(some).argmax(dim=1) == classes).sum()) for some, classes in parts]
    return sum(right) / len(images)


def write_checkpoint(folder: Path, model: DigitTransformer, about: dict[str, Any]) -> Path:
    """Write the weights as safetensors and what is known about them as JSON beside."""
    safetensors = require("safetensors.torch", "pyg")
    weights = folder / f"{CHECKPOINT}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(weights.with_suffix(".json")) as unfinished:
        unfinished.write_text(json.dumps(about, indent=1, sort_keys=True) + "\n")
    with atomic_path(weights) as unfinished:
        unfinished.write_bytes(
            safetensors.save({name: value.contiguous() for name, value in model.state_dict().items()})
        )
    return weights


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of ``python -m mage.models.train_digits``."""
    parser = argparse.ArgumentParser(prog="python -m mage.models.train_digits", description="Train the transformer.")
    parser.add_argument("--output", type=Path, default=zoo_folder() / "images", help="folder; the zoo's by default")
    parser.add_argument("--seed", type=int, default=0, help="%(default)s by default")
    parser.add_argument("--epochs", type=int, default=4, help="%(default)s by default")
    parser.add_argument("--root", type=Path, help="folder with published files; MAGE_DATA by default")
    parser.add_argument("--digits", type=int, help="train on so many only, to try it out")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    start = time.perf_counter()
    images, labels = digits(options.root)
    test = images[:_NUM_TEST], labels[:_NUM_TEST]
    validation = images[-_NUM_VALIDATION:], labels[-_NUM_VALIDATION:]
    learnt = slice(_NUM_TEST, -_NUM_VALIDATION if options.digits is None else _NUM_TEST + options.digits)
    model, best_epoch = train(images[learnt], labels[learnt], validation, options.epochs, options.seed)
    reached = {"test": accuracy(model, *test), "validation": accuracy(model, *validation)}
    about = {
        "accuracy": reached,
        "architecture": model.architecture,
        "best_epoch": best_epoch,
        "dataset": "mnist",
        "digits": len(images[learnt]),
        "epochs": options.epochs,
        "format": 1,
        "seconds": round(time.perf_counter() - start),
        "seed": options.seed,
        "versions": {name: metadata.version(name) for name in ("mage-explain", "torch")},
    }
    path = write_checkpoint(options.output, model, about)
    print(f"test accuracy {reached['test']:.2%}; wrote {path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
