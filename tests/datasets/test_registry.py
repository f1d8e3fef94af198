"""The registry: each dataset is one module with all that is known about it."""

import inspect
import pickle
from functools import partial

import pytest

from mage.datasets import NetworkPlans, info, load, names, where
from mage.datasets.dataset_info import DataRoot
from mage.datasets.training_plans import NETWORK_KINDS
from mage.models import TrainingPlan, train


@pytest.mark.parametrize("name", names())
def test_what_is_known_is_complete(name):
    entry = info(name)
    assert entry.name == name
    assert entry.title
    assert entry.truth
    assert len(set(entry.class_names)) == len(entry.class_names) > 1
    assert (entry.paper is not None) or entry.num_graphs >= 1
    build = entry.build.func if isinstance(entry.build, partial) else entry.build
    parameters = inspect.signature(build).parameters.values()
    assert [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY] == list(
        entry.options
    )
    assert set(entry.networks.kinds) <= set(NETWORK_KINDS)
    assert pickle.loads(pickle.dumps(entry)).settings == entry.settings  # noqa: S301 (made here)


@pytest.mark.parametrize("name", [name for name in names() if info(name).source is None])
def test_generated_sets_say_so(name):
    assert where(name) == "generated"


def test_where_files_are_missing_it_is_said_what_loading_does(tmp_path):
    assert where("ba_2motifs", tmp_path) == "not here; generated instead"
    assert where("benzene", tmp_path) == "not here; downloaded when loaded"


@pytest.mark.parametrize("kind", NETWORK_KINDS)
def test_plans_of_networks_differ_where_a_dataset_says_so(kind):
    networks = info("ba_house_grid").networks
    assert networks.training_plan(kind).epochs == (80 if kind == "gcn" else 40)
    expected = {"gcn": {"width": 20, "normalize": False}, "gin": {"width": 20}, "gat": {"heads": 10}}
    assert expected[kind].items() <= networks.architecture(kind, 1, 2).items()


def test_unknown_networks_are_refused():
    with pytest.raises(ValueError, match="'mlp' is none of gcn, gin, gat"):
        info("benzene").networks.training_plan("mlp")


def test_a_new_dataset_is_loaded_explained_and_trained_on(monkeypatch):
    # What a module of a new dataset holds, and the line that registers it.
    from dataclasses import replace

    from mage.datasets import ba_house_grid, registry

    new = replace(ba_house_grid.INFO, name="mine", title="Mine", networks=NetworkPlans())
    monkeypatch.setitem(registry.DATASETS, "mine", new)
    dataset = load("mine", count=30)
    assert dataset.title == "Mine"
    assert dataset.origin == "generated with seed 0"
    trained = train(dataset, "gin", plan=TrainingPlan(epochs=1))
    assert trained.model.architecture["width"] == 128
    assert set(dataset.explained(trained.model)) <= set(dataset.split.test)
    assert ba_house_grid.build(DataRoot(), count=30).columns.fingerprint() == dataset.columns.fingerprint()
