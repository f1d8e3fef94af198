import itertools

import numpy as np
import pytest
import shapiq
from hypothesis import given
from hypothesis import strategies as st

from mage import Interactions, interactions
from mage._core.archive import read_archive, write_archive
from mage.testing import random_game
from tests.helpers.strategies import games


@pytest.fixture
def result():
    return interactions(random_game(6, [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)], seed=1), order=3, method="exact")


def test_every_way_of_reading_agrees(result):
    for players, value, error in result:
        assert result[players] == value
        assert result[tuple(reversed(players))] == value
        assert result.error(players) == error == 0
    assert [term.players for term in result] == result.coalitions
    for size in (1, 2, 3):
        subsets, values, _ = result.of_size(size)
        assert [tuple(s) for s in subsets.tolist()] == list(itertools.combinations(range(6), size))
        assert values.tolist() == [result[tuple(s)] for s in subsets.tolist()]
    matrix = result.matrix
    assert (matrix == matrix.T).all()
    assert matrix[1, 2] == result[1, 2]
    assert matrix[3, 3] == result[3] == result.first_order[3]


def test_first_order_matrix_is_diagonal():
    value = interactions(random_game(4, seed=1), "shapley")
    np.testing.assert_array_equal(value.matrix, np.diag(value.values))


@given(games(max_players=6), st.sampled_from([1, 2, 3]), st.data())
def test_group_is_the_sum_over_subsets(game, order, data):
    result = interactions(game, order=order, method="exact")
    group = data.draw(st.lists(st.integers(0, game.num_players - 1), unique=True))
    tau = data.draw(st.floats(0, 1))
    inside = [term.value for term in result if set(term.players) <= set(group)]
    assert result.group(group) == pytest.approx(sum(inside), abs=1e-12)
    weighted = sum(tau * max(v, 0) + (1 - tau) * min(v, 0) for v in inside)
    assert result.group(group, tau) == pytest.approx(weighted, abs=1e-12)


def test_group_of_everybody_is_the_total_on_connected_graphs():
    game = random_game(5, [(0, 1), (1, 2), (2, 3), (3, 4)], seed=3)
    assert interactions(game, order=2).group(range(5)) == pytest.approx(game.total)


def test_top_is_sorted_and_signed(result):
    top = result.top(7, size=2)
    assert [abs(t.value) for t in top] == sorted((abs(v) for v in result.of_size(2)[1]), reverse=True)[:7]
    assert all(term.value < 0 for term in result.top(size=2, sign=-1))
    assert all(term.value > 0 for term in result.top(size=2, sign=1))
    assert len(result.top(3)[0].players) == 3


def test_arithmetic_is_linear(result):
    doubled = result + (result * 1)
    np.testing.assert_allclose(doubled.values, (2 * result).values)
    np.testing.assert_allclose((doubled - result).values, result.values)
    np.testing.assert_allclose((doubled / 2).values, result.values)
    assert doubled.num_queries == 2 * result.num_queries
    with pytest.raises(ValueError, match="same index"):
        result + interactions(random_game(6, seed=1), order=3)
    np.testing.assert_array_equal((result + result).values, doubled.values)
    np.testing.assert_array_equal(sum([result, result]).values, doubled.values)
    with pytest.raises(TypeError):
        result + 3
    with pytest.raises(TypeError):
        result * result


def test_errors_of_separate_runs_add_in_squares():
    game = random_game(6, seed=2)
    runs = [interactions(game, permutations=10, method="permutation", seed=s) for s in (0, 1)]
    mean = (runs[0] + runs[1]) / 2
    np.testing.assert_allclose(mean.std_error, np.sqrt(runs[0].std_error ** 2 + runs[1].std_error ** 2) / 2)
    assert mean.num_permutations == 20
    assert not mean.exact


def test_save_and_load_round_trip(result, tmp_path):
    path = tmp_path / "index.mage"
    result.save(path)
    loaded = Interactions.load(path)
    for name in (
        "index",
        "order",
        "graph",
        "exact",
        "method",
        "num_queries",
        "num_permutations",
        "num_samples",
        "baseline",
        "names",
        "stopped",
        "reason",
    ):
        assert getattr(loaded, name) == getattr(result, name), name
    np.testing.assert_array_equal(loaded.values, result.values)
    np.testing.assert_array_equal(loaded.std_error, result.std_error)
    first = path.read_bytes()
    result.save(path)
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == ["index.mage"]


def check_intact_or_refused(path, expected):
    """A damaged file is either refused or damaged where it does not matter."""
    try:
        loaded = Interactions.load(path)
    except ValueError as error:
        message = str(error)
    else:
        np.testing.assert_array_equal(loaded.values, expected.values)
        return
    assert "does not hold saved interactions" in message


