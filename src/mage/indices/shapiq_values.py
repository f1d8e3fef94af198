"""Interactions to and from shapiq."""

import warnings
from typing import Any

import numpy as np

from mage._core.checks import shortened
from mage._core.optional import require
from mage.graph import PlayerGraph
from mage.indices.families import FAMILIES
from mage.indices.result import Interactions
from mage.indices.subsets import subsets_of_size


def to_shapiq(interactions: Interactions) -> Any:
    """``shapiq.InteractionValues`` with the same numbers; the empty set holds the baseline."""
    shapiq = require("shapiq", "shapiq")
    lookup = {(): 0, **{players: row + 1 for row, players in enumerate(interactions.coalitions)}}
    with warnings.catch_warnings():
        # shapiq knows no structure-aware index; it warns of the name and then draws it all the same.
        warnings.simplefilter("ignore")
        return shapiq.InteractionValues(
            values=np.concatenate([[interactions.baseline], interactions.values]),
            index=FAMILIES[interactions.index].shapiq_name,
            min_order=0,
            max_order=interactions.order,
            n_players=interactions.num_players,
            interaction_lookup=lookup,
            estimated=not interactions.exact,
            estimation_budget=interactions.num_queries,
            baseline_value=interactions.baseline,
        )


def from_shapiq(values: Any, edges: Any = None) -> Interactions:
    """The same numbers as :class:`Interactions`; sets that shapiq left out are zero."""
    if not all(hasattr(values, name) for name in ("index", "dict_values", "max_order", "n_players")):
        raise TypeError(f"values must be shapiq.InteractionValues, got {shortened(values)}")
    family = next((f for f in FAMILIES.values() if f.shapiq_name == values.index), None)
    if family is None:
        choices = ", ".join(f.shapiq_name for f in FAMILIES.values())
        raise ValueError(f"values: index {values.index!r} has no counterpart here; known are {choices}")
    if family.sees_graph and edges is None:
        raise ValueError(f"edges: needed for a {family.name} index, which depends on the graph")
    numbers = {tuple(sorted(players)): float(value) for players, value in values.dict_values.items()}
    sizes = range(1, values.max_order + 1)
    listed = [tuple(row) for size in sizes for row in subsets_of_size(values.n_players, size).tolist()]
    array = np.array([numbers.get(players, 0.0) for players in listed])
    return Interactions(
        index=family.name,
        order=values.max_order,
        graph=PlayerGraph.of(edges, values.n_players),
        values=array,
        std_error=np.full(len(array), np.nan) if values.estimated else np.zeros(len(array)),
        exact=not values.estimated,
        method="shapiq",
        num_queries=int(values.estimation_budget or 0),
        baseline=float(values.baseline_value),
    )
