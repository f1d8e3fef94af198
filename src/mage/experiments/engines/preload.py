"""What every worker needs, imported once by the server that workers are forked from."""

import contextlib

import mage.datasets.dataset
import mage.explainers
import mage.games.model_game
import mage.metrics
import mage.models  # noqa: F401 (imported for its effect, like the others)

with contextlib.suppress(ImportError):
    import sklearn.metrics  # noqa: F401 (what some metrics use)
