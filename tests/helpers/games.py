"""Games of which a regressor can learn most."""

import numpy as np

import mage


def smooth_game(graph, seed, noise=0.0):
    """A game that a regressor can learn most of: pairs, a squashed sum, and a little that nobody can learn."""
    generator = np.random.default_rng(seed)
    n = graph.num_players
    pairs = np.triu(generator.normal(size=(n, n)) * graph.adjacency, 1)
    single, unlearnable = generator.normal(size=n), generator.normal(size=1009)

    def worth(masks):
        x = masks.astype(float)
        codes = (masks @ (2 ** (np.arange(n) % 40)).astype(np.int64)) % 1009
        return (
            np.tanh(x @ single / 2) + ((x @ pairs) * x).sum(axis=1) / 4 + noise * unlearnable[codes] * masks.any(axis=1)
        )

    return mage.Game(worth, n, graph)
