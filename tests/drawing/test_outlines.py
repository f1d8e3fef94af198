"""Outlines of regions of pixels."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mage.drawing import outlines


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_outlines_enclose_exactly_the_region(height, width, seed):
    mask = np.random.default_rng(seed).random((height, width)) < 0.5
    loops = outlines(mask)
    winding = np.zeros(mask.shape, dtype=int)
    for loop in loops:
        assert (np.abs(np.diff(np.concatenate([loop, loop[:1]]), axis=0)) > 0).sum(axis=1).tolist() == [1] * len(loop)
        for (x, y), (_, next_y) in zip(loop, np.roll(loop, -1, axis=0), strict=True):
            # A vertical side counts for all pixels to its left in the rows it spans.
            rows = slice(min(y, next_y), max(y, next_y))
            winding[rows, :x] += int(np.sign(next_y - y))
    assert np.array_equal(winding, mask.astype(int))


def test_a_ring_has_a_hole_and_corners_that_touch_stay_apart():
    ring = np.ones((3, 3), dtype=bool)
    ring[1, 1] = False
    assert sorted(len(loop) for loop in outlines(ring)) == [4, 4]
    assert sorted(len(loop) for loop in outlines(np.eye(2, dtype=bool))) == [4, 4]
    assert outlines(np.zeros((2, 2), dtype=bool)) == []
