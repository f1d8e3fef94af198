import pytest

from mage import Interactions, interactions
from mage.testing import INDEX_CHECKS, check_index


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", INDEX_CHECKS)
def test_exact_myerson_taylor_satisfies(name, order):
    check_index(lambda game: interactions(game, "myerson-taylor", order, "exact"), order, only=name, tolerance=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", [name for name in INDEX_CHECKS if name != "fairness"])
def test_exact_shapley_taylor_satisfies_on_complete_graphs(name, order):
    check_index(
        lambda game: interactions(game, "shapley-taylor", order, "exact"),
        order,
        sees_graph=False,
        only=name,
        tolerance=1e-10,
    )


@pytest.mark.parametrize("name", ["shapley", "myerson"])
def test_the_two_values_satisfy_all(name):
    check_index(
        lambda game: interactions(game, name, method="exact"),
        1,
        sees_graph=name == "myerson",
        tolerance=1e-10,
    )


def test_unknown_and_meaningless_checks_are_refused():
    compute = lambda game: interactions(game, "shapley", method="exact")  # noqa: E731 (one use)
    with pytest.raises(ValueError, match="linearity"):
        check_index(compute, 1, only="liniarity")
    with pytest.raises(ValueError, match="fairness"):
        check_index(compute, 1, sees_graph=False, only="fairness")


def altered(change):
    def compute(game):
        result = interactions(game, order=2, method="exact")
        return Interactions(
            index=result.index,
            order=2,
            graph=result.graph,
            values=change(result.values.copy(), game),
            std_error=result.std_error,
            exact=True,
            method="exact",
            num_queries=0,
        )

    return compute


def shift_first(values, game):
    values[0] += 0.01
    return values


def square(values, game):
    return values**2


@pytest.mark.parametrize("name", ["interaction distribution", "component efficiency", "reduction", "symmetry"])
def test_checks_catch_a_shifted_value(name):
    with pytest.raises(AssertionError):
        check_index(altered(shift_first), 2, only=name)


@pytest.mark.parametrize("name", ["linearity", "coalitional fairness", "fairness"])
def test_checks_catch_a_squared_index(name):
    with pytest.raises(AssertionError):
        check_index(altered(square), 2, only=name)


@pytest.mark.parametrize("name", ["restricted null player", "restriction", "interaction distribution"])
def test_checks_tell_structure_blind_indices_apart(name):
    compute = lambda game: interactions(game, "shapley-taylor", 2, "exact")  # noqa: E731 (one use)
    if name == "interaction distribution":
        check_index(compute, 2, only=name)  # unanimity games of connected carriers do not tell them apart
        return
    with pytest.raises(AssertionError):
        check_index(compute, 2, only=name)
