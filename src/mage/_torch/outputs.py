"""The readout: from a model's output to the one number that is explained."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mage._core.typing import Floats
from mage._torch.conventions import BOUNDED, OUTPUTS, RETURN_TYPES, TASKS

_LEAST_CHANCE = float(np.finfo(np.float64).tiny)
CERTAIN = 0.99
"""Probability without any node from which on, or up to one minus which, the probability hides what nodes do."""
_LEAST_WIDTH = 2.0  # of log-odds, a factor of 7
SURE = 0.9999
"""Probability of all nodes from which on, or up to one minus which, the probability hides what single groups do."""
BEYOND_DOUBT = 0.999999
"""Probability of some nodes from which on, or up to one minus which, the probability hides what further nodes do."""


@dataclass(frozen=True)
class Readout:
    """Which number of the output is explained.

    Attributes:
        task: ``"multiclass"`` (a column per class), ``"binary"`` (one column) or ``"regression"`` (one column).
        target: Class, or None for regression.
        output: ``"logit"``, ``"probability"``, ``"log-probability"``, ``"log-odds"``, log p/(1 − p), of the target, or
            ``"bounded-log-odds"``, which stop at ``bounds``; regression has none of these. ``"auto"`` until a game has
            chosen one of :meth:`candidates`.
        return_type: What the model returns: ``"raw"`` scores, ``"probs"`` or ``"log_probs"``.
        bounds: Least and largest value of bounded log-odds; None until a game knows them.
    """

    task: str
    target: int | None
    output: str
    return_type: str
    bounds: tuple[float, float] | None = None

    @classmethod
    def of(cls, prediction: Tensor, task: str, target: int | None, output: str, return_type: str) -> Readout:
        """The readout of a request; fields left open follow from the model's output [1, C] on the whole graph."""
        for name, value, allowed in (("task", task, TASKS), ("output", output, OUTPUTS)):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
        if return_type not in RETURN_TYPES:
            raise ValueError(f"return_type must be one of {', '.join(RETURN_TYPES)}; got {return_type!r}")
        columns = prediction.size(1)
        if task == "auto":
            task = "multiclass" if columns > 1 else ("regression" if target is None else "binary")
        if (task == "multiclass") != (columns > 1):
            raise ValueError(f"task={task!r} does not fit a model that returns {columns} columns")
        if task == "regression":
            if target is not None:
                raise ValueError(f"target: a regression has none, got {target!r}")
            return cls(task, None, "logit", "raw")
        if output == "logit" and return_type != "raw":
            raise ValueError(
                f"output='logit' cannot be had from a model that returns {return_type!r}; use output='log-odds' or "
                "'log-probability'"
            )
        classes = max(columns, 2)
        if target is None:
            middle = {"raw": 0.0, "probs": 0.5, "log_probs": math.log(0.5)}[return_type]
            target = int(prediction[0].argmax()) if columns > 1 else int(prediction[0, 0] > middle)
        if isinstance(target, bool) or int(target) != target or not 0 <= target < classes:
            raise ValueError(f"target must be a class 0 … {classes - 1}, got {target!r}")
        return cls(task, int(target), output, return_type)

    def candidates(self, classes: int) -> tuple[Readout, Readout]:
        """What ``"auto"`` chooses from: the probability of the target, and its log-odds.

        With two classes log-odds are the difference of two scores. With more, a single strong competitor may take them
        far beyond everything between the empty graph and the prediction, so they are bounded.
        """
        odds = "log-odds" if classes <= 2 else BOUNDED
        return replace(self, output="probability"), replace(self, output=odds)

    def bounded(self, baseline: float, prediction: float) -> Readout:
        """With bounds: from the baseline to the prediction, extended on both sides by this range, by 2 at least."""
        low, high = min(baseline, prediction), max(baseline, prediction)
        width = max(high - low, _LEAST_WIDTH)
        return replace(self, bounds=(low - width, high + width))

    @staticmethod
    def saturates(probabilities: Floats, limit: float) -> bool:
        """Whether a class has a probability so near 0 or 1 somewhere that it hides effects."""
        return bool(((probabilities > limit) | (probabilities < 1 - limit)).any())

    def __call__(self, out: Tensor) -> Tensor:
        """One number a row, in double precision: a probability near 1 has no digits left in a shorter one."""
        if self.return_type == "probs" and out.is_floating_point():
            # A probability of 0 has no logarithm; the smallest number that has one stands for it.
            out = out.clamp_min(torch.finfo(out.dtype).tiny)
        out = out.double()
        if self.task == "regression":
            return out[:, 0]
        if self.task == "binary":
            return self._binary(out[:, 0])
        if self.output == "logit":
            return out[:, self.target]
        if self.output in ("log-odds", BOUNDED):
            return self._within_bounds(self._log_odds(out))
        if self.return_type == "raw":
            log = functional.log_softmax(out, dim=1)[:, self.target]
        else:
            log = out[:, self.target].log() if self.return_type == "probs" else out[:, self.target]
        return log if self.output == "log-probability" else log.exp()

    def _log_odds(self, out: Tensor) -> Tensor:
        """The log-odds of the target against all other classes; a constant added to all scores does not matter."""
        out = out.log() if self.return_type == "probs" else out
        others = torch.cat([out[:, : self.target], out[:, (self.target or 0) + 1 :]], dim=1)
        return out[:, self.target] - torch.logsumexp(others, dim=1)

    def _within_bounds(self, log_odds: Tensor) -> Tensor:
        return log_odds if self.output != BOUNDED or self.bounds is None else log_odds.clamp(*self.bounds)

    def _binary(self, score: Tensor) -> Tensor:
        if self.return_type == "probs":
            score = torch.logit(score)
        elif self.return_type == "log_probs":
            score = torch.logit(score.exp())
        score = score if self.target == 1 else -score
        if self.output in ("logit", "log-odds", BOUNDED):
            return self._within_bounds(score)
        return functional.logsigmoid(score) if self.output == "log-probability" else score.sigmoid()

    @property
    def hides_probability(self) -> bool:
        """Whether the explained number does not tell the target's probability: one score of several, or a bound."""
        return self.output == BOUNDED or (self.task == "multiclass" and self.output == "logit")

    @property
    def as_probability(self) -> Readout:
        """The same target, read as a probability."""
        return replace(self, output="probability")

    def of_prediction(self, prediction: Floats) -> float:
        """The explained number of one row of outputs [C]."""
        return float(self(torch.as_tensor(prediction).reshape(1, -1))[0])

    def probability(self, values: Floats) -> Floats | None:
        """The target's probability that goes with explained numbers; None where they do not tell it."""
        if self.task == "regression" or self.hides_probability:
            return None
        if self.output == "probability":
            return values
        numbers = torch.as_tensor(values, dtype=torch.float64)
        probabilities: Floats = (numbers.exp() if self.output == "log-probability" else numbers.sigmoid()).numpy()
        return probabilities

    def rounding(self, value: float, unit: float, size: float) -> float:
        """How far one rounding of the model's numbers moves the explained number.

        With p the target's probability, the rounding δ of a score moves log-odds by δ, log p by (1 − p)·δ and p by
        p(1 − p)·δ, never more than δ/4. A model that returns p or log p has rounded these instead.

        Args:
            value: The explained number.
            unit: Rounding unit of the model's numbers, relative to their size.
            size: How large they are.
        """
        chance = self.probability(np.array([value]))
        if chance is None:
            return unit * max(size, abs(value))
        p = min(max(float(chance[0]), _LEAST_CHANCE), 1.0)
        complement = max(1.0 - p, _LEAST_CHANCE)
        if self.return_type == "raw":
            of_logarithm = unit * max(size, abs(math.log(p / complement))) * complement
        else:
            # Logarithms of probabilities near 1 are differences of numbers of size 1.
            of_logarithm = unit * (1.0 if self.return_type == "probs" else max(size, 1.0))
        return of_logarithm * {"probability": p, "log-probability": 1.0}.get(self.output, 1.0 / complement)
