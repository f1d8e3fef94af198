"""The content of a corpus page: graphs, patterns, and what recurs in the motifs of each class, as plain values."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mage.drawing import drawable, pattern_scene, pattern_svg, scene_of, scene_svg
from mage.drawing.labelled_graphs import Catalogue, LabelledGraph, embedding, holds
from mage.drawing.pattern_names import pattern_name, pattern_text
from mage.drawing.scene_builders import drawn_nodes
from mage.explanation.subject import SentenceSubject
from mage.metrics import node_f1
from mage.motifs import PROVEN
from mage.report.corpus.cores import Core, leading_cores, recurring_cores
from mage.report.corpus.entries import Entry, class_names

_MOST_FORMS = 5
_MOST_WHOLE = 40
_FEW_GRAPHS = 20
BLOCK = 25
"""Drawings that are compressed together: as many as the shortest page of the table shows."""


def corpus_content(entries: Sequence[Entry]) -> dict[str, Any]:
    """All that the script of a corpus page shows.

    Returns:
        ``classes``; ``graphs``, a row each; ``patterns``, small drawings with names; ``sections``, for each explained
        class and sign the recurring cores and the whole motifs, which refer to patterns and graphs by their place;
        ``drawings``, those of the graphs, as :func:`packed`.
    """
    patterns = _Patterns()
    numbers = [[patterns.number(entry, motif.nodes) for motif in entry.explanation.all_motifs] for entry in entries]
    keys = sorted(
        {(_target(entry), motif.sign) for entry in entries for motif in entry.explanation.all_motifs}, key=_order
    )
    sections = [_section(entries, numbers, patterns, key) for key in keys]
    for section in sections:
        for core in section["cores"]:
            core["elsewhere"] = [
                count
                for other in sections
                if other is not section and (count := _count_elsewhere(other, core, patterns)) is not None
            ]
    for section in sections:
        section["motifs"] = section["motifs"][:_MOST_WHOLE]
        del section["pieces"]
    return {
        "classes": class_names(list(entries)),
        "regression": all(entry.predicted is None for entry in entries),
        "sources": sorted({entry.source for entry in entries} - {""}),
        "graphs": [_row(entry, patterns_of) for entry, patterns_of in zip(entries, numbers, strict=True)],
        "patterns": patterns.shown,
        "sections": sections,
        "block": BLOCK,
        "drawings": packed([_drawing(entry) for entry in entries]),
    }


def packed(texts: Sequence[str]) -> list[str]:
    """Texts compressed in blocks, as base64: JSON lists of :data:`BLOCK` texts each, which a browser can unpack."""
    blocks = [texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK)]
    return [base64.b64encode(zlib.compress(json.dumps(block).encode(), 9)).decode() for block in blocks]


def _drawing(entry: Entry) -> str:
    """The drawing of a graph with its motifs; of a large graph, the part around them."""
    part = drawable(entry.explanation)
    return scene_svg(part, scene_of(part, narrow=True), with_hatch=False)


class _Patterns:
    """Patterns by number, with what the page shows of each."""

    def __init__(self) -> None:
        self.catalogue = Catalogue()
        self.shown: list[dict[str, Any]] = []

    def number(self, entry: Entry, nodes: Sequence[int]) -> int:
        """The number of the pattern that nodes of a graph form."""
        members, chemical = sorted(nodes), entry.molecule is not None
        pattern = entry.graph.induced(members)
        number = self.catalogue.number(pattern)
        if number == len(self.shown):
            name, text = pattern_name(pattern, chemical), pattern_text(pattern, chemical)
            scene = pattern_scene(entry.explanation, members, pattern.labels, entry.molecule)
            self.shown.append(
                {
                    "name": name,
                    "text": text,
                    "smiles": entry.molecule.smiles(nodes) if entry.molecule is not None else "",
                    "size": len(pattern),
                    "chemical": chemical,
                    "wide": scene.kind == "sentence",
                    "drawing": pattern_svg(scene, name or text),
                }
            )
        return number


def _section(
    entries: Sequence[Entry], numbers: list[list[int]], patterns: _Patterns, key: tuple[int | None, int]
) -> dict[str, Any]:
    """What recurs in the motifs with one sign of the explanations of one class."""
    target, sign = key
    hosts = {place: entry.graph for place, entry in enumerate(entries) if _target(entry) == target}
    places: list[tuple[int, int]] = [
        (place, rank)
        for place in hosts
        for rank, motif in enumerate(entries[place].explanation.all_motifs)
        if motif.sign == sign
    ]
    pieces = [(place, hosts[place].induced(_motif(entries, place, rank).nodes)) for place, rank in places]
    scores = [_motif(entries, place, rank).score for place, rank in places]
    cores, complete = recurring_cores(pieces, least_graphs(len(hosts)))
    whole: dict[int, list[int]] = {}
    for at, (place, rank) in enumerate(places):
        whole.setdefault(numbers[place][rank], []).append(at)
    return {
        "target": target,
        "sign": sign,
        "total": len(hosts),
        "least": least_graphs(len(hosts)),
        "complete": complete,
        "pieces": pieces,
        "cores": [_core(core, entries, pieces, scores, patterns) for core in leading_cores(cores, hosts)],
        "motifs": [
            {
                "pattern": number,
                "count": len(members),
                "graphs": _by_score({pieces[at][0]: scores[at] for at in members}),
                **_scores([scores[at] for at in members]),
            }
            for number, members in sorted(whole.items(), key=lambda item: (-len(item[1]), item[0]))
        ],
    }


def least_graphs(total: int) -> int:
    """Graphs that must have a piece before it counts as recurring: 5 %, but two, and three of twenty or more."""
    return max(3 if total >= _FEW_GRAPHS else 2, -(-total // 20))


def _core(
    core: Core,
    entries: Sequence[Entry],
    pieces: list[tuple[int, LabelledGraph]],
    scores: list[float],
    patterns: _Patterns,
) -> dict[str, Any]:
    return {
        "pattern": _pattern_of(core, entries, pieces, patterns),
        "present": core.present,
        "consistency": round(core.consistency, 3),
        "rank": round(core.rank, 3),
        "graphs": _by_score({pieces[at][0]: scores[at] for at in core.motifs}),
        **_scores([scores[at] for at in core.motifs]),
        "forms": [
            {"pattern": _pattern_of(form, entries, pieces, patterns), "count": len(form.graphs)}
            for form in sorted(core.forms, key=lambda form: (-len(form.graphs), -form.rank))[:_MOST_FORMS]
        ],
    }


def _pattern_of(
    core: Core, entries: Sequence[Entry], pieces: list[tuple[int, LabelledGraph]], patterns: _Patterns
) -> int:
    """The number of a core's pattern, with its first occurrence as the example."""
    place = pieces[core.motifs[0]][0]
    nodes = embedding(core.pattern, entries[place].graph, most_steps=2**62)
    if nodes is None:
        raise AssertionError("a core occurs in the graphs it was found in")
    return patterns.number(entries[place], nodes)


