"""The examples of typed graphs do what they say."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers.data import data_path

FOLDER = Path(__file__).parent.parent / "examples"


def example(name, monkeypatch):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_a_recommendation_is_explained_by_what_the_user_has(monkeypatch, tmp_path):
    shop = example("recommendation", monkeypatch)
    explanation = shop.explained(user=4, page=tmp_path / "page.html")
    assert explanation.target_nodes[0] == 4
    likes = {name for name in explanation.names if name.startswith("film")}
    assert explanation.names[explanation.target_nodes[1]] in likes
    best = explanation.motifs[0]
    assert best.sign == 1
    assert len(set(best.names) & likes) >= 2
    assert "user" in explanation.to_dict()["motifs"][0]["pattern"]
    assert "film" in (tmp_path / "page.html").read_text()


def test_recommendations_are_of_the_kind_that_a_user_likes(monkeypatch):
    shop = example("recommendation", monkeypatch)
    data = shop.shop()
    model = shop.train(data, epochs=30)
    chosen = [shop.recommended(model, data, user) for user in range(shop.USERS)]
    right = sum(item % shop.KINDS == user % shop.KINDS for user, item in enumerate(chosen))
    assert right > shop.USERS / 2  # a third by chance


@pytest.mark.long
def test_nitro_groups_speak_for_mutagenic(monkeypatch):
    example_module = example("typed_molecules", monkeypatch)
    graphs = example_module.molecules(data_path("mutag"))
    assert len(graphs) == 188
    model = example_module.train(graphs, epochs=20)
    classes, truth = example_module.predictions(model, graphs), torch.cat([data.y for data in graphs])
    assert float((classes == truth).float().mean()) > 0.75
    number = int(torch.nonzero((classes == 1) & (truth == 1))[0])
    explanation = example_module.explained(model, graphs[number])
    types = [explanation.subject.types[node] for node in explanation.motifs[0].nodes]
    assert "nitrogen" in types
    assert types.count("oxygen") >= 1
