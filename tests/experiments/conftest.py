"""A small experiment: a network trained for a moment, twelve graphs, two methods."""

import pytest

from mage.experiments import SerialEngine, Store, make_plan, run_plan
from tests.helpers.experiments import SmallInputs, comparable, small_experiment


@pytest.fixture(scope="session")
def inputs():
    return SmallInputs()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, inputs):
    """The records of a run that nothing disturbed."""
    store = Store(tmp_path_factory.mktemp("undisturbed"))
    plan = make_plan(small_experiment(), inputs, limit=6, batch_size=2)
    run_plan(plan, store, SerialEngine())
    return comparable(plan.records(store))


@pytest.fixture
def with_explainer(monkeypatch):
    from mage.explainers import registry

    def add(name, make):
        monkeypatch.setitem(registry._EXPLAINERS, name, make)

    return add
