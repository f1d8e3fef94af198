"""The public names that stay, with the arguments and attributes that users rely on."""

import inspect

import numpy as np
import pytest

import mage

ARGUMENTS = {
    "Game": "value_fn num_players edges names",
    "interactions": "game index order method budget permutations seed",
    "find_motifs": "interactions edges num_motifs max_nodes tau connected noise_floor",
    "explain": (
        "model data target node edge num_motifs max_nodes tau output masking order method budget permutations seed "
        "names class_names progress"
    ),
}
EXPLANATION = "motifs interactions node_mask edge_mask prediction target num_queries seconds plot save_html save"
INTERACTIONS = "index order matrix values std_error num_queries exact method group"
COMMANDS = "demo explain train datasets benchmark report"
METRICS = "node_f1 ami edge_auc fidelity robust_fidelity infidelity"


@pytest.fixture(scope="module")
def index():
    game = mage.Game(lambda masks: masks.sum(axis=1) ** 2.0, 4, edges=[(0, 1), (1, 2), (2, 3)])
    return mage.interactions(
        game, index="myerson-taylor", order=2, method="auto", budget=None, permutations=None, seed=0
    )


def accepted(function):
    """Names that a function takes: parameters, and fields of the requests that stand for its keywords."""
    requests = (mage.GraphRequest, mage.IndexRequest, mage.MotifRequest)
    fields = {name for request in requests for name in inspect.signature(request).parameters}
    names = inspect.signature(function).parameters
    keywords = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in names.values())
    return set(names) | (fields if keywords else set())


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    assert set(ARGUMENTS[name].split()) <= accepted(getattr(mage, name))


def test_interactions(index):
    assert all(hasattr(index, name) for name in INTERACTIONS.split())
    assert index.matrix.shape == (4, 4)
    np.testing.assert_array_equal(index.matrix, index.matrix.T)
    assert index[(0, 1)] == index.matrix[0, 1]
    # No interaction of this game is negative, so that τ only scales the score.
    assert index.matrix.min() >= 0
    assert index.group(range(4), 0.5) == pytest.approx(index.group(range(4), 1.0) / 2, rel=1e-12)


def test_motifs(index):
    # A plain matrix needs the edges; the result is that of the interactions themselves.
    settings = {
        "num_motifs": 1,
        "max_nodes": 2,
        "tau": 1.0,
        "connected": True,
        "noise_floor": 0.0,
        "objective": "paper",
    }
    motifs = mage.find_motifs(index.matrix, [(0, 1), (1, 2), (2, 3)], **settings)
    assert motifs.motifs == mage.find_motifs(index, **settings).motifs
    assert all(hasattr(motif, name) for motif in motifs for name in ("nodes", "score", "sign"))
    assert motifs.optimal
    assert motifs.bound >= motifs.objective - 1e-9


def test_explanations():
    fields = {*dir(mage.Explanation), *inspect.signature(mage.Explanation).parameters}
    assert set(EXPLANATION.split()) <= fields
    assert all(callable(getattr(mage, name)) for name in ("load", "explain_many", "explain_text", "explain_image"))


def test_rooms():
    explain = pytest.importorskip("torch_geometric.explain")
    assert issubclass(mage.pyg.MAGEExplainer, explain.ExplainerAlgorithm)
    assert "mage" in mage.explainers.names()
    assert mage.explainers.get("mage") is not None
    assert "benzene" in mage.datasets.names()
    assert list(inspect.signature(mage.datasets.load).parameters)[:2] == ["name", "root"]
    assert list(inspect.signature(mage.models.pretrained).parameters)[:2] == ["dataset", "model"]
    assert callable(mage.models.authors_checkpoint)
    assert all(callable(getattr(mage.metrics, name)) for name in METRICS.split())


def test_datasets():
    pytest.importorskip("torch_geometric")
    dataset = mage.datasets.load("ba_house_grid", count=20)
    assert set(dataset.split.test) <= set(range(20))
    assert dataset[0].node_motif.shape == (dataset[0].num_nodes,)
    assert {"num_motifs", "max_nodes"} <= dataset.settings(0).keys()
    assert list(inspect.signature(dataset.explained).parameters)[:2] == ["model", "limit"]


def test_commands():
    from typer.main import get_command

    from mage.cli import app

    assert set(COMMANDS.split()) <= set(get_command(app).commands)