def test_unreadable_files_are_refused(result, tmp_path):
    class Payload:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, header=np.array([Payload()], dtype=object))
    text = tmp_path / "text"
    text.write_text("hello")
    other = tmp_path / "other.npz"
    np.savez(other, values=np.zeros(3))
    cut = tmp_path / "cut"
    result.save(cut)
    cut.write_bytes(cut.read_bytes()[:-40])
    whole = tmp_path / "whole"
    result.save(whole)
    flipped = []
    for place in range(0, whole.stat().st_size, 37):
        damaged = bytearray(whole.read_bytes())
        damaged[place] ^= 0x55
        flipped.append(tmp_path / f"flipped-{place}")
        flipped[-1].write_bytes(damaged)
    for path in flipped:
        check_intact_or_refused(path, result)
    for path in (pickled, text, other, cut):
        with pytest.raises(ValueError, match="does not hold saved interactions"):
            Interactions.load(path)
    assert not (tmp_path / "owned").exists()
    with pytest.raises(FileNotFoundError):
        Interactions.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="create it first"):
        result.save(tmp_path / "no" / "folder")


@pytest.mark.parametrize("index", ["shapley", "shapley-taylor", "myerson", "myerson-taylor"])
def test_shapiq_round_trip(index):
    game = random_game(5, [(0, 1), (1, 2), (2, 3)], seed=4)
    ours = interactions(game, index, method="exact")
    theirs = ours.to_shapiq()
    assert isinstance(theirs, shapiq.InteractionValues)
    for term in ours:
        assert theirs[term.players] == pytest.approx(term.value)
    back = Interactions.from_shapiq(theirs, edges=game.graph)
    np.testing.assert_allclose(back.values, ours.values)
    assert (back.index, back.order, back.exact) == (ours.index, ours.order, True)


def test_reads_what_shapiq_computes():
    game = random_game(5, seed=4)
    computed = shapiq.ExactComputer(game=lambda m: game.worth(m.astype(bool)), n_players=5)("STII", order=2)
    ours = interactions(game, "shapley-taylor", method="exact")
    np.testing.assert_allclose(Interactions.from_shapiq(computed).values, ours.values, atol=1e-10)
    aware = interactions(game, "myerson-taylor", method="exact").to_shapiq()
    with pytest.raises(ValueError, match="edges: needed"):
        Interactions.from_shapiq(aware)
    other = shapiq.ExactComputer(game=lambda m: game.worth(m.astype(bool)), n_players=5)("CHII", order=2)
    with pytest.raises(ValueError, match="CHII"):
        Interactions.from_shapiq(other)


def test_bad_keys_are_named(result):
    for key in (9, (0, 9), (-1,)):
        with pytest.raises(KeyError, match="does not exist"):
            result[key]
    for key in ((0.5, 1), "01", (True, 2)):
        with pytest.raises(KeyError, match="whole numbers"):
            result[key]
    mask = np.array([True, False, True, True, False, False])
    assert result.group(mask) == result.group([0, 2, 3])
    with pytest.raises(ValueError, match="read-only"):
        result.values[0] = 1.0
    for key in ((), (0, 1, 2, 3)):
        with pytest.raises(KeyError, match="covers 1 … 3"):
            result[key]
    with pytest.raises(ValueError, match="tau"):
        result.group([0], tau=1.5)
    with pytest.raises(ValueError, match="size"):
        result.of_size(4)


def test_repr_shows_names_numbers_and_errors():
    game = random_game(3, seed=0)
    assert "exact, 8 queries" in repr(interactions(game, method="exact"))
    sampled = repr(interactions(game, permutations=10, method="permutation"))
    assert "±" in sampled
    assert "10 orderings" in sampled


@pytest.mark.parametrize("players", [1, 2])
def test_orders_above_the_number_of_players_are_kept(tmp_path, players):
    computed = interactions(random_game(players), order=3, method="exact")
    computed.save(tmp_path / "small.mage")
    loaded = Interactions.load(tmp_path / "small.mage")
    assert loaded.order == 3
    np.testing.assert_array_equal(loaded.values, computed.values)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", 10**12),
        ("order", 0),
        ("order", 2.5),
        ("order", 3),
        ("num_players", 10**12),
        ("num_players", True),
        ("baseline", "x"),
        ("names", "abcde"),
        ("names", [1, 2, 3, 4, 5]),
        ("index", "nothing"),
        ("num_queries", True),
    ],
)
def test_damaged_headers_are_refused(tmp_path, name, value):
    path = tmp_path / "index.mage"
    interactions(random_game(5), order=2, method="exact").save(path)
    header, arrays = read_archive(path)
    write_archive(path, {**header, name: value}, arrays)
    with pytest.raises(ValueError, match=r"index\.mage does not hold saved interactions"):
        Interactions.load(path)


def test_text_is_no_value(tmp_path):
    path = tmp_path / "index.mage"
    interactions(random_game(5), order=2, method="exact").save(path)
    header, arrays = read_archive(path)
    write_archive(path, header, {**arrays, "values": arrays["values"].astype(str)})
    with pytest.raises(ValueError, match="values must hold numbers"):
        Interactions.load(path)
