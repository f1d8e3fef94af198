import pytest
from typer.testing import CliRunner

import mage
from mage.cli import app
from mage.experiments import LocalEngine, SerialEngine
from mage.experiments.corpus import explain_corpus, load_corpus
from mage.experiments.procedures.graphs import load_testbed


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_explanations_are_kept_one_by_one_and_not_made_again(tmp_path, inputs):
    testbed = load_testbed(inputs, "ba_house_grid", "gcn", 3)
    options = {n: {**settings, "method": "permutation", "permutations": 5} for n, settings in testbed.settings.items()}
    run_of = explain_corpus(testbed.model, testbed.graphs, tmp_path, options, SerialEngine())
    first = next(run_of)
    assert not first.before
    assert mage.load(first.path).num_nodes == testbed.graphs[first.number].num_nodes
    run_of.close()
    assert len(load_corpus(tmp_path)) == 1
    entries = list(explain_corpus(testbed.model, testbed.graphs, tmp_path, options, LocalEngine(1)))
    assert [entry.before for entry in entries] == [True, False, False]
    assert [int(path.name[:6]) for path in load_corpus(tmp_path)] == sorted(testbed.graphs)


def test_the_command_line_explains_a_corpus(tmp_path):
    assert run("train", "ba_2motifs", "--model", "gcn", "--epochs", 30, "--output", tmp_path).exit_code == 0
    arguments = (
        *("explain", "--dataset", "ba_2motifs", "--weights", tmp_path / "ba_2motifs_gcn.safetensors", "--all"),
        *("--graphs", 2, "--folder", tmp_path / "run", "--engine", "serial"),
        *("--method", "permutation", "--permutations", 5),
    )
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "2 explanations, 2 new, 0 from an earlier run" in result.output
    assert "2 explanations, 0 new, 2 from an earlier run" in run(*arguments).output


@pytest.mark.parametrize("arguments", [["--all"], ["--all", "--dataset", "demo"]])
def test_a_corpus_needs_a_dataset(arguments):
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert "--all needs --dataset" in result.stderr
