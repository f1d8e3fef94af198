import json

import pytest
from typer.testing import CliRunner

from mage.cli import app
from mage.models import load_checkpoint


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def test_datasets_are_listed_with_source_licence_and_place():
    result = run("datasets")
    assert result.exit_code == 0, result.output
    for word in ("mutagenic", "2,951", "ba_shapes", "Apache-2.0", "generated", "graph-attribution"):
        assert word in result.output


def test_datasets_are_checked_beside_the_paper():
    result = run("datasets", "--check", "--only", "ba_house_grid,ba_shapes")
    assert result.exit_code == 0, result.output
    assert "10,000 / 10,000" in result.output
    assert "27.00 / 26.97" in result.output
    assert "generated with seed 0" in result.output


def test_what_is_missing_is_said_in_its_row(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "benzene").mkdir()
    (tmp_path / "empty" / "benzene" / "x_true.npz").write_bytes(b"damaged")
    result = run("datasets", "--check", "--only", "benzene", "--root", tmp_path / "empty")
    assert result.exit_code == 0, result.output
    assert "not loaded" in result.output


def test_train_writes_a_checkpoint_and_prints_the_papers_accuracy(tmp_path):
    arguments = ("train", "ba_2motifs", "--model", "gcn", "--epochs", 1, "--output", tmp_path, "--seed", 2)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "97.00" in result.output
    checkpoint = load_checkpoint(tmp_path / "ba_2motifs_gcn.safetensors")
    assert checkpoint.about["seed"] == 2
    assert checkpoint.about["plan"]["epochs"] == 1
    assert set(checkpoint.about["accuracy"]) == {"train", "validation", "test"}
    before = (tmp_path / "ba_2motifs_gcn.safetensors").stat().st_mtime_ns
    assert run(*arguments).exit_code == 0
    assert (tmp_path / "ba_2motifs_gcn.safetensors").stat().st_mtime_ns == before


def test_a_trained_network_is_explained(tmp_path):
    assert run("train", "ba_2motifs", "--model", "gin", "--epochs", 2, "--output", tmp_path).exit_code == 0
    weights = tmp_path / "ba_2motifs_gin.safetensors"
    result = run(
        *("explain", "--dataset", "ba_2motifs", "--weights", weights, "--graph", 5),
        *("--permutations", 20, "--method", "permutation", "--json"),
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert len({node for motif in found["motifs"] for node in motif["nodes"]}) <= 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train"], "give the name of one dataset, or --all-table"),
        (["train", "benzene", "--all-table"], "give the name of one dataset, or --all-table"),
        (["train", "imagenet"], "there is no dataset 'imagenet'"),
        (["train", "benzene", "--model", "mlp"], "is none of gcn, gin, gat"),
        (["train", "benzene", "--epochs", "0"], "--epochs must be at least 1"),
        (["train", "--all-table", "--only", "imagenet"], "there is no dataset 'imagenet'"),
        (["datasets", "--check", "--only", "imagenet"], "there is no dataset 'imagenet'"),
        (["explain", "--dataset", "ba_2motifs", "--model", "mlp"], "Train one with: mage train ba_2motifs"),
        (["explain", "--dataset", "ba_2motifs", "--weights", "nowhere.safetensors"], "does not exist"),
        (["explain", "--dataset", "demo", "--model", "gin"], "leave out --model"),
        (["explain", "--dataset", "ba_2motifs", "--data", "x.npz"], "leave out --data"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.stderr
