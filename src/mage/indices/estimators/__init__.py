"""Estimators: how an index is computed."""

METHODS = ("auto", "exact", "exact-local", "permutation", "surrogate")

_FIELDS = {
    "exact": frozenset(),
    "exact-local": frozenset({"radius"}),
    "permutation": frozenset({"permutations", "orderings", "antithetic"}),
    "surrogate": frozenset({"regressor"}),
}


def accepted_fields(method: str) -> frozenset[str]:
    """Fields of a request, beyond those of every request, that a method takes; "auto" may end in any of them."""
    if method != "auto":
        return _FIELDS[method]
    return frozenset[str]().union(*_FIELDS.values()) - {"radius"}
