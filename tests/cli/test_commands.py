from pathlib import Path

from typer.testing import CliRunner

import mage.cli


def test_every_module_with_commands_is_registered():
    folder = Path(mage.cli.__file__).parent
    with_commands = {path.stem for path in folder.glob("*.py") if "@app.command" in path.read_text()}
    assert with_commands == set(mage.cli.MODULES)


def test_the_help_lists_the_commands():
    output = CliRunner(env={"COLUMNS": "120"}).invoke(mage.cli.app, ["--help"]).output
    for name in ("demo", "explain", "explain-text", "explain-image", "datasets", "train", "benchmark", "report"):
        assert f" {name} " in output
