import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import mage
from mage.cli import app

MODEL = """
import torch
from torch_geometric.nn import GCNConv, global_mean_pool

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GCNConv(3, 4), torch.nn.Linear(4, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_mean_pool(self.conv(x, edge_index).relu(), batch))

class Sized(Net):
    def __init__(self, width, depth):
        super().__init__()

class Anyway(Net):  # class 1 whatever the graph
    def forward(self, x, edge_index, batch):
        against = global_mean_pool(x[:, :1], batch)
        return torch.cat([against, torch.full_like(against, 30.0)], dim=1)

class AnywayNode(Net):
    def forward(self, x, edge_index):
        seen = 0 * self.conv(x, edge_index)[:, :1]
        return torch.cat([x[:, :1], torch.full_like(x[:, :1], 30.0) + seen], dim=1)

def fails():
    raise KeyError("inner")

def nothing():
    return None

number = 3
"""


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    (tmp_path / "my_network.py").write_text(MODEL)
    monkeypatch.delitem(sys.modules, "my_network", raising=False)
    np.savez(
        tmp_path / "graph.npz",
        x=np.random.default_rng(0).random((5, 3), dtype=np.float32),
        edge_index=np.array([[0, 1, 2, 3, 1, 2, 3, 4], [1, 2, 3, 4, 0, 1, 2, 3]]),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("model", "options"), [("Anyway", []), ("AnywayNode", ["--node", 2])])
def test_a_class_that_is_said_anyway_explains_itself(workplace, model, options):
    sentence = "a probability of 1.000 with every node absent, so no group of nodes can add to it"
    command = ("explain", "--model", f"my_network:{model}", "--data", "graph.npz", "--masking", "zero", "--tau", 1)
    plain = run(*command, *options, "--page", "why.html")
    assert plain.exit_code == 0, plain.output
    assert sentence in " ".join(plain.output.split())
    assert "proven optimal" not in plain.output
    page = (workplace / "why.html").read_text(encoding="utf-8")
    assert sentence in page.partition("<noscript>")[0]
    output = json.loads(run(*command, *options, "--json").output)
    assert output["saturation"].endswith(sentence)
    assert output["motifs"] == []
    assert output["consequences"]["baseline"]["probability"] > 0.999


