"""Words for what a model returns and what of it is explained; needs no torch."""

TASKS = ("auto", "multiclass", "binary", "regression")
OUTPUTS = ("logit", "probability", "log-probability", "log-odds")
RETURN_TYPES = ("raw", "probs", "log_probs")
