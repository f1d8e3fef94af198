"""Names for patterns: functional groups of molecules, shapes of plain graphs, words of sentences."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from mage.drawing.labelled_graphs import Catalogue, LabelledGraph, embedding
from mage.drawing.molecules import AROMATIC
from mage.explanation.subject import ELEMENTS

# Name, atoms, bonds: 0-1 single, 0=1 double, 0#1 triple, 0:1 aromatic. Hydrogens are atoms.
_GROUPS = (
    ("nitro", "N O O", "0=1 0=2"),
    ("nitrate ester", "O N O O", "0-1 1=2 1=3"),
    ("nitrosamine", "N N O", "0-1 1=2"),
    ("amino", "N H H", "0-1 0-2"),
    ("amine N–H", "N H", "0-1"),
    ("ammonium", "N H H H", "0-1 0-2 0-3"),
    ("azo", "N N", "0=1"),
    ("diazo or azide", "N N N", "0=1 1=2"),
    ("hydroxyl", "O H", "0-1"),
    ("hydroxylamine", "N O H", "0-1 1-2"),
    ("carbonyl", "C O", "0=1"),
    ("aldehyde", "C O H", "0=1 0-2"),
    ("carboxylic acid", "C O O H", "0=1 0-2 2-3"),
    ("ester or acid", "C O O", "0=1 0-2"),
    ("amide", "C O N", "0=1 0-2"),
    ("primary amide", "C O N H H", "0=1 0-2 2-3 2-4"),
    ("ether", "C O C", "0-1 1-2"),
    ("epoxide", "C C O", "0-1 1-2 0-2"),
    ("aziridine", "C C N", "0-1 1-2 0-2"),
    ("nitrile", "C N", "0#1"),
    ("isocyanate", "N C O", "0=1 1=2"),
    ("thiol", "S H", "0-1"),
    ("sulfonyl", "S O O", "0=1 0=2"),
    ("sulfonic acid", "S O O O H", "0=1 0=2 0-3 3-4"),
    ("methyl", "C H H H", "0-1 0-2 0-3"),
    ("methylene", "C H H", "0-1 0-2"),
    ("trifluoromethyl", "C F F F", "0-1 0-2 0-3"),
    ("hydrogen chloride", "Cl H", "0-1"),
    ("fluorine", "F", ""),
    ("chlorine", "Cl", ""),
    ("bromine", "Br", ""),
    ("iodine", "I", ""),
    ("benzene ring", "C C C C C C", "0:1 1:2 2:3 3:4 4:5 0:5"),
    ("pyridine ring", "N C C C C C", "0:1 1:2 2:3 3:4 4:5 0:5"),
    ("furan ring", "O C C C C", "0:1 1:2 2:3 3:4 0:4"),
    ("thiophene ring", "S C C C C", "0:1 1:2 2:3 3:4 0:4"),
    ("pyrrole ring", "N C C C C", "0:1 1:2 2:3 3:4 0:4"),
)
_ORDERS = {"-": "1", "=": "2", "#": "3", ":": AROMATIC}
_BONDS = {"1": "–", "2": "=", "3": "≡", "": "–", AROMATIC: "∶"}
_HYDROGENS = re.compile(r"([A-Z][a-z]?)H(\d*)")
_WRITTEN = " P S N O F Cl Br I H "
_MOST_LABELS = 8  # of a pattern, in a line
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def pattern_name(pattern: LabelledGraph, chemical: bool) -> str:
    """The name of a pattern; empty if it has none.

    Args:
        pattern: The pattern.
        chemical: Whether its nodes are atoms.
    """
    if not chemical:
        return "" if any(pattern.labels) else _shape_name(pattern)
    fragment = _with_hydrogens(pattern)
    if not all(kind for _, _, kind in fragment.edges):
        return _sure_name(fragment)
    groups, left = _parts(fragment)
    if not groups:
        return ""
    skeleton = " on carbon" if left and set(left) == {"C"} else " and more" if left else ""
    return " + ".join(f"{count} × {name}" if count > 1 else name for (name, _), count in groups.items()) + skeleton


def pattern_text(pattern: LabelledGraph, chemical: bool) -> str:
    """A pattern in a line: a formula such as C–NO₂, a bond such as C=O, labels, or the counts of a plain graph."""
    if chemical and len(pattern) == 2 and len(pattern.edges) == 1 and not set(pattern.labels) - ELEMENTS:
        first, second = sorted(pattern.labels, key=lambda label: (label == "H", label != "C", label))
        kind = pattern.edges[0][2]
        return f"{first}{_BONDS[kind]}{second}" + (" (aromatic)" if kind == AROMATIC else "")
    if chemical:
        fragment = _with_hydrogens(pattern)
        groups, left = _parts(fragment)
        # One group on a skeleton is written as chemists do; anything else as one formula.
        if left and len(groups) == 1 and groups.total() == 1:
            return f"{formula(left)}–{formula(next(iter(groups))[1])}"
        return formula(fragment.labels)
    if any(pattern.labels):
        more = f" … ({len(pattern)} in all)" if len(pattern) > _MOST_LABELS else ""
        return " · ".join(pattern.labels[:_MOST_LABELS]) + more
    nodes, edges = len(pattern), len(pattern.edges)
    return f"{nodes} node{'s' * (nodes != 1)}, {edges} edge{'s' * (edges != 1)}"


def formula(elements: tuple[str, ...]) -> str:
    """A formula with subscripts: C, H, then by name (Hill); without carbon as groups are written, NO₂ and NH₂."""
    counts = Counter(elements)
    order = sorted(counts, key=lambda e: (e != "C", e != "H", e) if "C" in counts else (_WRITTEN.find(f" {e} "), e))
    return "".join(f"{e}{str(counts[e]).translate(_SUBSCRIPTS) if counts[e] > 1 else ''}" for e in order)


def _with_hydrogens(pattern: LabelledGraph) -> LabelledGraph:
    """A fragment in which hydrogens that labels carry, such as NH2, are atoms of their own."""
    labels, edges = list(pattern.labels), list(pattern.edges)
    for atom, label in enumerate(pattern.labels):
        match = _HYDROGENS.fullmatch(label)
        if match is None or label in ELEMENTS:
            continue
        labels[atom] = match[1]
        for _ in range(int(match[2] or 1)):
            edges.append((atom, len(labels), "1"))
            labels.append("H")
    return LabelledGraph.make(labels, edges)


@cache
def _groups() -> tuple[tuple[str, LabelledGraph], ...]:
    """The functional groups, the largest first."""
    groups = []
    for name, atoms, bonds in _GROUPS:
        edges = [
            (int(i), int(j), _ORDERS[kind]) for i, kind, j in (re.split(r"([-=#:])", bond) for bond in bonds.split())
        ]
        groups.append((name, LabelledGraph.make(atoms.split(), edges)))
    return tuple(sorted(groups, key=lambda entry: -len(entry[1])))


def _parts(fragment: LabelledGraph) -> tuple[Counter[tuple[str, tuple[str, ...]]], tuple[str, ...]]:
    """Functional groups of a fragment, the largest first and none within another, and the atoms that are left."""
    left = list(range(len(fragment)))
    groups: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for name, group in _groups():
        while (atoms := embedding(group, fragment.induced(left))) is not None:
            groups[name, group.labels] += 1
            left = [v for place, v in enumerate(left) if place not in atoms]
    return groups, tuple(fragment.labels[v] for v in left)


def _sure_name(pattern: LabelledGraph) -> str:
    """The name of a whole group where bond orders are not known: only names that do not hang on them."""
    names: dict[int, set[str]] = {}
    catalogue = Catalogue()
    for name, group in _groups():
        bare = LabelledGraph(group.labels, tuple((i, j, "") for i, j, _ in group.edges))
        # All hydrogens are on single bonds, and only a nitro group has two oxygens and nothing else on a nitrogen.
        onto_hydrogen = ("H" in {group.labels[i], group.labels[j]} for i, j, _ in group.edges)
        sure = name == "nitro" or all(onto_hydrogen)
        names.setdefault(catalogue.number(bare), set()).add(name if sure else "")
    candidates = names.get(catalogue.number(pattern), {""})
    return next(iter(candidates)) if len(candidates) == 1 else ""


def _shape_name(pattern: LabelledGraph) -> str:
    nodes, edges = len(pattern), len(pattern.edges)
    degrees = sorted(len(around) for around in pattern.neighbours)
    if nodes < 2 or len(pattern.components()) > 1:
        return "single node" if nodes == 1 else ""
    if edges == nodes - 1 and degrees[-1] <= 2:
        return f"path of {nodes}"
    if degrees == [2] * nodes:
        return "triangle" if nodes == 3 else f"{nodes}-cycle"
    if edges == nodes * (nodes - 1) // 2:
        return f"complete graph of {nodes}"
    if edges == nodes - 1 and degrees[-1] == nodes - 1:
        return f"star with {nodes - 1} arms"
    catalogue = Catalogue()
    names = {catalogue.number(shape): name for name, shape in _SHAPES.items()}
    return names.get(catalogue.number(pattern)) or ("tree" if edges == nodes - 1 else "")


def _grid(rows: int, columns: int) -> LabelledGraph:
    edges = [(r * columns + c, r * columns + c + 1, "") for r in range(rows) for c in range(columns - 1)]
    edges += [(r * columns + c, (r + 1) * columns + c, "") for r in range(rows - 1) for c in range(columns)]
    return LabelledGraph.make([""] * (rows * columns), edges)


def _closed_walk(nodes: int, *chords: tuple[int, int]) -> LabelledGraph:
    edges = [(v, (v + 1) % nodes, "") for v in range(nodes)]
    return LabelledGraph.make([""] * nodes, [*edges, *((i, j, "") for i, j in chords)])


_SHAPES = {
    "house": _closed_walk(5, (1, 4)),
    "diamond": _closed_walk(4, (0, 2)),
    "house with a crossing roof": _closed_walk(5, (1, 4), (1, 3)),
    "2 × 3 grid": _grid(2, 3),
    "3 × 3 grid": _grid(3, 3),
}
