import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

import mage
from mage.games import ImageGame
from mage.image.regions import adjacent_regions, grid_segments
from mage.testing import check_game
from tests.helpers.precision import rounding


class Classifier(torch.nn.Module):
    """A small convolutional network with all that may leave a trace: dropout, batch normalisation."""

    def __init__(self, channels=3, classes=4):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(channels, 8, 3, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.5),
            torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(32, classes),
        )

    def forward(self, images):
        return self.layers(images)


def an_image(channels=3, height=14, width=14):
    return torch.randn(channels, height, width, generator=torch.Generator().manual_seed(1))


def by_hand(model, image, segments, fill, coalition, target):
    """The worth of a coalition, one pixel after the other."""
    present, absent = image.clone(), image.clone()
    for row in range(image.shape[1]):
        for column in range(image.shape[2]):
            absent[:, row, column] = fill[:, row, column]
            if segments[row, column] not in coalition:
                present[:, row, column] = fill[:, row, column]
    with torch.no_grad():
        return float((model(present[None]) - model(absent[None]))[0, target])


@settings(max_examples=20)
@given(st.integers(3, 9), st.integers(3, 9), st.integers(1, 3), st.integers(1, 3), st.data())
def test_worths_are_those_of_images_masked_by_hand(height, width, rows, columns, data):
    model, image = Classifier().eval(), an_image(3, height, width)
    game = ImageGame(model, image, patches=(rows, columns), target=2, output="logit")
    coalition = data.draw(st.sets(st.integers(0, rows * columns - 1)))
    fill = image.mean(dim=(1, 2), keepdim=True).expand_as(image)
    expected = by_hand(model, image, game.segments, fill, coalition, 2)
    assert game.worth([coalition])[0] == pytest.approx(expected, abs=1e-5)


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_regions_are_joined_where_they_share_a_side(height, width, seed):
    segments = np.random.default_rng(seed).integers(-1, 4, (height, width))
    pairs = {tuple(pair) for pair in adjacent_regions(segments).tolist()}
    expected = set()
    for row in range(height):
        for column in range(width):
            for near in ((row + 1, column), (row, column + 1)):
                if near[0] < height and near[1] < width:
                    pair = tuple(sorted((int(segments[row, column]), int(segments[near]))))
                    expected |= {pair} if pair[0] != pair[1] and pair[0] >= 0 else set()
    assert pairs == expected


def test_a_grid_has_names_and_neighbours():
    game = ImageGame(Classifier(), an_image(), patches=(7, 7), output="logit")
    assert game.num_players == 49
    assert game.graph.num_edges == 84
    assert game.names[2 * 7 + 3] == "row 3, column 4"
    assert "row 3, column 4" in game.describe([17])
    segments, _ = grid_segments(10, 11, (3, 4))
    sizes = np.bincount(segments.ravel())
    assert len(sizes) == 12
    assert sizes.max() - sizes.min() <= 6


def test_segments_keep_the_users_labels_and_pixels_of_nobody():
    image = an_image(1, 4, 4)
    segments = np.array([[-1, 7, 7, 3], [-1, 7, 3, 3], [9, 9, 3, 3], [9, 9, 3, 3]])
    game = ImageGame(
        lambda images: images.flatten(1).cumsum(1), image, segments=segments, fill=0.0, target=15, output="logit"
    )
    assert game.names == ("segment 3", "segment 7", "segment 9")
    assert {tuple(edge) for edge in game.graph.edges.tolist()} == {(0, 1), (0, 2), (1, 2)}
    assert game.baseline == pytest.approx(float(image[0][torch.from_numpy(segments) < 0].sum()), abs=1e-5)
    assert game.worth([{1}])[0] == pytest.approx(float(image[0][torch.from_numpy(segments) == 7].sum()), abs=1e-5)


@pytest.mark.parametrize("output", ["logit", "probability", "log-probability"])
def test_it_is_a_game_like_any_other(output):
    check_game(ImageGame(Classifier(), an_image(), patches=(3, 3), output=output, batch_size=5))


def test_fills():
    image = an_image(3, 12, 20)
    model = Classifier().eval()

    def hidden(fill):
        return ImageGame(model, image, patches=(2, 2), fill=fill, output="logit").masked(np.zeros((1, 4), dtype=bool))[
            0
        ]

    assert torch.allclose(hidden("mean"), image.mean(dim=(1, 2))[:, None, None].expand_as(image))
    expected = np.stack(
        [gaussian_filter(channel, 2.0, mode="reflect", truncate=8) for channel in image.double().numpy()]
    )
    assert np.allclose(hidden("blur").numpy(), expected, atol=1e-4)
    assert (hidden(0.5) == 0.5).all()
    assert (hidden([1.0, 2.0, 3.0])[1] == 2.0).all()
    assert torch.equal(hidden(torch.zeros(3, 12, 20)), torch.zeros(3, 12, 20))
    for wrong in ("noise", [1.0, 2.0], float("nan"), object()):
        with pytest.raises(ValueError, match="fill must be"):
            hidden(wrong)


def test_the_model_is_left_as_it_was():
    model = Classifier()
    model.train()
    model.layers[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    threads = torch.get_num_threads()
    game = ImageGame(model, an_image(), patches=(3, 3), output="logit")
    game.worth([{0, 1}, {4}])
    assert [module.training for module in model.layers[:4]] == [True, False, True, True]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())
    assert torch.get_num_threads() == threads
    again = ImageGame(model, an_image(), patches=(3, 3), output="logit")
    # In a batch of another size some kernels round in another order.
    assert again.worth([{0, 1}])[0] == pytest.approx(game.worth([{0, 1}])[0], abs=1e-6)