def _count_elsewhere(other: dict[str, Any], core: dict[str, Any], patterns: _Patterns) -> dict[str, Any] | None:
    """In how many graphs of another section a motif holds a core."""
    pattern = patterns.catalogue.members[core["pattern"]]
    graphs = {place for place, piece in other["pieces"] if holds(piece, pattern)}
    if not graphs:
        return None
    return {"target": other["target"], "sign": other["sign"], "count": len(graphs), "total": other["total"]}


def _row(entry: Entry, numbers: list[int]) -> dict[str, Any]:
    """A graph of the table."""
    explanation = entry.explanation
    probabilities = explanation.probabilities
    target = explanation.target
    row: dict[str, Any] = {
        "name": entry.name,
        "file": entry.file,
        "source": entry.source,
        "target": target,
        "predicted": entry.predicted,
        "label": entry.label,
        "right": entry.right,
        "probability": _short(probabilities[target]) if probabilities is not None and target is not None else None,
        "value": _short(explanation.prediction[0]) if target is None else None,
        "nodes": explanation.num_nodes,
        "queries": explanation.num_queries,
        "seconds": _short(explanation.seconds),
        "how": explanation.how,
        "exact": explanation.interactions.exact,
        "proof": explanation.motifs.proof,
        "optimal": explanation.motifs.proof == PROVEN,
        "motifs": [
            {
                "nodes": [_node_name(entry, node) for node in motif.nodes],
                "score": _short(motif.score),
                "error": None if explanation.interactions.exact else _short(explanation.motif_error(motif)),
                "pattern": number,
            }
            for motif, number in zip(explanation.all_motifs, numbers, strict=True)
        ],
    }
    if isinstance(explanation.subject, SentenceSubject):
        row["wide"] = True
    num_drawn = len(drawn_nodes(explanation))
    if num_drawn < explanation.num_nodes:
        row["drawn"] = num_drawn
    if entry.truth:
        row["f1"] = _short(node_f1(explanation.motifs.nodes, sorted(entry.truth), explanation.num_nodes))
    return row


def _node_name(entry: Entry, node: int) -> str:
    """A node as a reader finds it: a word, an atom with its number, a name, or else its number."""
    if entry.molecule is not None:
        return f"{entry.molecule.elements[node]}{node}"
    return entry.explanation.names[node]


def _motif(entries: Sequence[Entry], place: int, rank: int) -> Any:
    return entries[place].explanation.all_motifs[rank]


def _target(entry: Entry) -> int | None:
    return entry.explanation.target


def _order(key: tuple[int | None, int]) -> tuple[int, int]:
    target, sign = key
    return (-1 if target is None else target, -sign)


def _by_score(scores: dict[int, float]) -> list[int]:
    """Places of graphs, the strongest first: good examples."""
    return sorted(scores, key=lambda place: (-abs(scores[place]), place))


def _scores(values: list[float]) -> dict[str, float | None]:
    """Mean of scores and their spread over motifs."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"mean": _short(float(np.mean(values))), "spread": None if spread is None else _short(spread)}


def _short(number: float) -> float:
    """A number with the digits that a person may want to see."""
    return float(f"{number:.4g}")
