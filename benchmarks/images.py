"""Masked images a second, torch against ONNX Runtime, and what indices ask for: ``python benchmarks/images.py``.

One thread and CPU seconds, which other work on the machine disturbs less than the clock does. The second table counts
the distinct coalitions that each index needs of 7 × 7 patches, whatever the network.
"""

from __future__ import annotations

import time

import numpy as np
import torch

import mage
from mage.games import ImageGame
from mage.models.image_classifiers import ImageClassifier, load_image_classifier

_INDICES = ("shapley", "myerson", "shapley-taylor", "myerson-taylor")


def images_a_second(classifier: ImageClassifier, count: int) -> float:
    """Worths of random coalitions, masking included."""
    height, width = classifier.prepare.size
    image = torch.randn(len(classifier.prepare.mean), height, width, generator=torch.Generator().manual_seed(0))
    game = ImageGame(classifier.network, image)
    masks = np.random.default_rng(0).random((2 * count, game.num_players)) < 0.5
    game.worth(masks[:count])
    start = time.process_time()
    game.worth(masks[count:])
    return count / (time.process_time() - start)


def main() -> None:
    torch.set_num_threads(1)
    print("masked images per CPU second, one thread     torch   ONNX Runtime   ratio")
    for name, count in (("efficientnet-lite0", 50), ("mnist-vit", 1000)):
        classifier = load_image_classifier(name)
        plain, faster = images_a_second(classifier, count), images_a_second(classifier.through_onnx(), count)
        print(f"{name:40s} {plain:9.0f} {faster:14.0f} {faster / plain:7.1f}")
    print("\ndistinct coalitions of 7 x 7 patches   " + "".join(f"{count:>9d}" for count in (2, 10, 20, 50, 200)))
    graph = ImageGame(lambda images: images.mean(dim=(2, 3)), torch.randn(2, 7, 7)).graph
    for index in _INDICES:
        counts = []
        for permutations in (2, 10, 20, 50, 200):
            game = mage.Game(lambda masks: np.zeros(len(masks)), 49, graph, baseline=0.0)
            mage.interactions(game, index, method="permutation", permutations=permutations)
            counts.append(game.num_queries)
        print(f"{index:38s} " + "".join(f"{count:9,d}" for count in counts))


if __name__ == "__main__":
    main()
