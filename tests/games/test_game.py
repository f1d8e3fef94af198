import gc
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mage import Game, ValueFunctionError
from mage.games.memo import CoalitionTable, distinct
from mage.testing import check_game, random_game, restricted
from tests.helpers.strategies import coalition_masks, games


class Spy:
    def __init__(self, num_players, offset=0.25):
        self.weights = np.arange(1.0, num_players + 1)
        self.offset = offset
        self.rows = []

    def __call__(self, masks):
        assert masks.dtype == np.bool_
        self.rows.append(masks.copy())
        return masks @ self.weights + self.offset

    @property
    def asked(self):
        return np.concatenate(self.rows)


def test_worth_is_normalised_remembered_and_counted():
    spy = Spy(4)
    game = Game(spy, 4)
    assert game.worth([{0, 3}, set(), {0, 3}]).tolist() == [5.0, 0.0, 5.0]
    assert game.num_queries == 2 == len(spy.asked)  # the coalition and the baseline
    assert game.worth([{3, 0}, {1}]).tolist() == [5.0, 2.0]
    assert game.num_queries == 3 == len(spy.asked)
    assert game.total == 10.0
    assert game.baseline == 0.25


def test_a_known_baseline_costs_no_query():
    spy = Spy(3)
    game = Game(spy, 3, baseline=0.25)
    assert game.worth([{0}, set()]).tolist() == [1.0, 0.0]
    assert game.num_queries == 1 == len(spy.asked)


@given(st.data(), st.integers(1, 200))
def test_no_coalition_is_asked_twice_and_chunks_are_bounded(data, num_players):
    masks = data.draw(coalition_masks(num_players, max_rows=60))
    spy = Spy(num_players)
    game = Game(spy, num_players, batch_size=7)
    np.testing.assert_allclose(game.worth(masks), masks @ spy.weights)
    np.testing.assert_allclose(game.worth(masks[::-1]), masks[::-1] @ spy.weights)
    assert max(len(rows) for rows in spy.rows) <= 7
    assert len(np.unique(spy.asked, axis=0)) == len(spy.asked) == game.num_queries


def test_the_memory_cap_bounds_the_batch():
    spy = Spy(10)
    game = Game(spy, 10, bytes_per_coalition=1000, memory_cap=5000)
    game.worth(np.random.default_rng(0).random((100, 10)) < 0.5)
    assert max(len(rows) for rows in spy.rows) == 5
    assert Game(spy, 10, bytes_per_coalition=1000, memory_cap=10).batch_size == 1


def test_a_full_memo_stops_growing_but_answers():
    spy = Spy(8)
    game = Game(spy, 8, memo_capacity=10)
    masks = np.random.default_rng(0).random((50, 8)) < 0.5
    np.testing.assert_allclose(game.worth(masks), masks @ spy.weights)
    np.testing.assert_allclose(game.worth(masks), masks @ spy.weights)
    assert len(game._memo) == 10


def test_tensors_and_lists_are_taken():
    assert Game(lambda m: torch.tensor(m.sum(axis=1), dtype=torch.float32, requires_grad=True), 3).total == 3.0
    assert Game(lambda m: [float(row.sum()) for row in m], 3).total == 3.0


@given(games())
def test_restricted_worth_sums_components(game):
    worth = restricted(game)
    masks = np.random.default_rng(1).random((12, game.num_players)) < 0.6
    expected = [worth(frozenset(np.flatnonzero(row).tolist())) for row in masks]
    np.testing.assert_allclose(game.restricted_worth(masks), expected, atol=1e-12)


def fail_on(players):
    def value_fn(masks):
        for row in masks:
            if set(np.flatnonzero(row)) == players:
                raise RuntimeError("cannot pool")
        return masks.sum(axis=1)

    return value_fn


def test_an_exception_names_the_coalition_and_loses_nothing():
    game = Game(fail_on({1, 2}), 3, names=["C", "N", "O"], batch_size=2)
    with pytest.raises(ValueFunctionError, match=r"RuntimeError on coalition \{1, 2\} \(N, O\): cannot pool") as caught:
        game.worth([{0}, {1}, {0, 1}, {1, 2}])
    assert isinstance(caught.value.__cause__, RuntimeError)
    before = game.num_queries
    assert game.worth([{0}, {1}]).tolist() == [1.0, 1.0]
    assert game.num_queries == before


def test_an_exception_of_the_batch_alone_is_told_as_such():
    def value_fn(masks):
        if len(masks) > 1:
            raise MemoryError("too large")
        return masks.sum(axis=1)

    with pytest.raises(ValueFunctionError, match="MemoryError on a batch that starts with"):
        Game(value_fn, 3).worth([{0}, {1}])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_worths_name_the_coalition(bad):
    game = Game(lambda masks: np.where(masks.sum(axis=1) == 2, bad, 0.0), 4)
    with pytest.raises(ValueFunctionError, match=r"coalition \{0, 3\}"):
        game.worth([{0}, {0, 3}])


