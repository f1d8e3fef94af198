import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from mage import Motif, MotifSet
from mage.metrics import ami, edge_auc, node_f1, signed_f1, sparsity, summarise

TRUTH = [[0, 1, 2], [5, 6, 7]]


def motif_set(groups, num_nodes):
    motifs = tuple(Motif(tuple(group), 1.0) for group in groups)
    return MotifSet(motifs, 1.0, 1.0, True, num_nodes, 2, 6, 1.0, True, "search", 1)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.data())
def test_f1_is_scikit_learns(truth, data):
    answer = data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth)))
    ours = node_f1(np.array(answer), np.array(truth))
    if any(truth):
        assert ours == pytest.approx(f1_score(truth, answer, zero_division=0.0))
    else:
        assert math.isnan(ours)


def test_f1_takes_all_forms():
    expected = 2 * 2 / (3 + 3)
    mask = np.zeros(6, dtype=bool)
    mask[[1, 2, 3]] = True
    for nodes in ([1, 2, 3], {1, 2, 3}, range(1, 4), mask, torch.tensor([1, 2, 3]), torch.from_numpy(mask)):
        assert node_f1(nodes, [2, 3, 4], 6) == pytest.approx(expected)
    assert node_f1(motif_set([[1], [2, 3]], 6), [2, 3, 4]) == pytest.approx(expected)
    assert node_f1([], [1]) == 0.0
    assert node_f1(motif_set([], 6), [1]) == 0.0


@pytest.mark.parametrize(
    ("nodes", "message"),
    [([0.5], "node numbers or a boolean mask"), ([-1], "between 0 and 6"), ([6], "between 0 and 6")],
)
def test_other_nodes_are_refused(nodes, message):
    with pytest.raises(ValueError, match=f"nodes must be .*{message}"):
        node_f1(nodes, [1], 6)
    with pytest.raises(ValueError, match="truth must be a mask of 6 nodes"):
        node_f1([1], np.ones(5, dtype=bool), 6)


def test_ami_oracles():
    assert ami(TRUTH, TRUTH, 10) == pytest.approx(1.0)
    assert ami(TRUTH[::-1], TRUTH, 10) == pytest.approx(1.0)
    assert ami([[0, 1, 2]], TRUTH, 10) == pytest.approx(0.6631, abs=5e-5)
    assert ami([[0, 1, 2, 5, 6, 7]], TRUTH, 10) == pytest.approx(0.7204, abs=5e-5)
    assert ami([], TRUTH, 10) == pytest.approx(0.0)


def test_ami_takes_labels_of_both_kinds():
    from_zero = np.array([0, 0, 0, -1, -1, 1, 1, 1, -1, -1])
    for truth in (from_zero, from_zero + 1, torch.from_numpy(from_zero)):
        assert ami(motif_set([[0, 1, 2]], 10), truth) == pytest.approx(0.6631, abs=5e-5)
    assert math.isnan(ami(TRUTH, np.full(10, -1)))
    assert math.isnan(ami(TRUTH, np.zeros(10)))
    with pytest.raises(ValueError, match="num_nodes must be given"):
        ami([[0]], [[1]])
    with pytest.raises(ValueError, match="motifs must not overlap"):
        ami([[0, 1], [1, 2]], TRUTH, 10)
    with pytest.raises(ValueError, match="truth must be one label for each of 9 nodes"):
        ami([[0]], from_zero, 9)


def test_auc_oracles():
    truth = [1, 1, 0, 0, 0, 0]
    assert edge_auc([1, 0, 0, 0, 0, 1], truth) == pytest.approx(0.625)
    assert edge_auc(np.full(6, 0.3), truth) == pytest.approx(0.5)
    assert edge_auc(torch.tensor([0.9, 0.8, 0.1, 0.2, 0.3, 0.4]), torch.tensor(truth)) == 1.0
    assert math.isnan(edge_auc([0.1, 0.2], [1, 1]))
    assert math.isnan(edge_auc([0.1, 0.2], [0, 0]))
    with pytest.raises(ValueError, match="truth must have one value for each of 2 edges, got 3"):
        edge_auc([0.1, 0.2], [0, 1, 0])
    with pytest.raises(ValueError, match="scores must be finite"):
        edge_auc([0.1, math.nan], [0, 1])


def test_sparsity_is_what_is_left_out():
    assert sparsity([0, 1], 8) == 0.75
    assert sparsity([], 8) == 1.0


def test_means_say_what_they_rest_on():
    result = summarise([1.0, math.nan, 0.0, 0.5])
    assert (result.mean, result.count, result.undefined) == (0.5, 3, 1)
    assert result.std_error == pytest.approx(0.5 / math.sqrt(3))
    nothing = summarise([math.nan])
    assert math.isnan(nothing.mean)
    assert (nothing.count, nothing.undefined) == (0, 1)


def test_nodes_count_with_their_signs():
    signs = [1, 1, -1, -1, 0]
    assert signed_f1([0, 1], [2, 3], signs) == 1.0
    assert signed_f1([2, 3], [0, 1], signs) == 0.0
    assert signed_f1([0, 1, 4], [], signs) == pytest.approx(2 * 2 / (3 + 4))
    assert math.isnan(signed_f1([0], [], [0, 0]))
