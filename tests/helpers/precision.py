"""How far apart results may be that differ by rounding only."""

import numpy as np

_ROUNDINGS = 128  # layers, sums over nodes and differences of outputs, each a few; a wrong formula is off by far more


def rounding(scale=1.0, dtype=np.float32):
    """The tolerance of numbers up to ``scale`` (an array, or its largest entry) that are computed in a precision."""
    return _ROUNDINGS * float(np.finfo(dtype).eps) * float(np.abs(np.asarray(scale)).max(initial=0.0))
