"""A small experiment: a network trained for a moment, twelve graphs, two methods."""

import pytest

from tests.helpers.experiments import SmallSource


@pytest.fixture(scope="session")
def source():
    return SmallSource()
