"""Trains the digit transformer on MNIST and writes its checkpoint: ``python -m mage.models.digit_training``.

The published split: 60,000 digits for training, of which the last 5,000 only tell the best epoch, and 10,000 for tests.
One thread, so that sums come in one order and the same seed gives the same weights on the same machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from mage.datasets import load_digits
from mage.models.checkpoints import library_versions, save_checkpoint
from mage.models.digit_transformer import CHECKPOINT, DigitTransformer
from mage.models.fitting import Score, fit, one_thread
from mage.models.zoo import zoo_folder

_BATCH_SIZE = 64
_LEARNING_RATE = 2e-3
_WEIGHT_DECAY = 0.05
_NUM_TEST = 10_000
_NUM_VALIDATION = 5_000
_EVALUATION_BATCH = 500


def digit_tensors(root: str | Path | None = None) -> tuple[Tensor, Tensor]:
    """All digits [70000, 1, 28, 28] with ink 1 and paper 0, the 10,000 test images first, and their classes."""
    images, labels = load_digits(root)
    return torch.from_numpy(images).float().div(255).unsqueeze(1), torch.from_numpy(labels)


def train_digit_transformer(
    images: Tensor, labels: Tensor, held_out: tuple[Tensor, Tensor], epochs: int, seed: int
) -> tuple[DigitTransformer, int]:
    """The network of the epoch that is best on the held-out digits, and that epoch's number from 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = DigitTransformer()

    def losses() -> Iterator[Tensor]:
        for batch in torch.split(torch.randperm(len(images), generator=generator), _BATCH_SIZE):
            yield torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])

    def say(epoch: int, _loss: float, score: Score) -> None:
        print(f"epoch {epoch}: validation accuracy {score[0]:.2%}", flush=True)

    result = fit(
        model,
        torch.optim.AdamW(model.parameters(), _LEARNING_RATE, weight_decay=_WEIGHT_DECAY),
        losses,
        epochs=epochs,
        steps=-(-len(images) // _BATCH_SIZE),
        validate=lambda: (digit_accuracy(model, *held_out),),
        on_epoch=say,
    )
    return model, result.best_epoch


@torch.no_grad()
def digit_accuracy(model: DigitTransformer, images: Tensor, labels: Tensor) -> float:
    """Share of the digits that the network puts into their class."""
    model.eval()
    batches = zip(torch.split(images, _EVALUATION_BATCH), torch.split(labels, _EVALUATION_BATCH), strict=True)
    return sum(int((model(batch).argmax(dim=1) == classes).sum()) for batch, classes in batches) / len(images)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of ``python -m mage.models.digit_training``."""
    parser = argparse.ArgumentParser(prog="python -m mage.models.digit_training", description="Train the transformer.")
    parser.add_argument("--output", type=Path, default=zoo_folder() / "images", help="folder; the zoo's by default")
    parser.add_argument("--seed", type=int, default=0, help="%(default)s by default")
    parser.add_argument("--epochs", type=int, default=4, help="%(default)s by default")
    parser.add_argument("--root", type=Path, help="folder with published files; MAGE_DATA by default")
    parser.add_argument("--digits", type=int, help="train on so many only, to try it out")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    images, labels = digit_tensors(options.root)
    test = images[:_NUM_TEST], labels[:_NUM_TEST]
    validation = images[-_NUM_VALIDATION:], labels[-_NUM_VALIDATION:]
    used = slice(_NUM_TEST, -_NUM_VALIDATION if options.digits is None else _NUM_TEST + options.digits)
    with one_thread():
        model, best_epoch = train_digit_transformer(
            images[used], labels[used], validation, options.epochs, options.seed
        )
        accuracy = {"test": digit_accuracy(model, *test), "validation": digit_accuracy(model, *validation)}
    about = {
        "accuracy": accuracy,
        "architecture": model.architecture,
        "best_epoch": best_epoch,
        "dataset": "mnist",
        "digits": len(images[used]),
        "epochs": options.epochs,
        "format": 1,
        "seconds": round(time.perf_counter() - start),
        "seed": options.seed,
        "versions": library_versions("mage-explain", "torch"),
    }
    path, _ = save_checkpoint(options.output / CHECKPOINT, model, about)
    print(f"test accuracy {accuracy['test']:.2%}; wrote {path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
