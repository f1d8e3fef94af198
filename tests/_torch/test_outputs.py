import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mage._torch.outputs import Readout

ROWS = st.lists(st.lists(st.floats(-20, 20), min_size=3, max_size=3), min_size=1, max_size=4)


@given(ROWS, st.integers(0, 2), st.floats(-5, 5))
def test_log_odds_are_those_of_the_probability(rows, target, shift):
    scores = torch.tensor(rows, dtype=torch.float64)
    probability = scores.softmax(1)[:, target]
    found = Readout("multiclass", target, "log-odds", "raw")(scores)
    assert found.sigmoid().tolist() == pytest.approx(probability.tolist(), rel=1e-9, abs=1e-15)
    assert Readout("multiclass", target, "log-odds", "raw")(scores + shift).tolist() == pytest.approx(found.tolist())
    for return_type, out in (("probs", scores.softmax(1)), ("log_probs", scores.log_softmax(1))):
        same = Readout("multiclass", target, "log-odds", return_type)(out)
        assert same.tolist() == pytest.approx(found.tolist(), abs=1e-6), return_type


@pytest.mark.parametrize("target", [0, 1])
def test_log_odds_of_two_classes_are_the_difference_of_their_scores(target):
    scores = torch.tensor([[1.0, 3.5], [0.0, -2.0]])
    difference = scores[:, target] - scores[:, 1 - target]
    assert Readout("multiclass", target, "log-odds", "raw")(scores).tolist() == pytest.approx(difference.tolist())


@pytest.mark.parametrize("target", [0, 1])
def test_a_single_score_is_read_through_the_sigmoid(target):
    scores = torch.tensor([[0.7], [-3.0]], dtype=torch.float64)
    sign = 1 if target == 1 else -1
    assert Readout("binary", target, "log-odds", "raw")(scores).tolist() == pytest.approx(
        (sign * scores[:, 0]).tolist()
    )
    found = Readout("binary", target, "log-odds", "probs")(scores.sigmoid())
    assert found.tolist() == pytest.approx((sign * scores[:, 0]).tolist())


def test_certain_answers_have_finite_log_odds():
    certain = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    found = Readout("multiclass", 0, "log-odds", "probs")(certain)
    assert torch.isfinite(found).all()
    assert found[0] > 80
    assert found[1] < -80


def test_log_odds_do_not_saturate_where_the_probability_does():
    scores = torch.tensor([[60.0, 0.0], [90.0, 0.0]])
    assert Readout("multiclass", 0, "probability", "raw")(scores).diff().item() == 0
    assert Readout("multiclass", 0, "log-odds", "raw")(scores).diff().item() == 30


def test_outputs_without_logits_say_what_to_use():
    with pytest.raises(ValueError, match="log-odds"):
        Readout.of(torch.tensor([[0.2, 0.8]]), "auto", None, "logit", "probs")
