import pytest

from mage.experiments.pages.benchmark import Scale
from mage.metrics import METRICS

PLAIN = next(metric for metric in METRICS.values() if metric.scale not in {"unit", "log"})


@pytest.mark.parametrize("largest", [0.1, 0.8, 0.85, 0.95, 0.999999, 1.0, 1.7, 3.9, 8.0, 8.1, 9.99, 10.0, 85.0, 1e6])
@pytest.mark.parametrize("least", [0.0, -0.9])
def test_every_axis_has_round_ticks_within_it(least, largest):
    scale = Scale(PLAIN, [least, largest])
    values = [value for value, _ in scale.ticks]
    assert 2 <= len(values) <= 6
    assert all(least - 1e-6 <= value <= largest * (1 + 1e-6) for value in values)
    places = [scale(value) for value in values]
    assert places == sorted(places)
