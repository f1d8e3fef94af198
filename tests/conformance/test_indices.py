import pytest

from mage import Interactions, interactions
from mage.indices import FAMILIES
from mage.testing import INDEX_CHECKS, check_index, index_checks


@pytest.mark.parametrize(
    ("index", "order", "name"),
    [
        (index, order, name)
        for index, family in FAMILIES.items()
        for order in range(1, min(family.largest_order or 3, 3) + 1)
        for name in index_checks(index, order)
    ],
)
def test_exact_indices_satisfy_their_axioms(index, order, name):
    compute = lambda game: interactions(game, index, order, "exact")  # noqa: E731 (one use)
    check_index(compute, order, index=index, only=name, tolerance=1e-10)


def test_which_axioms_belong_to_which_index():
    assert index_checks("myerson-taylor", 2) == list(INDEX_CHECKS)
    assert set(INDEX_CHECKS) - set(index_checks("shapley-taylor", 2)) == {"fairness"}
    assert set(INDEX_CHECKS) - set(index_checks("myerson-sii", 2)) == {"component efficiency", "reduction"}
    assert index_checks("myerson-sii", 1) == list(INDEX_CHECKS)
    assert index_checks("myerson-k-sii", 3) == list(INDEX_CHECKS)
    assert index_checks("myerson-faith-shap", 3) == list(INDEX_CHECKS)


@pytest.mark.parametrize("index", [name for name in FAMILIES if FAMILIES[name].largest_order is None])
def test_checks_tell_the_indices_apart(index):
    """Each index passes for itself and for no other of order 2."""
    compute = lambda game: interactions(game, index, 2, "exact")  # noqa: E731 (one use)
    for other in FAMILIES:
        if FAMILIES[other].sees_graph == FAMILIES[index].sees_graph and FAMILIES[other].largest_order is None:
            if FAMILIES[other].measure is FAMILIES[index].measure:
                check_index(compute, 2, index=other)
            else:
                with pytest.raises(AssertionError, match="unanimity"):
                    check_index(compute, 2, index=other, only="interaction distribution")


def test_unknown_and_meaningless_checks_are_refused():
    compute = lambda game: interactions(game, "shapley", method="exact")  # noqa: E731 (one use)
    with pytest.raises(ValueError, match="linearity"):
        check_index(compute, 1, only="liniarity")
    with pytest.raises(ValueError, match="fairness"):
        check_index(compute, 1, index="shapley", only="fairness")


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
