from typer.testing import CliRunner

from mage import __version__
from mage.cli import app


def test_demo_prints_all_indices_and_writes_a_page(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    for name in ("shapley", "shapley-taylor", "myerson", "myerson-taylor"):
        assert name in result.output
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<svg" in page
    assert "<script" not in page
    assert (tmp_path / "out" / "indices.svg").stat().st_size > 1000


def test_demo_is_the_same_every_time(tmp_path):
    for name in ("a", "b"):
        assert CliRunner().invoke(app, ["demo", "--output", str(tmp_path / name)]).exit_code == 0
    assert (tmp_path / "a" / "index.html").read_bytes() == (tmp_path / "b" / "index.html").read_bytes()


def test_version():
    assert __version__ in CliRunner().invoke(app, ["--version"]).output