@pytest.mark.parametrize(
    "wrong", [lambda m: np.zeros((len(m), 1)), lambda m: 1.0, lambda m: np.zeros(len(m) + 1), lambda m: "x"]
)
def test_wrong_shapes_are_refused(wrong):
    with pytest.raises(ValueFunctionError, match=r"value_fn must return .* the empty coalition"):
        Game(wrong, 3).worth([{0}])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"value_fn": 3}, TypeError, "value_fn"),
        ({"num_players": 0}, ValueError, "num_players"),
        ({"names": ["a"]}, ValueError, "names"),
        ({"names": "abc"}, ValueError, "names"),
        ({"names": ["a", "b", "\ud800"]}, ValueError, "names: .* half of a character"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"memory_cap": 0}, ValueError, "memory_cap"),
        ({"memo_capacity": -1}, ValueError, "memo_capacity"),
        ({"edges": [(0, 9)]}, ValueError, "edges"),
        ({"edges": [(0, 5)], "num_players": 1}, ValueError, "edges"),
        ({"baseline": np.nan}, ValueError, "baseline"),
        ({"bytes_per_coalition": -5}, ValueError, "bytes_per_coalition"),
        ({"batch_size": 2.5}, ValueError, "batch_size"),
    ],
)
def test_bad_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        Game(**{"value_fn": np.sum, "num_players": 3, **options})


def test_masks_are_the_users_to_change():
    def value_fn(masks):
        total = masks.sum(axis=1)
        masks[:] = True
        if (total == 2).any():
            raise RuntimeError("two is too many")
        return total

    game = Game(value_fn, 3)
    assert game.worth([{0}]).tolist() == [1.0]
    with pytest.raises(ValueFunctionError, match=r"coalition \{0, 2\}"):
        game.worth([{0, 2}])


@pytest.mark.parametrize("stop", ["intern", "recall"])
def test_an_interrupted_memo_forgets_rather_than_lies(monkeypatch, stop):
    game = Game(Spy(5), 5)
    game.worth([{0}])
    real = CoalitionTable.intern

    def interrupted(table, coalitions):
        real(table, coalitions)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("mage.games.game.distinct", lambda rows: (rows, np.arange(len(rows))))
        patched.setattr(CoalitionTable, "intern", interrupted)
        with pytest.raises(KeyboardInterrupt):
            game.worth([{1}, {2}])
    if stop == "recall":
        game.worth([{3}])
    assert game.worth([{0}, {1}, {2}, {3}]).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_any_precision_and_no_complex_numbers():
    assert Game(lambda m: torch.tensor(m.sum(axis=1)).to(torch.bfloat16), 3).total == 3.0
    with pytest.raises(ValueFunctionError, match="real numbers"):
        Game(lambda m: m.sum(axis=1) + 1j, 3).worth([{0}])


def test_no_coalitions_are_worth_nothing():
    assert Game(Spy(3), 3).worth([]).shape == (0,)
    assert Game(Spy(3), 3).worth(torch.tensor([0, 2])).tolist() == [4.0]


class OwnGame(Game):
    """A game whose value function is one of its methods."""

    def __init__(self):
        super().__init__(self.sizes, 3)

    def sizes(self, masks):
        return masks.sum(axis=1)


def test_a_game_that_is_its_own_value_function_is_freed_at_once():
    game = OwnGame()
    assert game.worth(np.array([[True, False, True]])).tolist() == [2.0]
    assert game.value_fn(np.ones((1, 3), dtype=bool)).tolist() == [3]
    memory = weakref.ref(game)
    gc.disable()
    try:
        del game
        assert memory() is None
    finally:
        gc.enable()


def test_any_game_conforms():
    check_game(random_game(7, [(0, 1), (1, 2)]))
    check_game(Game(Spy(100), 100))


@pytest.mark.parametrize(
    "broken",
    [
        lambda masks: masks.sum(axis=1) + 0.1 * len(masks),
        lambda masks: np.arange(len(masks)) * masks.any(axis=1),
    ],
)
def test_the_conformance_check_can_fail(broken):
    with pytest.raises(AssertionError, match="depends on the batch"):
        check_game(Game(broken, 5))


@given(st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_distinct_keeps_first_appearances_in_order(words, seed):
    rows = np.random.default_rng(seed).integers(0, 4, (200, words)).astype(np.uint64)
    keys, inverse = distinct(rows)
    np.testing.assert_array_equal(keys[inverse], rows)
    assert list(dict.fromkeys(map(tuple, rows.tolist()))) == list(map(tuple, keys.tolist()))
    table = CoalitionTable(words)
    for part in np.array_split(rows, 7):
        table.intern(part)
    np.testing.assert_array_equal(table.keys, keys)
    assert (table.find(np.full((1, words), 9, np.uint64)) == -1).all()