def test_checkpoints_only_runs_no_code(workplace, monkeypatch):
    from mage.models.checkpoints import save_checkpoint
    from mage.models.networks import GIN

    network = GIN(3, 2, width=4)
    save_checkpoint(workplace / "net.safetensors", network, {"architecture": network.architecture})
    refusal = run("--checkpoints-only", "explain", "--model", "my_network:Net", "--data", "graph.npz")
    assert refusal.exit_code == 2
    assert "would run code of third parties" in refusal.output
    assert "my_network" not in sys.modules
    monkeypatch.setenv("MAGE_CHECKPOINTS_ONLY", "1")
    assert run("explain", "--model", "my_network:Net", "--data", "graph.npz").exit_code == 2
    result = run("explain", "--model", "net.safetensors", "--data", "graph.npz", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["level"] == "graph"
    monkeypatch.delenv("MAGE_CHECKPOINTS_ONLY")
    assert run("explain", "--model", "my_network:Net", "--data", "graph.npz").exit_code == 0


def test_demo_finds_the_grid_and_the_cycle(tmp_path):
    result = run("demo", "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "grid 0" in result.output
    assert "against" in result.output
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<svg" in page
    assert 'http-equiv="Content-Security-Policy"' in page
    assert page.count("<script") == 2  # the data and the page's own script
    explanation = mage.load(tmp_path / "out" / "explanation.mage")
    assert (len(explanation.motifs), len(explanation.against)) == (1, 1)


@pytest.mark.long
def test_demo_pictures_are_the_same_every_time(tmp_path):
    for name in ("a", "b"):
        assert run("demo", "--output", tmp_path / name, "--seed", 1).exit_code == 0
    assert (tmp_path / "a" / "index.html").read_bytes() == (tmp_path / "b" / "index.html").read_bytes()


def test_explain_a_model_and_a_graph_of_ones_own(workplace):
    torch.manual_seed(0)
    sys.path.insert(0, str(workplace))
    from my_network import Net

    net = Net()
    torch.save(net.state_dict(), workplace / "weights.pt")
    result = run(
        "explain",
        "--model",
        "my_network:Net",
        "--weights",
        "weights.pt",
        "--data",
        "graph.npz",
        "--max-nodes",
        2,
        "--tau",
        0.5,
        "--json",
        "--save",
        "why.mage",
        "--figure",
        "why.svg",
    )
    sys.path.remove(str(workplace))
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["exact"] is True
    assert mage.load(workplace / "why.mage").to_dict()["motifs"] == document["motifs"]
    assert (workplace / "why.svg").stat().st_size > 1000


def test_saved_graphs_of_pyg_and_double_precision(workplace):
    from torch_geometric.data import Data

    arrays = dict(np.load(workplace / "graph.npz"))
    torch.save(
        Data(x=torch.from_numpy(arrays["x"]), edge_index=torch.from_numpy(arrays["edge_index"])), workplace / "g.pt"
    )
    np.savez(
        workplace / "double.npz", **{**arrays, "x": arrays["x"].astype(np.float64), "names": np.array(list("CNOFS"))}
    )
    for name in ("g.pt", "double.npz"):
        result = run("explain", "--model", "my_network:Net", "--data", name, "--tau", 0.5)
        assert result.exit_code == 0, result.output


def test_explain_a_named_dataset():
    result = run(
        "explain", "--dataset", "demo", "--graph", 1, "--masking", "split", "--max-nodes", 9, "--num-motifs", 1
    )
    assert result.exit_code == 0, result.output
    assert "grid" in result.output


def test_an_explanation_is_repeated_from_its_file(workplace):
    demo = ["explain", "--dataset", "demo", "--json"]
    first = run(
        *demo, "--masking", "zero", "--method", "permutation", "--permutations", 4, "--seed", 5, "--save", "a.mage"
    )
    assert first.exit_code == 0, first.output
    again = run(*demo, "--like", "a.mage")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["motifs"] == json.loads(first.stdout)["motifs"]
    other = run(*demo, "--like", "a.mage", "--num-motifs", 1)
    assert len(json.loads(other.stdout)["motifs"]) == 1
    assert "--like: b.mage does not exist" in run(*demo, "--like", "b.mage").stderr


@pytest.mark.parametrize("players", ["edges", "features"])
def test_edges_and_features_play(workplace, players):
    result = run("explain", "--dataset", "demo", "--players", players, "--json", "--order", 1, "--masking", "remove")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["players"] == players
    assert "players must be one of" in run("explain", "--dataset", "demo", "--players", "atoms").stderr


def test_the_defaults_are_those_of_the_requests(workplace):
    result = run("explain", *OWN, "--save", "why.mage")
    assert result.exit_code == 0, result.output
    assert "wrote why.mage" in result.output
    assert mage.load("why.mage").request == mage.ExplainRequest()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "--model and --data"),
        (["--dataset", "imagenet"], 2, "demo"),
        (["--model", "my_network", "--data", "graph.npz"], 2, "module:name"),
        (["--model", "nowhere:Net", "--data", "graph.npz"], 2, "cannot be imported"),
        (["--model", "my_network:Net", "--data", "absent.npz"], 2, "does not exist"),
        (["--model", "my_network:Net", "--data", "my_network.py"], 2, "plain tensors"),
        (["--model", "my_network:Net", "--data", "graph.npz", "--tau", "3"], 2, "tau"),
        (
            ["--model", "my_network:Net", "--data", "graph.npz", "--save", "no/folder/x"],
            2,
            "--save: the folder no/folder",
        ),
        (["--nonsense"], 2, ""),
    ],
)
def test_mistakes_are_told_in_one_line(workplace, arguments, code, message):
    result = run("explain", *arguments)
    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert "Traceback" not in result.stderr


