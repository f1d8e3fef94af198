from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mage
from mage.explanation import GraphSubject
from mage.plots._outlines import outlines

pytest.importorskip("matplotlib")


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


def test_pictures_of_an_explained_image(tmp_path):
    torch = pytest.importorskip("torch")
    from mage.plots import save_figure
    from mage.plots.image import attached_image, plot_image

    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 3))
    image = torch.rand(1, 8, 8)
    explanation = mage.explain_image(model, image, patches=(3, 3), class_names=["a", "b $", "c"])
    pixels, segments = attached_image(explanation)
    assert np.allclose(pixels / 255, image[0].numpy(), atol=1 / 255)
    assert segments.max() == 8
    figure = plot_image(explanation)
    assert len(figure.axes) == 3  # two panels and a scale
    regions = {len(axes.patches) for axes in figure.axes[:2]}
    assert regions == {9, 1 + len(explanation.motifs)}
    save_figure(figure, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn.count("<path") > 9  # regions are shapes, not pixels
    assert len(plot_image(explanation, np.zeros((8, 8, 3)), segments, heat_map=False).axes) == 1
    with pytest.raises(ValueError, match="segments must number"):
        plot_image(explanation, np.zeros((4, 4)), segments)
    with pytest.raises(ValueError, match="the explanation carries none"):
        plot_image(replace(explanation, subject=GraphSubject()))
