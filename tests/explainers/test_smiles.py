import re

import pytest
import torch
from torch_geometric.nn import GINConv, global_add_pool
from typer.testing import CliRunner

import mage
from mage.cli import app
from mage.datasets import FEATURIZERS, smiles_graph
from mage.models import pretrained
from tests.helpers.data import data_path

chem = pytest.importorskip("rdkit.Chem")
NITROANILINE = "c1ccc(cc1N)[N+](=O)[O-]"


class Charges(torch.nn.Module):
    """Adds up what PyG's features say about charges: only N+ and O- count."""

    def forward(self, x, edge_index, batch):
        charged = (x[:, 3:4] != 5).float()
        return global_add_pool(charged, batch).repeat(1, 2) * torch.tensor([1.0, -1.0])


def test_a_network_of_the_library_explains_a_molecule():
    why = mage.explain_smiles(
        pretrained("mutagenic", "gin"), NITROANILINE, featurizer="mutagenic", tau=1.0, max_nodes=4
    )
    assert why.class_names == ("mutagen", "non-mutagen")
    assert why.masking == "split"
    assert why.num_nodes == 16  # hydrogens are nodes of this dataset
    assert why.names[7] == "N7"
    names = why.motif_names()
    assert any("nitro" in name.name for name in names)
    molecule = chem.AddHs(chem.MolFromSmiles(NITROANILINE))
    for motif, name in zip(why.motifs, names, strict=True):
        matches = molecule.GetSubstructMatches(chem.MolFromSmarts(name.smarts))
        assert set(motif.nodes) in [set(match) for match in matches]


def test_a_model_of_ones_own_has_pygs_features():
    why = mage.explain_smiles(
        Charges(), NITROANILINE, output="logit", masking="remove", tau=1.0, max_nodes=2, num_motifs=2, target=0
    )
    charged = {atom.GetIdx() for atom in chem.MolFromSmiles(NITROANILINE).GetAtoms() if atom.GetFormalCharge()}
    assert {node for motif in why.motifs for node in motif.nodes} == charged


def test_a_featurizer_is_a_function_of_the_smiles():
    inputs = []

    def featurizer(smiles):
        inputs.append(smiles)
        return smiles_graph(smiles, "benzene")

    why = mage.explain_smiles(pretrained("benzene", "gcn"), "CCc1ccccc1", featurizer=featurizer, max_nodes=6, tau=1.0)
    assert inputs == ["CCc1ccccc1"]
    assert why.num_nodes == 8
    assert why.class_names == ()


@pytest.mark.parametrize("name", ["benzene", "fluoride_carbonyl", "alkane_carbonyl"])
def test_features_are_those_of_the_dataset(name):
    data_path(name)
    dataset = mage.datasets.load(name)
    for position in range(0, 200, 10):
        published = dataset[position]
        graph = smiles_graph(published.smiles, name)
        assert torch.equal(graph.x, published.x)
        rows = sorted(zip(published.edge_index.T.tolist(), published.edge_attr.tolist(), strict=True))
        assert sorted(zip(graph.edge_index.T.tolist(), graph.edge_attr.tolist(), strict=True)) == rows


@pytest.mark.parametrize(
    ("smiles", "featurizer", "message"),
    [
        ("", "pyg", "smiles must be a text"),
        ("c1ccc", "pyg", "RDKit cannot read 'c1ccc'"),
        ("[Xe]", "mutagenic", "Xe is no element of Mutagenic"),
        ("CC", "benzen", "did you mean 'benzene'?"),
        ("CC", lambda smiles: smiles_graph("CCC"), "a node per atom, 2 or, with hydrogens, 8; got 3"),
    ],
)
def test_what_cannot_be_a_molecule_is_refused(smiles, featurizer, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        mage.explain_smiles(Charges(), smiles, featurizer=featurizer)


def run(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def test_the_command_prints_groups_and_writes_figures(tmp_path):
    pytest.importorskip("matplotlib")
    figures = [tmp_path / f"why.{ending}" for ending in ("pdf", "png", "svg")]
    for figure in figures:
        result = run(
            "--smiles", NITROANILINE, "--dataset", "mutagenic", "--tau", 1, "--max-nodes", 4, "--figure", figure
        )
        assert result.exit_code == 0, result.output
        assert f"wrote {figure}" in result.output
    assert "mutagen (probability" in result.output
    assert "nitro on carbon (C–NO₂)" in result.output
    assert "SMARTS of nitro on carbon: [#6]-[#7+]" in result.output
    assert [figure.read_bytes()[:4] for figure in figures] == [b"%PDF", b"\x89PNG", b"<?xm"]


def test_a_scripted_model_is_a_file(tmp_path, monkeypatch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GINConv(torch.nn.Linear(9, 2))

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
            return global_add_pool(self.conv(x.float(), edge_index), batch)

    torch.manual_seed(0)
    net = Net()
    graph = smiles_graph("CCO")
    torch.jit.trace(net, (graph.x, graph.edge_index, torch.zeros(3, dtype=torch.long))).save(tmp_path / "m.pt")
    result = run("--smiles", "CCO", "--model", tmp_path / "m.pt", "--json")
    assert result.exit_code == 0, result.output
    torch.save(net.state_dict(), tmp_path / "state.pt")
    refusal = run("--smiles", "CCO", "--model", tmp_path / "state.pt")
    assert refusal.exit_code == 2
    assert "--model module:Class --weights state.pt" in refusal.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--smiles needs --model"),
        (["--dataset", "ba_2motifs"], "'ba_2motifs' has no molecules"),
        (["--dataset", "mutagenic", "--data", "x.npz"], "--data and --smiles exclude each other"),
        (["--dataset", "mutagenic", "--featurizer", "ecfp"], "--featurizer: 'ecfp' is none of pyg, mutagenic"),
        (["--model", "nowhere.pt"], "--model: nowhere.pt does not exist"),
    ],
)
def test_the_option_at_fault_is_named(arguments, message):
    result = run("--smiles", "CCO", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_all_datasets_of_molecules_have_a_featurizer():
    with_molecules = {"mutagenic", "benzene", "fluoride_carbonyl", "alkane_carbonyl"}
    assert set(FEATURIZERS) == {"pyg", *with_molecules}
