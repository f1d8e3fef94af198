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
    answers = Readout("multiclass", target, "log-odds", "raw")(scores)
    assert answers.sigmoid().tolist() == pytest.approx(probability.tolist(), rel=1e-9, abs=1e-15)
    assert Readout("multiclass", target, "log-odds", "raw")(scores + shift).tolist() == pytest.approx(answers.tolist())
    for return_type, out in (("probs", scores.softmax(1)), ("log_probs", scores.log_softmax(1))):
        same = Readout("multiclass", target, "log-odds", return_type)(out)
        assert same.tolist() == pytest.approx(answers.tolist(), abs=1e-6), return_type


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
    answers = Readout("binary", target, "log-odds", "probs")(scores.sigmoid())
    assert answers.tolist() == pytest.approx((sign * scores[:, 0]).tolist())


def test_certain_answers_have_finite_log_odds():
    certain = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    answers = Readout("multiclass", 0, "log-odds", "probs")(certain)
    assert torch.isfinite(answers).all()
    assert answers[0] > 80
    assert answers[1] < -80


def test_log_odds_do_not_saturate_where_the_probability_does():
    scores = torch.tensor([[60.0, 0.0], [90.0, 0.0]])
    assert Readout("multiclass", 0, "probability", "raw")(scores).diff().item() == 0
    assert Readout("multiclass", 0, "log-odds", "raw")(scores).diff().item() == 30


def test_outputs_without_logits_say_what_to_use():
    with pytest.raises(ValueError, match="log-odds"):
        Readout.of(torch.tensor([[0.2, 0.8]]), "auto", None, "logit", "probs")


@given(st.floats(-12, 12), st.floats(-12, 12), st.sampled_from(["logit", "probability", "log-probability", "log-odds"]))
def test_rounding_is_what_a_rounding_of_the_scores_changes(target_score, other_score, output):
    readout = Readout("multiclass", 1, output, "raw")
    unit = 1e-7
    scores = torch.tensor([[other_score, target_score]], dtype=torch.float64)
    size = float(scores.abs().max())
    moved = scores + torch.tensor([[0.0, unit * size]], dtype=torch.float64)
    change = float((readout(moved) - readout(scores)).abs())
    allowed = readout.rounding(float(readout(scores)), unit, size)
    # A thousandth of it for the curve of the softmax, and what double precision rounds by itself.
    assert change <= 1.001 * allowed + 1e-14
    if output == "probability":
        assert allowed <= 2 * unit * size / 4 + 1e-300  # the difference of two scores may be twice their size


@pytest.mark.parametrize("return_type", ["probs", "log_probs"])
def test_models_that_return_probabilities_round_these(return_type):
    p = 0.75
    for output, expected in (("probability", p * 1e-7), ("log-probability", 1e-7), ("log-odds", 1e-7 / (1 - p))):
        readout = Readout("multiclass", 0, output, return_type)
        row = torch.tensor([[p, 1 - p]], dtype=torch.float64)
        value = float(readout(row if return_type == "probs" else row.log()))
        assert readout.rounding(value, 1e-7, 1.0) == pytest.approx(expected)
