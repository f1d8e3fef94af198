"""Cheap functions that learn f(R) from a few coalitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mage._core.optional import require
from mage._core.typing import Bits, Floats
from mage._kernels import dividends as sums
from mage._kernels import features as kernels
from mage.graph import PlayerGraph, packing

REGRESSORS = ("auto", "ridge", "trees", "mix")
_MOST_TERMS = 400
_PENALTIES = 10.0 ** np.arange(-6, 0)
_LARGEST_TERM = 4
_CHUNK = 1 << 16
_TREES = {
    "objective": "regression",
    "learning_rate": 0.1,
    "num_leaves": 6,
    "min_data_in_leaf": 4,
    "min_data_in_bin": 1,
    "max_bin": 63,
    "lambda_l2": 1e-3,
    "feature_pre_filter": False,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
}
_ROUNDS = 150


class Regressor(ABC):
    """Learns worths of coalitions of one graph."""

    def __init__(self, graph: PlayerGraph) -> None:
        self.graph = graph

    @abstractmethod
    def fit(self, members: Bits, neighbours: Bits, worths: Floats) -> None:
        """Learn from coalitions and their worths."""

    @abstractmethod
    def predict(self, members: Bits, neighbours: Bits) -> Floats:
        """Worths of other coalitions."""

    def left_out(self, members: Bits, neighbours: Bits, worths: Floats) -> Floats:
        """Fit, and say what is left to explain of each worth."""
        self.fit(members, neighbours, worths)
        return worths - self.predict(members, neighbours)


class Ridge(Regressor):
    """A sum over the small connected sets inside R: membership, near pairs, triples and fours as room allows.

    Larger sets are penalised more; the penalty is the one with the smallest leave-one-out error.
    """

    def __init__(self, graph: PlayerGraph) -> None:
        super().__init__(graph)
        self._terms, self._growth = _terms(graph)
        self._coefficients = np.zeros(len(self._terms))

    def fit(self, members: Bits, neighbours: Bits, worths: Floats) -> None:
        """Learn from coalitions and their worths."""
        self.left_out(members, neighbours, worths)

    def left_out(self, members: Bits, neighbours: Bits, worths: Floats) -> Floats:
        """Fit, and give the leave-one-out errors."""
        del neighbours
        inside = ((self._terms[None] & ~members[:, None]) == 0).all(axis=2)
        design = inside * self._growth
        left, singular, right = np.linalg.svd(design, full_matrices=False)
        scale = float(singular[0] ** 2) if len(singular) else 1.0
        projected = left.T @ worths
        best: tuple[float, Floats, Floats] | None = None
        for penalty in _PENALTIES:
            shrink = singular**2 / (singular**2 + penalty * scale)
            leverage = np.minimum((left**2) @ shrink, 1 - 1e-6)
            errors = (worths - left @ (shrink * projected)) / (1 - leverage)
            total = float(np.mean(errors**2))
            if best is None or total < best[0]:
                inverse = singular / (singular**2 + penalty * scale)
                best = (total, errors, self._growth * (right.T @ (inverse * projected)))
        _, errors, self._coefficients = best  # type: ignore[misc]
        return errors

    def predict(self, members: Bits, neighbours: Bits) -> Floats:
        """Worths of other coalitions."""
        del neighbours
        result = np.empty(len(members))
        sums.sum_inside(self._terms, self._coefficients, np.ascontiguousarray(members), result)
        return result


class Trees(Regressor):
    """Gradient-boosted trees (LightGBM) on the members, their numbers of neighbours, and the shape of the coalition."""

    def __init__(self, graph: PlayerGraph) -> None:
        super().__init__(graph)
        self._library = require("lightgbm", "surrogate")
        self._booster: Any = None
        self._centre, self._scale = 0.0, 1.0

    def fit(self, members: Bits, neighbours: Bits, worths: Floats) -> None:
        """Learn from coalitions and their worths."""
        self._centre, self._scale = float(worths.mean()), float(worths.std()) or 1.0
        data = self._library.Dataset(
            self._features(members, neighbours), (worths - self._centre) / self._scale, params=_TREES
        )
        self._booster = self._library.train(_TREES, data, _ROUNDS, keep_training_booster=True)

    def predict(self, members: Bits, neighbours: Bits) -> Floats:
        """Worths of other coalitions."""
        result = np.empty(len(members))
        for start in range(0, len(members), _CHUNK):
            part = slice(start, start + _CHUNK)
            result[part] = self._booster.predict(self._features(members[part], neighbours[part]), num_threads=1)
        return self._centre + self._scale * result

    def _features(self, members: Bits, neighbours: Bits) -> Any:
        columns = self.graph.num_players + kernels.EXTRA_COLUMNS
        features = np.empty((len(members), columns), dtype=np.float32)
        kernels.describe(
            np.ascontiguousarray(members), np.ascontiguousarray(neighbours), self.graph.adjacency_bits, features
        )
        return features


class Mix(Regressor):
    """Ridge, and trees on what it leaves (its leave-one-out errors)."""

    def __init__(self, graph: PlayerGraph) -> None:
        super().__init__(graph)
        self._smooth, self._rest = Ridge(graph), Trees(graph)

    def fit(self, members: Bits, neighbours: Bits, worths: Floats) -> None:
        """Learn from coalitions and their worths."""
        self._rest.fit(members, neighbours, self._smooth.left_out(members, neighbours, worths))

    def predict(self, members: Bits, neighbours: Bits) -> Floats:
        """Worths of other coalitions."""
        return self._smooth.predict(members, neighbours) + self._rest.predict(members, neighbours)


_CLASSES: dict[str, type[Regressor]] = {"ridge": Ridge, "trees": Trees, "mix": Mix}


def make(name: str, graph: PlayerGraph) -> Regressor:
    """A regressor by name."""
    return _CLASSES[name](graph)


def check_library(name: str) -> None:
    """Raise ImportError where a regressor, or one of those to choose from, needs a library that is not installed."""
    if candidates(name) != ["ridge"]:
        require("lightgbm", "surrogate")


def candidates(name: str) -> list[str]:
    """The regressors to choose from: the one that was named, or all."""
    return list(_CLASSES) if name == "auto" else [name]


def _terms(graph: PlayerGraph) -> tuple[Bits, Floats]:
    """Connected sets of up to four players, whole sizes while there is room, and how freely each may be used."""
    blocks: list[Bits] = []
    for size in range(1, _LARGEST_TERM + 1):
        listed, total = [], 0
        for block in graph.blocks(max_size=size):
            listed.append(block.members[block.sizes == size])
            total += len(listed[-1])
            if total > _MOST_TERMS:
                break
        if size > 1 and sum(map(len, blocks)) + total > _MOST_TERMS:
            break
        blocks.append(np.concatenate(listed))
    terms = np.ascontiguousarray(np.concatenate(blocks))
    return terms, 2.0 ** (-(packing.sizes(terms) - 1) / 2)
