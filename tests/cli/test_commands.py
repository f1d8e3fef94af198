import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import mage
import mage.cli
from mage.cli._app import EXIT_CODES, announce

COMMANDS = ("demo", "explain", "explain-text", "explain-image", "datasets", "train", "benchmark", "report")
# Nothing here needs PyTorch, which takes seconds to import.
QUICK = """
|--help|--version|expain|explain|explain --nonsense|explain --dataset imagenet|explain --dataset demo --model gin
|explain --model nowhere:Net --data graph.npz|explain --dataset ba_2motifs --tau 3|explain --dataset benzene --model mlp
|explain --all|explain --all --dataset nope|explain --dataset demo --like nowhere.mage|explain-text
|explain-text hello --model bert|explain-text hello --tau 3|explain-image|explain-image none.png --patches seven
|explain-image none.png|train|train imagenet|train benzene --model mlp|datasets|datasets benzene|datasets nope
|datasets --json|benchmark|benchmark nonsense|benchmark ablation --datasets mutagenic|benchmark ablation --graphs 0
|benchmark ablation --export table.pdf|benchmark ablation --engine dask|report|report nowhere|demo --seed -1
|explain --dataset demo --masking zeros|explain --smiles CC(O --dataset mutagenic
|view nowhere.mage|compare a.mage b.mage|explain --smiles CCO --dataset benzen
"""


def run(*arguments, **options):
    return CliRunner(**options).invoke(mage.cli.app, [str(argument) for argument in arguments])


def commands():
    return typer.main.get_command(mage.cli.app).commands


def test_every_module_with_commands_is_registered():
    folder = Path(mage.cli.__file__).parent
    with_commands = {path.stem for path in folder.glob("*.py") if "@app.command" in path.read_text()}
    assert with_commands == set(mage.cli.MODULES)


def test_the_help_lists_the_commands():
    output = run("--help", env={"COLUMNS": "120"}).output
    for name in COMMANDS:
        assert f" {name} " in output


def test_help_and_wrong_arguments_do_not_load_pytorch():
    script = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from mage.cli import app\n"
        "for line in sys.argv[1:]:\n"
        "    CliRunner().invoke(app, line.split())\n"
        "    assert 'torch' not in sys.modules, line\n"
    )
    lines = [line.strip() for line in QUICK.split("|")]
    process = subprocess.run([sys.executable, "-c", script, *lines], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr


def test_output_is_a_path_in_every_command():
    for name, command in commands().items():
        help_text = run(name, "--help", env={"COLUMNS": "120"}).output
        has_output = any("--output" in option.opts for option in command.params)
        assert has_output == (name in {"demo", "train", "report"}), name
        assert not has_output or re.search(r"--output +-o +<path>", help_text)


def test_every_command_can_print_json():
    for name, command in commands().items():
        assert any("--json" in option.opts for option in command.params), name


def test_options_are_grouped():
    for name in ("explain", "explain-text", "explain-image", "benchmark"):
        panels = {
            getattr(option, "rich_help_panel", None) for option in commands()[name].params if option.opts[0][0] == "-"
        }
        assert len(panels) >= 4
        assert None not in panels


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["expain"], "explain"),
        (["explain", "--max-node", "3"], "--max-nodes"),
        (["explain", "--dataset", "mutagenc"], "mutagenic"),
        (["explain", "--dataset", "demo", "--method", "exakt"], "exact"),
        (["explain", "--dataset", "demo", "--masking", "zeros"], "zero"),
        (["benchmark", "abaltion"], "ablation"),
    ],
)
def test_a_name_that_is_close_is_suggested(words, suggestion):
    result = run(*words)
    assert result.exit_code == 2
    hint = re.split("did you mean|possible options", result.output.lower())
    assert len(hint) == 2
    assert suggestion in hint[1]


def test_ctrl_c_before_the_first_estimate_is_said(monkeypatch, tmp_path):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mage, "explain", interrupted)
    result = run("explain", "--dataset", "demo", "--save", tmp_path / "why.mage")
    assert result.exit_code == 130
    assert "interrupted before the first estimate; there is no result" in result.stderr
    assert not (tmp_path / "why.mage").exists()


def test_an_interrupted_corpus_says_what_is_kept(monkeypatch, tmp_path):
    from mage.experiments import corpus

    explain_job, jobs = corpus._explain_job, []

    def interrupted(shared, job):
        jobs.append(job.number)
        if len(jobs) == 3:
            raise KeyboardInterrupt("SIGTERM")
        return explain_job(shared, job)

    monkeypatch.setattr(corpus, "_explain_job", interrupted)
    options = ("--all", "--which", "test", "--graphs", 4, "--folder", tmp_path / "run", "--engine", "serial")
    (tmp_path / "by_hand.py").write_text("from mage.models import rule_network\nnetwork = rule_network('rule_and')\n")
    monkeypatch.chdir(tmp_path)
    result = run("explain", "--dataset", "rule_and", "--model", "by_hand:network", *options)
    assert result.exit_code == 130, result.output
    assert "finished explanations are kept in" in " ".join(result.stderr.split())
    assert "nothing was written" not in result.stderr
    assert len(list((tmp_path / "run").glob("*.mage"))) == 2


def test_a_partial_result_has_its_own_exit_code(monkeypatch, tmp_path):
    def partial(model, data, **options):
        options |= {"method": "permutation", "permutations": 200, "progress": lambda interactions: True}
        return explain(model, data, **options)

    explain = mage.explain
    monkeypatch.setattr(mage, "explain", partial)
    result = run("explain", "--dataset", "demo", "--json", "--save", tmp_path / "why.mage")
    assert result.exit_code == 4, result.output
    assert json.loads(result.stdout)["stopped"] == "cancelled"
    assert "wrote" in result.stderr
    assert "the scores are estimates" in result.stderr
    assert mage.load(tmp_path / "why.mage").interactions.partial


def test_the_reference_has_every_command_option_and_exit_code():
    sphinx = pytest.importorskip("sphinx")
    assert sphinx
    path = Path(__file__).parents[2] / "docs" / "_extensions" / "program_reference.py"
    spec = importlib.util.spec_from_file_location("program_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.commands_markdown()
    assert set(EXIT_CODES) == {0, 1, 2, 3, 4, 130}
    assert all(f"| {code} | {meaning}" in text for code, meaning in EXIT_CODES.items())
    for name, command in commands().items():
        section = text.partition(f"## mage {name}\n")[2].partition("\n## ")[0]
        assert all(
            f"`{option}`" in section for parameter in command.params for option in parameter.opts if option[0] == "-"
        )


def test_steps_are_announced_on_terminals_only(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    announce("loading the model")
    assert capsys.readouterr().err == "loading the model …\n"
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    announce("loading the model")
    assert capsys.readouterr().err == ""


def test_flags_do_not_look_as_if_they_took_a_value():
    for name in commands():
        help_text = run(name, "--help", env={"COLUMNS": "120"}).output
        lines = [line for line in help_text.splitlines() if re.search(r"<bool>|BOOLEAN", line)]
        assert all("--help" in line for line in lines), (name, lines)


def test_the_first_hint_of_explain_can_be_followed():
    result = run("explain")
    assert result.exit_code == 2
    assert "--smiles" in result.stderr
    assert "mage explain --dataset demo" in result.stderr
