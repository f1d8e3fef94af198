import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mage
from mage.metrics import group_attributions, infidelity, random_groups
from mage.testing import random_game, random_graph


def test_indices_that_say_all_are_faithful():
    # A game of pairs is a sum of its second-order Shapley-Taylor index.
    weights = np.random.default_rng(0).normal(size=(6, 6))
    game = mage.Game(lambda masks: np.einsum("qi,ij,qj->q", masks, weights, masks), 6)
    second = mage.interactions(game, "shapley-taylor", order=2, method="exact")
    groups = random_groups(6, 40, seed=1)
    faithful = infidelity(game, second, groups)
    assert faithful.present == pytest.approx(0, abs=1e-9)
    assert faithful.absent == pytest.approx(0, abs=1e-9)
    assert faithful.num_groups == 40
    first = infidelity(game, mage.interactions(game, "shapley", order=1, method="exact"), groups)
    assert first.present > 0.1
    # A value a player: what a group does alone and what is lost without it are predicted to be the same.
    values = mage.interactions(game, "shapley", order=1, method="exact")
    everything = group_attributions(values, np.ones((1, 6), bool))[0]
    assert everything - group_attributions(values, ~groups) == pytest.approx(group_attributions(values, groups))


@given(st.integers(3, 6), st.integers(0, 100), st.sampled_from([1, 2, 3]))
def test_infidelity_by_its_definition(players, seed, order):
    game = random_game(players, seed=seed, edges=random_graph(players, 0.5, seed))
    index = mage.interactions(game, "myerson-taylor", order=order, method="exact")
    groups = [[0], list(range(players - 1))]
    result = infidelity(game, index, groups)
    present, absent = [], []
    for group in groups:
        mask = np.zeros(players, bool)
        mask[group] = True
        alone, without, total = game.worth(np.stack([mask, ~mask, np.ones(players, bool)]))
        rest = [i for i in range(players) if i not in group]
        present.append(abs(index.group(group) - alone))
        absent.append(abs(index.group(range(players)) - index.group(rest) - (total - without)))
    assert result.present == pytest.approx(np.mean(present), abs=1e-9)
    assert result.absent == pytest.approx(np.mean(absent), abs=1e-9)


def test_random_groups_have_their_sizes():
    groups = random_groups(10, 500, sizes=(2, 4), seed=3)
    sizes = groups.sum(axis=1)
    assert set(sizes) == {2, 3, 4}
    assert (groups == random_groups(10, 500, sizes=(2, 4), seed=3)).all()
    assert groups.mean(axis=0) == pytest.approx(np.full(10, 0.3), abs=0.07)


def test_connected_groups_are_connected():
    graph = mage.PlayerGraph(12, [(i, i + 1) for i in range(10)])  # a path, and one player alone
    groups = random_groups(graph, 200, sizes=(3, 5), connected=True, seed=0)
    assert graph.is_connected(groups).all()
    alone = groups[:, 11]
    assert (groups[alone].sum(axis=1) == 1).all()
    assert set(groups[~alone].sum(axis=1)) == {3, 4, 5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graph": 5, "count": 3, "sizes": (0, 2)}, "sizes must be between 1 and 5"),
        ({"graph": 5, "count": 3, "sizes": (3, 2)}, "sizes must be"),
        ({"graph": 5, "count": 0}, "count"),
        ({"graph": 5, "count": 3, "connected": True}, "must be a PlayerGraph"),
    ],
)
def test_impossible_groups_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        random_groups(**arguments)


def test_no_groups_are_refused():
    game = random_game(4, seed=0)
    with pytest.raises(ValueError, match="groups must hold at least one group"):
        infidelity(game, mage.interactions(game, order=1), [])