OWN = ["--model", "my_network:Net", "--data", "graph.npz"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "broken:Net"], "--model: 'broken:Net' cannot be imported: SyntaxError"),
        (["--model", "divides:Net"], "--model: 'divides:Net' cannot be imported: ZeroDivisionError"),
        (["--model", "exits:Net"], "--model: 'exits:Net' cannot be imported: SystemExit"),
        (["--model", "my_network:fails"], "--model: 'my_network:fails' raised KeyError: 'inner'"),
        (["--model", "my_network:Sized"], "missing 2 required positional arguments: 'width' and 'depth'"),
        (["--model", "my_network:number"], "--model: 'my_network:number' is of type int"),
        (["--model", "my_network:nothing"], "--model: 'my_network:nothing' returned NoneType"),
        (["--weights", "graph.npz"], "--weights: graph.npz does not fit Net"),
        (
            ["--max-nodes", "inf"],
            "--max-nodes: max_nodes must be a whole number ≥ 1, a share of the nodes in (0, 1) or 'auto', got inf",
        ),
        (["--max-nodes", "nan"], "--max-nodes: max_nodes must be"),
        (["--max-nodes", "2.7"], "--max-nodes: max_nodes must be"),
        (["--max-nodes", "-0.5"], "--max-nodes: max_nodes must be"),
        (
            ["--data", "float.npz"],
            "data: edge_index must hold int64 numbers, got torch.float32; convert it with .long()",
        ),
        (["--data", "unsigned.npz"], "got torch.uint64"),
        (["--graph", "3"], "--graph needs --dataset"),
        (["--folder", "elsewhere"], "--folder needs --all"),
        (["--workers", "2"], "--workers needs --all"),
        (["--graphs", "2"], "--graphs needs --all"),
        (["--engine", "serial"], "--engine needs --all"),
        (["--all"], "--data is for one graph; --all explains a dataset"),
        (["--all", "--save", "x"], "--save is for one graph; --all writes into --folder"),
    ],
)
def test_the_option_at_fault_is_named(workplace, arguments, message):
    (workplace / "broken.py").write_text("def x(:")
    (workplace / "divides.py").write_text("1 / 0")
    (workplace / "exits.py").write_text("raise SystemExit(0)")
    arrays = dict(np.load(workplace / "graph.npz"))
    for name, kind in (("float", np.float64), ("unsigned", np.uint64)):
        np.savez(workplace / f"{name}.npz", x=arrays["x"], edge_index=arrays["edge_index"].astype(kind))
    result = run("explain", *OWN, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert len(result.stderr.splitlines()) <= 2
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--save", "nowhere/x"], "--save: the folder nowhere does not exist; create it first"),
        (["--save", "."], "--save: . is a folder"),
        (["--page", "nowhere/x.html"], "--page: the folder nowhere"),
        (["--figure", "nowhere/x.svg"], "--figure: the folder nowhere"),
        (["--figure", "why.xyz"], "--figure: why.xyz must end in .svg, .png or .pdf"),
    ],
)
def test_files_are_checked_before_anything_is_computed(workplace, monkeypatch, arguments, message):
    monkeypatch.setattr(mage, "explain", lambda *a, **k: pytest.fail("computed first"))
    result = run("explain", *OWN, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--seed", -1], "--seed must be a whole number ≥ 0, got -1"),
        (["explain", "--dataset", "demo", "--graph", -5], "--graph must be a whole number ≥ 0, got -5"),
    ],
)
def test_other_options_at_fault_are_named(workplace, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_pickles_are_not_opened(workplace):
    class Payload:
        def __reduce__(self):
            return (open, (str(workplace / "owned"), "w"))

    torch.save({"edge_index": Payload()}, workplace / "evil.pt")
    result = run("explain", "--model", "my_network:Net", "--data", "evil.pt")
    assert result.exit_code == 2
    assert not (workplace / "owned").exists()


def test_version():
    assert mage.__version__ in run("--version").output


def test_a_small_graph_file_that_would_take_all_memory_is_refused(workplace):
    with zipfile.ZipFile("graph.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", bytes(1_000_000))
    content = bytearray(Path("graph.npz").read_bytes())
    place = content.rfind(b"PK\x01\x02")
    content[place + 24 : place + 28] = (2**31).to_bytes(4, "little")  # the size that the list of members declares
    Path("graph.npz").write_bytes(content)
    result = run("explain", "--model", "my_network:Net", "--data", "graph.npz")
    assert result.exit_code == 2
    assert "--data: graph.npz" in result.output
    assert "would take 2,147," in " ".join(result.output.split())
