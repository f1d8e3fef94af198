"""What makes a group of nodes strong: how the terms of an index weigh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mage._core.typing import Floats

Terms = tuple[Floats, ...]
"""Terms of an index by size: nodes [n], pairs [n, n], triples [n, n, n]; symmetric, zero where indices repeat."""


def paper_weights(terms: Terms, tau: float, noise_floor: float) -> Terms:
    """The paper's objective: τ Ψ⁺ + (1 − τ) Ψ⁻ at every size, small terms of each sign dropped."""
    return _weighted(terms, tau, noise_floor)


OBJECTIVES: dict[str, Callable[[Terms, float, float], Terms]] = {"paper": paper_weights}
"""Objectives by name: from the terms, τ and the noise floor to what each term adds to a motif that holds it."""


def _weighted(terms: Terms, tau: float, noise_floor: float) -> Terms:
    """τ Ψ⁺ + (1 − τ) Ψ⁻ without what is at most a share of the largest of its sign."""
    top = max(part.max(initial=0.0) for part in terms)
    bottom = min(part.min(initial=0.0) for part in terms)

    def weigh(part: Floats) -> Floats:
        positive = np.where((part > 0) & (part > noise_floor * top), part, 0.0)
        negative = np.where((part < 0) & (part < noise_floor * bottom), part, 0.0)
        return np.ascontiguousarray(tau * positive + (1 - tau) * negative)

    return tuple(weigh(part) for part in terms)
