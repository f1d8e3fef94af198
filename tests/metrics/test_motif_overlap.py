import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score

from mage.metrics import METRICS, motif_iou
from tests.helpers.metrics import explained_path


def by_all_assignments(motifs, truth):
    """The definition: the best of all ways to give each true motif its own partner, or none."""

    def iou(first, second):
        return len(first & second) / len(first | second)

    partners = [*map(set, motifs), *[None] * len(truth)]
    sums = [
        sum(iou(set(true), partner) for true, partner in zip(truth, assignment, strict=True) if partner is not None)
        for assignment in itertools.permutations(partners, len(truth))
    ]
    return max(sums) / len(truth)


def groups(labels):
    return [np.flatnonzero(labels == number).tolist() for number in sorted(set(labels.tolist()) - {0})]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_it_is_the_best_of_all_assignments(pairs):
    predicted, true = np.array(pairs).T
    if not true.any():
        assert math.isnan(motif_iou(predicted, true))
        return
    expected = by_all_assignments(groups(predicted), groups(true))
    assert motif_iou(predicted, true) == pytest.approx(expected)
    assert motif_iou(groups(predicted), groups(true), len(pairs)) == pytest.approx(expected)


def test_one_motif_is_the_jaccard_index_of_scikit_learn():
    generator = np.random.default_rng(0)
    for _ in range(20):
        predicted, true = generator.integers(0, 2, size=(2, 15))
        true[0] = 1
        assert motif_iou(predicted, true) == pytest.approx(jaccard_score(true, predicted))


def test_merged_and_split_motifs_are_seen():
    truth = [[0, 1, 2], [3, 4, 5]]
    assert motif_iou(truth, truth, 8) == 1.0
    assert motif_iou([[0, 1, 2, 3, 4, 5]], truth, 8) == pytest.approx(0.25)
    assert motif_iou([[0], [1], [2], [3, 4, 5]], truth, 8) == pytest.approx((1 / 3 + 1) / 2)
    assert motif_iou([], truth, 8) == 0.0


def test_tables_can_show_it():
    metric = METRICS["motif_iou"]
    assert metric.heading == "motif IoU ↑"
    case = explained_path([0, 1], labels=np.array([1, 1, 0, 0]), node_motif=[0, 0, 1, 1])
    assert metric.record(case) == {"motif_iou": 0.5}
    assert metric.record(explained_path([0])) == {"motif_iou": None}
