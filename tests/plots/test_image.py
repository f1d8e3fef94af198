from dataclasses import replace

import numpy as np
import pytest

import mage
from mage.explanation import GraphSubject

pytest.importorskip("matplotlib")


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
    assert len(figure.axes[1].patches) == 9
    num_shapes = len(figure.axes[0].patches)
    assert num_shapes == 0 or (
        num_shapes > 3 and num_shapes % 3 == 1
    )  # three shapes for each motif, and what pales the rest
    save_figure(figure, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text()
    assert picture.count("<path") > 9  # regions are shapes, not pixels
    assert len(plot_image(explanation, np.zeros((8, 8, 3)), segments, heat_map=False).axes) == 1
    with pytest.raises(ValueError, match="segments must number"):
        plot_image(explanation, np.zeros((4, 4)), segments)
    with pytest.raises(ValueError, match="the explanation carries none"):
        plot_image(replace(explanation, subject=GraphSubject()))
