from pathlib import Path

import pytest
from typer.testing import CliRunner

from mage.cli import app
from mage.cli._tables import default_store


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def trained(tmp_path):
    """A folder with a network that knows houses from grids a little."""
    result = run("train", "ba_2motifs", "--model", "gcn", "--epochs", 10, "--output", tmp_path / "models")
    assert result.exit_code == 0, result.output
    return tmp_path / "models"


def test_experiments_are_listed():
    result = run("benchmark")
    assert result.exit_code == 0
    for name in ("single-motif", "multi-motif", "sentiment", "ablation", "orders", "queries", "running-time"):
        assert f"{name}: " in result.output


def test_a_table_is_computed_once_shown_and_exported(trained, tmp_path):
    arguments = (
        *("benchmark", "ablation", "--datasets", "ba_2motifs", "--methods", "mage,mage-unconnected", "--graphs", 2),
        *("--trained", trained, "--store", tmp_path / "store", "--engine", "serial"),
    )
    before = run(*arguments, "--status")
    assert before.exit_code == 0, before.output
    assert "ba_2motifs gcn mage: 0 of 2 graphs" in before.output
    result = run(*arguments, "--export", tmp_path / "table.csv")
    assert result.exit_code == 0, result.output
    assert "Myerson-Taylor, connected" in result.output
    assert "/ 0.858" in result.output
    assert 'ba_2motifs,gcn,"Myerson-Taylor, connected",f1,' in (tmp_path / "table.csv").read_text()
    assert "ba_2motifs gcn mage: 2 of 2 graphs" in run(*arguments, "--status").output
    parts = sorted(path.stat().st_mtime_ns for path in (tmp_path / "store" / "parts").iterdir())
    assert run(*arguments).exit_code == 0
    assert "ba_2motifs gcn mage: 2 results" in run("benchmark", "--status", "--store", tmp_path / "store").output
    assert parts == sorted(path.stat().st_mtime_ns for path in (tmp_path / "store" / "parts").iterdir())


def test_the_tracked_results_are_the_store_of_all_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (default_store(True), default_store(False)) == (Path("mage-results"), Path("mage-results"))
    (tmp_path / "results" / "packs").mkdir(parents=True)
    assert (default_store(True), default_store(False)) == (Path("results"), Path("mage-results"))
    status = run("benchmark", "--all-tables", "--status")
    assert "0 of" in status.output.splitlines()[-1]
    assert not (tmp_path / "mage-results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "is none of ablation"),
        (["ablation", "--datasets", "mutagenic"], "not part of this experiment"),
        (["ablation", "--graphs", "0"], "--graphs must be at least 1"),
        (["ablation", "--export", "table.pdf"], "must end in .md"),
        (["ablation", "--export", "nowhere/table.md"], "--export: the folder nowhere does not exist"),
        (["ablation", "--seeds", "a,b", "--status"], "--seeds must be whole numbers ≥ 0 separated by commas"),
        (["ablation", "--seeds", "-1", "--status"], "--seeds must be whole numbers"),
        (["ablation", "--engine", "dask"], "none of local, ray, serial"),
        (["ablation", "--checkpoints", "nowhere"], "the folder nowhere does not exist"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message):
    result = run("benchmark", *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
