"""A small experiment: a network trained for a moment, twelve graphs, two methods."""

import pytest

from tests.helpers.experiments import SmallInputs


@pytest.fixture(scope="session")
def inputs():
    return SmallInputs()


@pytest.fixture
def with_explainer(monkeypatch):
    from mage.explainers import registry

    def add(name, make):
        monkeypatch.setitem(registry._EXPLAINERS, name, make)

    return add
