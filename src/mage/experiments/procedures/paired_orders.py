"""Second-order indices against first-order ones, image by image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.table import Table

from mage.experiments.records import Record
from mage.metrics import METRICS, summarise

_METRICS = ("infid_plus", "infid_minus", "infid_plus_connected", "infid_minus_connected")
_ORDERS = {"shapley": "shapley-taylor", "myerson": "myerson-taylor"}

ByMethod = dict[str, Record]


def paired_tables(records: Sequence[Record], titles: Mapping[str, str]) -> Iterator[Table]:
    """Differences on the same images, which say more than two means over images of different kinds.

    Args:
        records: Finished records.
        titles: Names of the methods, to display.
    """
    networks: dict[tuple[str, str], dict[tuple[str, int], ByMethod]] = {}
    for record in records:
        images = networks.setdefault((record["dataset"], record["model"]), {})
        images.setdefault((record["image"], record["seed"]), {})[record["method"]] = record
    metrics = [name for name in _METRICS if all(record[name] is not None for record in records)]
    for (dataset, model), images in networks.items():
        table = Table(title=f"{dataset}, {model}: second order less first, image by image")
        for heading in ("index", *(METRICS[name].title for name in metrics)):
            table.add_column(heading)
        extremes: list[str] = []
        for first, second in _ORDERS.items():
            pairs = [(by[first], by[second]) for by in images.values() if {first, second} <= set(by)]
            if len(pairs) < 2 or not metrics:
                continue
            row = f"{titles[second].partition(',')[0]} less {titles[first]}"
            table.add_row(row, *(_difference(pairs, name) for name in metrics))
            extremes += _extremes(pairs, metrics[0])
        if table.row_count:
            table.caption = f"largest differences in {METRICS[metrics[0]].title}: {'; '.join(extremes)}"
            yield table


def _difference(pairs: Sequence[tuple[Record, Record]], metric: str) -> str:
    differences = [second[metric] - first[metric] for first, second in pairs]
    summary, lower = summarise(differences), sum(difference < 0 for difference in differences)
    return f"{summary.mean:+.3f} ± {summary.std_error:.3f}, lower on {lower} of {len(pairs)}"


def _extremes(pairs: Sequence[tuple[Record, Record]], metric: str) -> list[str]:
    """The images where the second order gains most and loses most."""
    differences = np.array([second[metric] - first[metric] for first, second in pairs])
    extremes = (pairs[int(place)] for place in (differences.argmin(), differences.argmax()))
    return [f"{first['image']} {second[metric]:.3f} against {first[metric]:.3f}" for first, second in extremes]
