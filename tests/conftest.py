import os

import pytest
from hypothesis import HealthCheck, settings

# Kernels compile on first use, which no per-example deadline should count.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("long", settings.get_profile("default"), max_examples=300)
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def seeded():
    """Weights of the models that a test makes are the same in each run, whatever ran before it."""
    try:
        import torch
    except ImportError:
        return
    torch.manual_seed(0)
