"""Corpora without a model behind them: molecules and graphs with motifs as a test wants them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mage.explanation import Explanation, GraphSubject, MoleculeSubject, Origin
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.motifs import Motif, MotifSet


def explained(names, edges, motifs, *, target=0, logits=(2.0, 0.0), optimal=True, queries=100, **about) -> Explanation:
    """An explanation with the given motifs: pairs of nodes and score."""
    count = len(names)
    pairs = [(i, j) for i, j, *_ in edges]
    motif_tuple = tuple(
        Motif(tuple(sorted(nodes)), score, tuple(names[v] for v in sorted(nodes))) for nodes, score in motifs
    )
    total = sum(abs(motif.score) for motif in motif_tuple)
    size = sum(map(len, motif_tuple))
    bound = total if optimal else 2 * total
    interactions = Interactions(
        index="myerson-taylor",
        order=1,
        graph=PlayerGraph(count, pairs),
        values=np.zeros(count),
        std_error=np.zeros(count),
        exact=True,
        method="exact",
        num_queries=queries,
        num_permutations=0,
        names=tuple(names),
    )
    orders = tuple(order for *_, order in edges) * 2 if edges and len(edges[0]) > 2 else ()
    class_names = tuple(about.pop("class_names", ()))
    subject = about.pop(
        "subject", MoleculeSubject(elements=tuple(names), bond_orders=orders) if orders else GraphSubject()
    )
    return Explanation(
        motifs=MotifSet(motif_tuple, total, bound, optimal, count, 2, size, 0.5, True, "search", 1),
        interactions=interactions,
        prediction=np.array(logits),
        target=target,
        players=tuple((v,) for v in range(count)),
        edge_index=np.array(pairs + [(j, i) for i, j in pairs], dtype=np.int64).reshape(-1, 2).T,
        num_nodes=count,
        names=tuple(names),
        task="multiclass",
        output="logit",
        masking="split",
        level="graph",
        num_queries=queries,
        seconds=0.5,
        subject=subject,
        class_names=class_names,
        origin=Origin(**about) if about else None,
    )


RING = [(0, 1, 2), (1, 2, 1), (2, 3, 2), (3, 4, 1), (4, 5, 2), (0, 5, 1)]


def nitrobenzene(**options) -> Explanation:
    """C6H5NO2 without charges, as published files have it; its motif is the nitro group."""
    names = ["C"] * 6 + ["N", "O", "O"] + ["H"] * 5
    bonds = [*RING, (0, 6, 1), (6, 7, 2), (6, 8, 1), *((v, 8 + v, 1) for v in range(1, 6))]
    return explained(names, bonds, options.pop("motifs", [((6, 7, 8), 3.0)]), **options)


def aniline(**options) -> Explanation:
    """C6H5NH2; its motif is the amino group and, weakly, a ring carbon with its hydrogen against it."""
    names = ["C"] * 6 + ["N", "H", "H"] + ["H"] * 5
    bonds = [*RING, (0, 6, 1), (6, 7, 1), (6, 8, 1), *((v, 8 + v, 1) for v in range(1, 6))]
    return explained(names, bonds, options.pop("motifs", [((6, 7, 8), 2.0), ((3, 11), -0.5)]), **options)


def benzene(**options) -> Explanation:
    """C6H6; its motif is a carbon with its hydrogen, for the second class."""
    names = ["C"] * 6 + ["H"] * 6
    bonds = [*RING, *((v, 6 + v, 1) for v in range(6))]
    options = {"target": 1, "logits": (0.0, 1.0), **options}
    return explained(names, bonds, options.pop("motifs", [((0, 6), 1.0)]), **options)


def write_molecules(folder, classes=("mutagen", "non-mutagen")) -> list[Explanation]:
    """A folder of twelve molecules: five with NO2, four with NH2 (one predicted wrongly), three with neither."""
    molecules = [nitrobenzene(label=0, queries=100 + 7 * n) for n in range(5)]
    molecules += [aniline(label=0 if n else 1, queries=500 - n) for n in range(4)]
    molecules += [benzene(label=1, optimal=n > 0) for n in range(3)]
    folder.mkdir(parents=True, exist_ok=True)
    for number, explanation in enumerate(molecules):
        origin = replace(explanation.origin, dataset="Molecules", model="gin", position=10 * number)
        explanation = replace(explanation, origin=origin, class_names=tuple(classes))  # noqa: PLW2901
        explanation.save(folder / f"{10 * number:06d}-0123456789abcdef.mage")
    return molecules
