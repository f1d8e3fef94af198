"""The players' graph, its connected coalitions and their components."""

from mage.graph.neighbourhoods import Neighbourhoods, count_neighbourhoods
from mage.graph.player_graph import (
    CoalitionBlock,
    PlayerGraph,
    as_masks,
    checked_graph,
    checked_player,
    component_rows,
    networkx_order,
)

__all__ = [
    "CoalitionBlock",
    "Neighbourhoods",
    "PlayerGraph",
    "as_masks",
    "checked_graph",
    "checked_player",
    "component_rows",
    "count_neighbourhoods",
    "networkx_order",
]
