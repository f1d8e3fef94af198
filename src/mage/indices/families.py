"""The four indices of the paper, as a table."""

from dataclasses import dataclass

from mage._core.checks import checked_whole


@dataclass(frozen=True)
class IndexFamily:
    """What distinguishes one index from another: whether it sees the graph, and its highest order."""

    name: str
    symbol: str
    sees_graph: bool
    first_order_only: bool
    shapiq_name: str


FAMILIES = {
    family.name: family
    for family in (
        IndexFamily("shapley", "φ", sees_graph=False, first_order_only=True, shapiq_name="SV"),
        IndexFamily("shapley-taylor", "Φ", sees_graph=False, first_order_only=False, shapiq_name="STII"),
        IndexFamily("myerson", "ψ", sees_graph=True, first_order_only=True, shapiq_name="MV"),
        IndexFamily("myerson-taylor", "Ψ", sees_graph=True, first_order_only=False, shapiq_name="MTII"),
    )
}


def family_named(index: str) -> IndexFamily:
    """The family of that name, or an error that lists the names."""
    key = index.lower().replace("_", "-").replace(" ", "-") if isinstance(index, str) else ""
    if key not in FAMILIES:
        raise ValueError(f"index must be one of {', '.join(FAMILIES)}; got {index!r}")
    return FAMILIES[key]


def checked_order(family: IndexFamily, order: int | None) -> int:
    """The order to compute: 1 for the two values, 2 by default for the two Taylor indices."""
    if order is None:
        return 1 if family.first_order_only else 2
    order = checked_whole("order", order)
    if family.first_order_only and order != 1:
        raise ValueError(f"order: the {family.name} value has order 1, got {order}; use index='{family.name}-taylor'")
    return order
