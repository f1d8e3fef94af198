"""What makes a group of nodes strong: how the terms of an index weigh.

A motif is counted *for* the output or *against* it, whichever is worth more, and what a term Ψ adds may differ between
the two. On sets whose terms all have one sign the objectives agree for every τ: τ Σ Ψ for, (1 − τ) Σ |Ψ| against.

With τ = 1 only motifs for the output count, with τ = 0 only those against it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mage._core.typing import Floats

_EVEN = 0.5  # τ that favours neither sign
_OTHER_SIGN = 0.25  # what terms of the other sign weigh at least; the best of 0, 1/4, 1/2 and 1 on development graphs

Parts = tuple[Floats, ...]
"""Numbers for the sets of size 1, 2, …"""


class Weights(NamedTuple):
    """What each term adds to the worth of a motif that holds it: of a motif for the output, and of one against it."""

    positive: Parts
    negative: Parts


def paper_weights(values: Parts, tau: float, noise_floor: float) -> Weights:
    """The paper's objective: |Σ τ Ψ⁺ + (1 − τ) Ψ⁻| over all sizes, without terms below the floor.

    The floor is a share of the largest term of the same sign, of any size.
    """
    parts = _weighed(values, tau, noise_floor)
    return Weights(parts, _negated(parts))


def signed_weights(values: Parts, tau: float, noise_floor: float) -> Weights:
    """Lower orders with their sign, the top order k as in the paper.

    A Taylor index gives a set below the top order what it adds by itself to nothing, and spreads all the rest over sets
    of size k. Where only the positive part of the lower orders counts, a triple is rewarded for giving back what its
    pairs took. Here lower orders count as they are, with the weight of the motif's own side:

        for:        τ (Σ_{|T|<k} Ψ_T + Σ_{|T|=k} Ψ⁺_T) + (1 − τ) Σ_{|T|=k} Ψ⁻_T
        against:  −(1 − τ) (Σ_{|T|<k} Ψ_T + Σ_{|T|=k} Ψ⁻_T) − τ Σ_{|T|=k} Ψ⁺_T

    So the side that τ favours weighs lower orders by max(τ, 1 − τ), τ = ½ is half of the plain sum, and the other side
    fades as τ moves away from ½. The floor holds for the top order only.
    """
    lower, top = values[:-1], _weighed(values[-1:], tau, noise_floor)
    return Weights((*(tau * part for part in lower), *top), (*((tau - 1) * part for part in lower), *_negated(top)))


def balanced_weights(values: Parts, tau: float, noise_floor: float) -> Weights:
    """As :func:`signed_weights`, but terms of the top order with the other sign count a quarter of a motif's own.

    With τ = 1 a signed objective does not see what triples take back: a pair whose triples nearly cancel it is worth
    all of it. Counted in full, such triples gave worse motifs on development graphs than counted by a quarter:

        for:        τ (Σ_{|T|<k} Ψ_T + Σ_{|T|=k} Ψ⁺_T) + max(1 − τ, τ/4) Σ_{|T|=k} Ψ⁻_T
        against:  −(1 − τ) (Σ_{|T|<k} Ψ_T + Σ_{|T|=k} Ψ⁻_T) − max(τ, (1 − τ)/4) Σ_{|T|=k} Ψ⁺_T

    For τ between 0.2 and 0.8 this is the signed objective.
    """
    side_for, side_against = signed_weights(values, tau, noise_floor)
    (top,) = _weighed(values[-1:], _EVEN, noise_floor)
    positive, negative = np.maximum(top, 0) / _EVEN, np.minimum(top, 0) / _EVEN
    return Weights(
        (*side_for[:-1], tau * positive + max(1 - tau, _OTHER_SIGN * tau) * negative),
        (*side_against[:-1], (tau - 1) * negative - max(tau, _OTHER_SIGN * (1 - tau)) * positive),
    )


OBJECTIVES: dict[str, Callable[[Parts, float, float], Weights]] = {
    "paper": paper_weights,
    "signed": signed_weights,
    "balanced": balanced_weights,
}
"""Objectives by name: from the terms by size, τ and the noise floor to what each term adds to a motif."""


def _weighed(values: Parts, tau: float, noise_floor: float) -> Parts:
    """τ Ψ⁺ + (1 − τ) Ψ⁻ without what is at most a share of the largest of its sign."""
    top = max(part.max(initial=0.0) for part in values)
    bottom = min(part.min(initial=0.0) for part in values)

    def weigh(part: Floats) -> Floats:
        positive = np.where((part > 0) & (part > noise_floor * top), part, 0.0)
        negative = np.where((part < 0) & (part < noise_floor * bottom), part, 0.0)
        return np.asarray(tau * positive + (1 - tau) * negative)

    return tuple(weigh(part) for part in values)


def _negated(parts: Parts) -> Parts:
    return tuple(-part for part in parts)