def test_outputs_and_what_is_known_of_the_prediction():
    model, image = Classifier().eval(), an_image()
    with torch.no_grad():
        logits = model(image[None])[0].double()
    game = ImageGame(model, image[None], patches=(2, 2), output="probability")
    assert game.target == int(logits.argmax())
    assert np.allclose(game.prediction, logits.numpy(), atol=rounding())
    assert game.total + game.baseline == pytest.approx(float(logits.softmax(0).max()), abs=rounding())
    assert game.num_queries == 3  # the whole image, the hidden one, and the whole one as a coalition
    with pytest.raises(ValueError, match="target must be a class 0 … 3"):
        ImageGame(model, image, target=4, output="logit")
    with pytest.raises(ValueError, match="output must be one of"):
        ImageGame(model, image, output="loss")


def test_probabilities_are_noticed():
    model = torch.nn.Sequential(Classifier(), torch.nn.Softmax(dim=1)).eval()
    with pytest.raises(ValueError, match=r"returns probabilities.*return_type='probs'"):
        ImageGame(model, an_image(), output="logit")
    with pytest.raises(ValueError, match="log-probability"):
        ImageGame(model, an_image(), return_type="probs", output="logit")
    game = ImageGame(model, an_image(), patches=(2, 2), return_type="probs", output="log-probability", target=1)
    raw = ImageGame(model[0], an_image(), patches=(2, 2), output="log-probability", target=1)
    masks = [{0}, {1, 2}, {0, 1, 2, 3}]
    assert np.allclose(game.worth(masks), raw.worth(masks), atol=1e-5)


def test_models_of_transformers_return_objects():
    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Classifier()

        def forward(self, images):
            from types import SimpleNamespace

            return SimpleNamespace(logits=self.inner(images))

    game = ImageGame(Wrapped(), an_image(), patches=(2, 2), output="logit")
    assert len(game.prediction) == 4


def test_memory_caps_the_batch_and_nothing_else():
    model, image = Classifier().eval(), an_image()
    sizes = []
    model.register_forward_pre_hook(lambda _module, inputs: sizes.append(len(inputs[0])))
    large = ImageGame(model, image, patches=(3, 3), output="logit")
    small = ImageGame(model, image, patches=(3, 3), memory_cap=60_000, output="logit")
    assert small.batch_size < 8 < large.batch_size
    masks = np.random.default_rng(0).random((40, 9)) < 0.5
    sizes.clear()
    worths = small.worth(masks)
    assert max(sizes) <= small.batch_size
    assert np.allclose(worths, large.worth(masks), atol=rounding())


@pytest.mark.parametrize(
    ("image", "options", "message"),
    [
        (torch.zeros(14, 14), {}, r"image must have shape \[c, h, w\]"),
        (torch.zeros(2, 3, 14, 14), {}, "one image at a time"),
        (torch.zeros(3, 14, 14, dtype=torch.uint8), {}, "image must hold floats"),
        (torch.full((3, 14, 14), torch.nan), {}, "image must be finite"),
        ("cat.jpg", {}, "image must be a tensor"),
        (torch.zeros(1, 14, 14), {}, "does not take images of 1 × 14 × 14"),
        (torch.zeros(3, 4, 4), {"patches": (5, 2)}, "more than the 4 × 4 pixels"),
        (torch.zeros(3, 4, 4), {"patches": 7}, "patches must be two whole numbers"),
        (torch.zeros(3, 4, 4), {"segments": np.zeros((3, 4), dtype=int)}, "segments must have the image's shape"),
        (torch.zeros(3, 4, 4), {"segments": np.zeros((4, 4))}, "segments must be whole numbers"),
        (torch.zeros(3, 4, 4), {"segments": np.full((4, 4), -1)}, "no pixel belongs to a region"),
    ],
)
def test_wrong_input_is_refused(image, options, message):
    with pytest.raises(ValueError, match=message):
        ImageGame(Classifier(), image, **{"output": "logit", **options})


def test_wrong_models_are_refused():
    with pytest.raises(TypeError, match="model must be callable"):
        ImageGame(None, an_image(), output="logit")
    with pytest.raises(ValueError, match="one row of numbers for each of 2 images"):
        ImageGame(lambda images: images, an_image(), output="logit")


def test_an_additive_model_has_no_interactions():
    weights = torch.arange(16.0).view(1, 4, 4)
    game = ImageGame(
        lambda images: torch.stack([(images * weights).sum(dim=(1, 2, 3)), -images.sum(dim=(1, 2, 3))], dim=1),
        torch.ones(1, 4, 4),
        patches=(2, 2),
        fill=0.0,
        target=0,
        output="logit",
    )
    index = mage.interactions(game, "myerson-taylor", method="exact")
    assert np.allclose(index.first_order, [0 + 1 + 4 + 5, 2 + 3 + 6 + 7, 8 + 9 + 12 + 13, 10 + 11 + 14 + 15])
    off_diagonal = index.matrix - np.diag(np.diag(index.matrix))
    # Opposite corners do not touch: together they are worth nothing more, which the restricted game adds up rightly.
    assert np.abs(off_diagonal).max() < 1e-6
