import importlib
import importlib.util
import re
import subprocess
import sys
import types
from unittest import mock

import pytest
import typer

import mage
from mage.cli import app
from mage.explainers import registry
from mage.indices import ESTIMATORS, FAMILIES
from tests.helpers.documentation import (
    PAGES,
    ROOT,
    blocks_of,
    command_lines,
    inline_commands,
    page_name,
    script_lines,
)

LONG = {"large_graphs.md", "mathematics.md", "text.md"}  # their code takes seconds


def runnable(page):
    return pytest.param(page, id=page_name(page), marks=[pytest.mark.long] if page.name in LONG else [])


@pytest.mark.parametrize("page", [runnable(page) for page in PAGES])
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # The blocks of a page are one module, whose classes can be pickled; what they register is gone afterwards.
    module = types.ModuleType("documentation_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "_EXPLAINERS", dict(registry._EXPLAINERS))
    scope = vars(module)
    with mock.patch.dict(FAMILIES), mock.patch.dict(ESTIMATORS):
        for block in blocks_of(page, "python"):
            exec(compile(block, page.name, "exec"), scope)  # noqa: S102 (our own documentation)
    if page.name == "README.md":
        assert "proven optimal" in capsys.readouterr().out
        assert {motif.sign for motif in scope["explanation"].all_motifs} == {1, -1}
        assert scope["explanation"].interactions.exact
    if page.name == "adding.md":
        assert scope["explanation"].method == "Peeling"
        assert "peeling" in registry.names()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    assert all((page.parent / target).exists() for target in targets if "://" not in target)


@pytest.mark.parametrize("words", [*command_lines(), *inline_commands()])
def test_commands_exist(words):
    command = typer.main.get_command(app)
    arguments = list(words)
    while hasattr(command, "commands"):
        while arguments and arguments[0].startswith("-"):
            assert arguments.pop(0) in {*options_of(command), "--help"}
        if not arguments:
            return
        name = arguments.pop(0)
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
    # Parsing, without the checks of values (files need not be there) and without running anything.
    command.make_context(command.name, list(arguments), resilient_parsing=True)
    known = {*options_of(command), "--help"}
    unknown = {word.partition("=")[0] for word in arguments if word.startswith("--")} - known
    assert not unknown, f"{command.name} has no {unknown}"


@pytest.mark.parametrize(("script", "options"), list(script_lines()))
def test_scripts_and_their_options_exist(script, options):
    path = ROOT / script
    assert path.exists()
    text = path.read_text(encoding="utf-8")
    assert not [option for option in options if f'"{option}"' not in text]


def test_targets_of_make_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    pages = [*PAGES, ROOT / "CONTRIBUTING.md"]
    mentions = {word for page in pages for word in re.findall(r"`make ([a-z-]+)`", page.read_text(encoding="utf-8"))}
    blocks = "\n".join(block for page in pages for block in blocks_of(page, "console"))
    mentions |= set(re.findall(r"^make ([a-z-]+)", blocks, flags=re.MULTILINE))
    assert mentions
    assert mentions <= set(targets)


def options_of(command):
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}


def test_a_wrong_option_would_be_found():
    with pytest.raises(AssertionError, match="no-such-option"):
        test_commands_exist(["demo", "--no-such-option"])
    with pytest.raises(AssertionError, match="no command"):
        test_commands_exist(["dmeo"])


ROOMS = ("datasets", "drawing", "experiments", "explainers", "explanation", "games", "graph", "indices", "metrics")
ROOMS += ("models", "motifs", "plots", "pyg", "report", "testing")


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_public_name_is_in_the_reference(room):
    """As ``mage.room.name``; a name that ``mage`` itself has is listed there."""
    module = importlib.import_module(f"mage.{room}" if room else "mage")
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    listed = {mention.rstrip(".") for mention in re.findall(r"mage\.[\w.]+", text)}
    inside = re.findall(r":members: (.+)", text)  # automodule with a list of members
    members = {f"mage.pyg.{name.strip()}" for line in inside for name in line.split(",")}
    whole = {"mage.metrics"} if ":imported-members:" in text else set()
    exports = [] if module.__name__ in whole else getattr(module, "__all__", [])
    missing = [
        name
        for name in exports
        if f"{module.__name__}.{name}" not in listed | members and (not room or name not in mage.__all__)
    ]
    assert not missing, f"docs/api does not have {missing} of {module.__name__}"


@pytest.mark.long
def test_site_builds_without_a_warning(tmp_path):
    needed = ("sphinx", "furo", "myst_parser", "sphinx_copybutton", "latex2mathml", "nbclient", "ipykernel")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install --group docs")
    # In a process of its own: autodoc imports everything, and Sphinx changes the locale and the loggers.
    process = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(ROOT / "docs"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    reference = (tmp_path / "api" / "core.html").read_text(encoding="utf-8")
    assert all(f'id="mage.{name}"' in reference for name in ("explain", "interactions", "find_motifs", "Explanation"))
    assert (tmp_path / "index.html").exists()
