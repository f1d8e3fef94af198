"""Words for what a model returns and what of it is explained; needs no torch."""

KNOWN_TASKS = ("multiclass", "binary", "regression")
TASKS = ("auto", *KNOWN_TASKS)
BOUNDED = "bounded-log-odds"
OUTPUTS = ("auto", "logit", "probability", "log-probability", "log-odds", BOUNDED)
RETURN_TYPES = ("raw", "probs", "log_probs")
MASKING_NAMES = ("remove", "split", "zero", "mean")
"""Names of the maskings; a test compares them with the functions."""
