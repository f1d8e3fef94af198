"""The commands of the documentation run, on less data where they would take long, and say what they did."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import mage
from mage.cli import app
from tests.helpers.data import data_path
from tests.helpers.documentation import command_lines

# What is not run, and why.
LEFT_OUT = {
    "path/to/authors": "needs the checkpoints of the paper's authors",
    "--all-table": "trains for hours",
    "ray://": "needs a cluster",
    "microsoft/": "needs a download",
    "my-folder": "needs a model of the user",
    "group-attribution": "needs images that are not here",
}
# What makes a command small; the last of two equal options counts.
SMALLER = {
    "benchmark single-motif": "--datasets ba_house_grid --models gin --methods mage --graphs 1 --engine serial",
    "benchmark multi-motif": "--datasets ba_house_and_grid --models gin --methods mage --graphs 1 --engine serial",
    "train mutagenic": "--epochs 1",
    "explain-image owl.jpg": "--model mnist-vit --permutations 2",
    "--all --folder run": "--graphs 2 --engine serial --method permutation --permutations 2",
}
NEEDED = {"mutagenic": "mutagenicity"}  # published files, by what names them
MODULE = """
import torch
from torch_geometric.nn import GCNConv, global_mean_pool


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GCNConv(3, 8), torch.nn.Linear(8, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_mean_pool(self.conv(x, edge_index).relu(), batch))


if __name__ == "__main__":
    torch.save(Net().state_dict(), "weights.pt")
"""


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the files that the documentation names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "my_module", raising=False)
    (tmp_path / "my_module.py").write_text(MODULE)
    exec(compile(MODULE, "my_module.py", "exec"), {"__name__": "__main__"})  # noqa: S102 (the text above)
    edges = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
    x = np.random.default_rng(0).random((5, 3), dtype=np.float32)
    np.savez(tmp_path / "graph.npz", x=x, edge_index=np.concatenate([edges, edges[::-1]], axis=1))
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(np.zeros((28, 28), dtype=np.uint8)).save(tmp_path / "owl.jpg")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("words", list(command_lines()))
def test_a_documented_command_runs(words, workplace):
    line = " ".join(words)
    reason = next((why for part, why in LEFT_OUT.items() if part in line), None)
    if reason is not None:
        pytest.skip(reason)
    for part, folder in NEEDED.items():
        if part in words and "--smiles" not in words:
            data_path(folder)
    smaller = [option for part, options in SMALLER.items() if part in line for option in options.split()]
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*words, *smaller])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip()
    for option in ("--page", "--figure", "--export", "--save"):
        if option in words:
            file = words[words.index(option) + 1]
            assert f"wrote {file}" in result.output
            assert (workplace / file).stat().st_size > 0


def test_reasons_and_shortcuts_still_apply():
    lines = [" ".join(case.values[0]) for case in command_lines()]
    for part in (*LEFT_OUT, *SMALLER):
        assert any(part in line for line in lines), f"no command has {part!r} any more"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--help"], "Start with: mage demo"),
        (["--version"], mage.__version__),
        (["explain", "--help"], "Model and data"),
        (["datasets"], "ba_2motifs"),
        (["datasets", "benzene"], "licence"),
        (["benchmark"], "single-motif"),
    ],
)
def test_a_short_command_of_a_sentence_prints_what_a_newcomer_expects(words, expected):
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, words)
    assert result.exit_code == 0, result.output
    assert expected.lower() in result.stdout.lower()


def test_the_commands_for_saved_explanations_write_their_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cycle = [(node, (node + 1) % 5) for node in range(5)]
    for name, sign in (("yes", 1.0), ("no", -1.0)):
        game = mage.Game(lambda masks, sign=sign: sign * masks[:, :2].all(axis=1), 5, cycle)
        mage.explain_game(game, mage.ExplainRequest.of(mage.GraphRequest)).save(f"{name}.mage")
    run = CliRunner(env={"COLUMNS": "80"}).invoke
    view = run(app, ["view", "yes.mage", "no.mage", "--no-open"])
    both = run(app, ["compare", "yes.mage", "no.mage", "--page", "both.html"])
    assert (view.exit_code, both.exit_code) == (0, 0), view.output + both.output
    assert "wrote yes.html" in view.output
    assert "wrote both.html" in both.output
    pages = [(tmp_path / name).read_text(encoding="utf-8") for name in ("yes.html", "both.html")]
    assert all("Motifs and their scores" in page for page in pages)
