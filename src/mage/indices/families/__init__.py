"""Index families, one module each, and the table of them."""

from __future__ import annotations

from importlib import import_module

from mage._core.checks import checked_whole
from mage.indices.families.family import IndexFamily

__all__ = ["FAMILIES", "IndexFamily", "checked_order", "family_named", "register_index"]

FAMILIES: dict[str, IndexFamily] = {}
# Modules that have FORMS, with and without a graph. A new family is such a module and a line here.
_MODULES = (
    "shapley",
    "shapley_taylor",
    "sii",
    "k_sii",
    "banzhaf",
    "faith_shap",
)


def register_index(*families: IndexFamily) -> None:
    """Make index families known by their names."""
    for family in families:
        if FAMILIES.setdefault(family.name, family) is not family:
            raise ValueError(f"name: there is an index {family.name!r} already")


for _module in _MODULES:
    register_index(*import_module(f"mage.indices.families.{_module}").FORMS)


def family_named(index: str) -> IndexFamily:
    """The family of that name, or an error that lists the names."""
    key = index.lower().replace("_", "-").replace(" ", "-") if isinstance(index, str) else ""
    if key not in FAMILIES:
        raise ValueError(f"index must be one of {', '.join(FAMILIES)}; got {index!r}")
    return FAMILIES[key]


_LARGEST_ORDER = 100


def checked_order(family: IndexFamily, order: int | None) -> int:
    """The order to compute: 2 by default, 1 for the two values."""
    if order is None:
        return min(2, family.largest_order or 2)
    order = checked_whole("order", order)
    if order > _LARGEST_ORDER:
        raise ValueError(f"order must be at most {_LARGEST_ORDER}: nobody reads sets of more players, got {order:,}")
    if family.largest_order is not None and order > family.largest_order:
        raise ValueError(
            f"order: the {family.name} value has order {family.largest_order}, got {order}; "
            f"use index='{family.name}-taylor'"
        )
    return order
