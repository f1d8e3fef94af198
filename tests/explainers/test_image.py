import sys

import numpy as np
import pytest
import torch

import mage
from mage._core.conversion import same
from mage.explainers.image import picture_of
from mage.games import ImageGame
from mage.image.preparation import Preparation
from mage.models.image_classifiers import ImageClassifier


class Bars(torch.nn.Module):
    """Class 0 wants light in both left corners together; class 1 is against light in the lower right one."""

    def forward(self, images):
        light = torch.nn.functional.adaptive_avg_pool2d(images.mean(dim=1, keepdim=True), 4)[:, 0]
        together = light[:, 0, 0] * light[:, 1, 0] - light[:, 3, 3]
        return torch.stack([4 * together, torch.zeros_like(together)], dim=1)


def an_image():
    image = torch.zeros(3, 16, 16)
    image[:, :8, :4] = 1.0
    image[:, 12:, 12:] = 0.5
    return image


def test_motifs_are_the_parts_that_matter():
    explanation = mage.explain_image(Bars(), an_image(), patches=(4, 4), fill=0.0, max_nodes=3, tau=0.5, target=0)
    assert explanation.interactions.exact
    assert {(motif.sign, motif.nodes) for motif in explanation.motifs} == {(1, (0, 4)), (-1, (15,))}
    assert explanation.motifs[0].names == ("row 1, column 1", "row 2, column 1")
    assert explanation.level == "image"
    assert explanation.masking == "colour"
    assert explanation.num_nodes == 16
    assert explanation.edge_index.shape == (2, 48)
    assert np.array_equal(explanation.node_mask.nonzero()[0], [0, 4, 15])
    assert "for the image" in explanation.headline


def test_the_explanation_carries_its_picture(tmp_path):
    explanation = mage.explain_image(
        Bars(), an_image(), patches=(4, 4), fill=0.0, target=0, class_names=["left", "none"]
    )
    expected = ImageGame(Bars(), an_image(), patches=(4, 4), output="logit").segments
    assert np.array_equal(explanation.subject.segments, expected)
    explanation.save(tmp_path / "a.mage")
    again = mage.load(tmp_path / "a.mage")
    assert same(again, explanation)
    assert again.class_names == ("left", "none")
    again.save_html(tmp_path / "a.html")
    assert "data:image/png" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_superpixels():
    segments = np.zeros((16, 16), dtype=int)
    segments[:8, :4], segments[8:, :4], segments[12:, 12:] = 5, 2, 9
    explanation = mage.explain_image(
        Bars(), an_image(), segments=segments, fill=0.0, target=0, max_nodes=2, num_motifs=2, tau=0.5
    )
    assert explanation.names == ("segment 0", "segment 2", "segment 5", "segment 9")
    assert {(motif.sign, motif.nodes) for motif in explanation.motifs} == {(1, (2,)), (-1, (3,))}


def test_large_grids_are_sampled_and_small_ones_exact():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(100, 2))
    image = torch.randn(1, 10, 10)
    sampled = mage.explain_image(model, image, patches=(5, 5), permutations=2)
    assert not sampled.interactions.exact
    assert sampled.interactions.num_permutations == 2
    exact = mage.explain_image(model, image, patches=(3, 3))
    assert exact.interactions.exact
    blind = mage.explain_image(model, image, patches=(2, 2), index="shapley-taylor")
    assert blind.interactions.exact
    assert exact.num_queries < 2**9
    again = mage.explain_image(model, image, patches=(5, 5), permutations=2)
    assert np.array_equal(again.interactions.values, sampled.interactions.values)


def test_loaded_classifiers_prepare_pictures_themselves(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    pixels = (255 * an_image().movedim(0, 2)).numpy().astype(np.uint8)
    pillow.fromarray(pixels).resize((32, 32), 0).save(tmp_path / "a.png")
    prepare = Preparation((16, 16), (16, 16), (0.0,) * 3, (1.0,) * 3, resample=0)
    classifier = ImageClassifier("bars", Bars(), prepare, ("left", "none"))
    options = {"patches": (4, 4), "fill": 0.0, "target": 0, "max_nodes": 3}
    from_file = mage.explain_image(classifier, tmp_path / "a.png", **options)
    from_tensor = mage.explain_image(classifier, an_image(), **options)
    assert {motif.nodes for motif in from_file.motifs} == {motif.nodes for motif in from_tensor.motifs}
    assert from_file.class_names == ("left", "none")


def test_pictures_of_prepared_images_are_stretched_into_range():
    game = ImageGame(Bars(), 6 * torch.rand(3, 8, 8) - 3, patches=(2, 2), output="logit")
    pixels = picture_of(game.image)
    assert pixels.shape == (8, 8, 3)
    assert (pixels.min(), pixels.max()) == (0.0, 1.0)
    grey = ImageGame(lambda images: images.flatten(1), torch.rand(1, 4, 4), patches=(2, 2), output="logit")
    assert np.array_equal(picture_of(grey.image), grey.image[0].numpy())


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="picture must have the image's"):
        mage.explain_image(Bars(), an_image(), patches=(2, 2), picture=np.zeros((4, 4), dtype=np.uint8))
    with pytest.raises(ValueError, match="class_names must list 2 names"):
        mage.explain_image(Bars(), an_image(), patches=(2, 2), class_names=["one"])
    with pytest.raises(ValueError, match="returns probabilities"):
        mage.explain_image(torch.nn.Sequential(Bars(), torch.nn.Softmax(dim=1)), an_image())


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(ImportError, match=r"pip install 'mage-explain\[pyg\]'"):
        mage.explain_image(Bars(), an_image())
