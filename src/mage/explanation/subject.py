"""What the nodes of an explained graph are: plain nodes, atoms, words, or regions of a picture.

A new kind is one frozen dataclass here, derived from :class:`Subject` and named by ``stored_as``, and one entry in the
table of :mod:`mage.drawing` that says how it is drawn. Storage follows from its fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mage._core.conversion import stored_as
from mage._core.typing import Integers

_SYMBOLS = """
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Ag Cd Sn Sb Te
I Xe Cs Ba Pt Au Hg Tl Pb Bi"""
ELEMENTS = frozenset(_SYMBOLS.split())
"""Symbols that name an atom."""
_LONGEST_SIDE = 512  # pixels; larger pictures are reduced, or files and pages would grow by megabytes


class Subject:
    """What the nodes of an explained graph are; the base of all kinds.

    Attributes:
        whole: What the whole input is called in a sentence.
        node: What one node is called.
        nodes: What several nodes are called.
        per_node: Names of fields with a value per node, or none at all.
        per_edge: Names of fields with a value per column of ``edge_index``, or none at all.
        node_numbers: Names of arrays that hold numbers of nodes, −1 for none.
        of_whole: Names of texts that are true of the whole graph only.
    """

    whole: ClassVar[str] = "the graph"
    node: ClassVar[str] = "node"
    nodes: ClassVar[str] = "nodes"
    per_node: ClassVar[tuple[str, ...]] = ()
    per_edge: ClassVar[tuple[str, ...]] = ()
    node_numbers: ClassVar[tuple[str, ...]] = ()
    of_whole: ClassVar[tuple[str, ...]] = ()

    def check(self, num_nodes: int, num_edges: int) -> None:
        """Raise ValueError unless the subject fits a graph of so many nodes and columns of ``edge_index``."""
        for names, count, owner in ((self.per_node, num_nodes, "node"), (self.per_edge, num_edges, "edge")):
            for name in names:
                length = len(getattr(self, name))
                if length not in (0, count):
                    raise ValueError(f"{name} must list {count} values, one per {owner}, got {length}")
        for name in self.node_numbers:
            low, high = int(getattr(self, name).min()), int(getattr(self, name).max())
            if low < -1 or high >= num_nodes:
                raise ValueError(f"{name} must hold nodes 0 … {num_nodes - 1}, or −1 for none; got {low} … {high}")

    def pattern(self, nodes: Sequence[int], pairs: Iterable[Sequence[int]]) -> str:
        """What kind of group some nodes are, in words; empty where nodes are all of one kind.

        Args:
            nodes: The nodes.
            pairs: Edges between them.
        """
        del nodes, pairs
        return ""

    def part(self, nodes: Integers, columns: Integers) -> Subject:
        """The subject of a part of the graph: these nodes, ascending, and these columns of ``edge_index``."""
        parts: dict[str, Any] = dict.fromkeys(self.of_whole, "")
        parts |= {name: _chosen(getattr(self, name), nodes) for name in self.per_node}
        parts |= {name: _chosen(getattr(self, name), columns) for name in self.per_edge}
        parts |= {name: _renumbered(getattr(self, name), nodes) for name in self.node_numbers}
        return replace(self, **parts)  # type: ignore[type-var]  # all kinds are dataclasses


@stored_as("graph")
@dataclass(frozen=True)
class GraphSubject(Subject):
    """A graph whose nodes are just nodes."""


@stored_as("features")
@dataclass(frozen=True)
class FeatureSubject(Subject):
    """The features of a graph's nodes: what is explained are columns of ``x``, which have no edges."""

    node: ClassVar[str] = "feature"
    nodes: ClassVar[str] = "features"


@stored_as("typed graph")
@dataclass(frozen=True)
class TypedSubject(Subject):
    """A graph whose nodes are of several types, numbered type by type.

    Attributes:
        types: The type of each node.
        relations: The relation of each column of ``edge_index``; empty where it is not known.
    """

    per_node: ClassVar[tuple[str, ...]] = ("types",)
    per_edge: ClassVar[tuple[str, ...]] = ("relations",)

    types: tuple[str, ...]
    relations: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types, each once."""
        return tuple(dict.fromkeys(self.types))

    def number(self, kind: str, row: int) -> int:
        """The number of the node that is ``row`` within its type."""
        numbers = [node for node, node_type in enumerate(self.types) if node_type == kind]
        if not 0 <= row < len(numbers):
            raise ValueError(f"row: there are {len(numbers)} nodes of type {kind!r}, got {row!r}")
        return numbers[row]

    def pattern(self, nodes: Sequence[int], pairs: Iterable[Sequence[int]]) -> str:
        """The types along a path (a metapath), around the middle of a star, or else how many of each there are."""
        return metapath({node: self.types[node] for node in nodes}, pairs)


@stored_as("molecule")
@dataclass(frozen=True)
class MoleculeSubject(Subject):
    """A molecule whose nodes are atoms.

    Attributes:
        smiles: SMILES with the atoms in the order of the nodes; empty where it is not known.
        elements: Symbol of each atom; empty where only the SMILES is known.
        bond_orders: Order of each column of ``edge_index``: 1, 2 or 3, or 0 for unknown; empty where none is known.
    """

    whole: ClassVar[str] = "the molecule"
    node: ClassVar[str] = "atom"
    nodes: ClassVar[str] = "atoms"
    per_node: ClassVar[tuple[str, ...]] = ("elements",)
    per_edge: ClassVar[tuple[str, ...]] = ("bond_orders",)
    of_whole: ClassVar[tuple[str, ...]] = ("smiles",)

    smiles: str = ""
    elements: tuple[str, ...] = ()
    bond_orders: tuple[int, ...] = ()


@stored_as("sentence")
@dataclass(frozen=True)
class SentenceSubject(Subject):
    """A sentence whose nodes are words.

    Attributes:
        words: The words in reading order, one per node.
        text: The sentence as it was written; empty where only its words are known.
    """

    whole: ClassVar[str] = "the sentence"
    node: ClassVar[str] = "word"
    nodes: ClassVar[str] = "words"
    per_node: ClassVar[tuple[str, ...]] = ("words",)
    of_whole: ClassVar[tuple[str, ...]] = ("text",)

    words: tuple[str, ...]
    text: str = ""

    def __post_init__(self) -> None:
        if not self.words:
            raise ValueError("words must list the words of the sentence, got none")


@stored_as("image")
@dataclass(frozen=True, eq=False)
class ImageSubject(Subject):
    """A picture whose nodes are regions; made by :meth:`of`.

    Attributes:
        pixels: The picture as bytes [h, w], [h, w, 3] or [h, w, 4].
        segments: For each pixel the number of its node [h, w]; −1 for none.
    """

    whole: ClassVar[str] = "the image"
    node: ClassVar[str] = "region"
    nodes: ClassVar[str] = "regions"
    node_numbers: ClassVar[tuple[str, ...]] = ("segments",)

    pixels: NDArray[np.uint8]
    segments: NDArray[np.int32]

    @classmethod
    def of(cls, image: Any, segments: Any) -> ImageSubject:
        """The picture and its regions, reduced to at most 512 pixels a side.

        Args:
            image: [h, w] (grey) or [h, w, 3 or 4]: whole numbers 0 … 255 or floats in [0, 1]; an array, a tensor or a
                Pillow image.
            segments: For each pixel the number of its node [h, w]; −1 for none.
        """
        pixels = _as_bytes(image)
        labels = np.asarray(segments.detach().cpu() if hasattr(segments, "detach") else segments)
        if labels.shape != pixels.shape[:2]:
            raise ValueError(f"segments must have the image's shape {list(pixels.shape[:2])}, got {list(labels.shape)}")
        if not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(f"segments must be whole numbers, got {labels.dtype}")
        step = -(-max(labels.shape) // _LONGEST_SIDE)
        middle = slice(step // 2, None, step)
        return cls(_reduced(pixels, step), labels[middle, middle].astype(np.int32))

    def __post_init__(self) -> None:
        shape = self.pixels.shape
        if self.pixels.ndim not in (2, 3) or (len(shape) == 3 and shape[2] not in (3, 4)) or not self.pixels.size:
            raise ValueError(f"pixels must have shape [h, w], [h, w, 3] or [h, w, 4], got {list(shape)}")
        if self.segments.shape != shape[:2]:
            raise ValueError(f"segments must have the image's shape {list(shape[:2])}, got {list(self.segments.shape)}")


def subject_of(data: Any) -> Subject:
    """The subject of a PyG graph: its own, a molecule where it has a ``smiles`` string or named atoms, else a graph.

    Its own is ``subject``, where that is a :class:`Subject`: words of a sentence, super-pixels of a picture.

    Named atoms with bonds are ``names``, all symbols of elements, and ``bond``, 0, 1 or 2 for a single, double or
    triple bond, one per column of ``edge_index``.
    """
    subject = getattr(data, "subject", None)
    if isinstance(subject, Subject):
        return subject
    smiles, names, bonds = (getattr(data, field, None) for field in ("smiles", "names", "bond"))
    text = smiles if isinstance(smiles, str) else ""
    orders = tuple(int(bond) + 1 for bond in bonds) if bonds is not None else ()
    elements = tuple(str(name) for name in names) if orders and names is not None else ()
    if not ELEMENTS.issuperset(elements):
        elements = orders = ()
    return MoleculeSubject(text, elements, orders) if text or elements else GraphSubject()


def metapath(types: Mapping[int, str], pairs: Iterable[Sequence[int]]) -> str:
    """A small typed graph in words: ``author – paper – author``, ``paper – (2 × author, venue)``, or only counts.

    Args:
        types: The type of each node.
        pairs: Edges between the nodes.
    """
    near: dict[int, set[int]] = {node: set() for node in types}
    for first, second in pairs:
        if first != second:
            near[first].add(second)
            near[second].add(first)
    edges = sum(map(len, near.values())) // 2
    degrees = sorted(map(len, near.values()))
    is_tree = edges == len(near) - 1
    if is_tree and degrees[-1] <= 2 and (len(near) == 1 or degrees[0] == 1):
        walk = [min((node for node in near if len(near[node]) < 2), key=lambda node: node)]
        while len(walk) < len(near):
            walk.append(next(node for node in near[walk[-1]] if node not in walk[-2:]))
        along = [types[node] for node in walk]
        return " – ".join(min(along, along[::-1]))
    if is_tree and degrees[-1] == edges:
        centre = max(near, key=lambda node: len(near[node]))
        return f"{types[centre]} – ({_counted(types[node] for node in sorted(near[centre]))})"
    return _counted(types.values())


def _counted(types: Iterable[str]) -> str:
    return ", ".join(kind if count == 1 else f"{count} × {kind}" for kind, count in sorted(Counter(types).items()))


def _chosen(values: Sequence[Any], places: Integers) -> tuple[Any, ...]:
    return tuple(values[place] for place in places.tolist()) if values else ()


def _renumbered(numbers: NDArray[np.int32], nodes: Integers) -> NDArray[np.int32]:
    """Numbers of nodes in a part of the graph; −1 for nodes that are left out."""
    number = np.full(max(int(nodes.max(initial=-1)), int(numbers.max())) + 2, -1, dtype=np.int32)
    number[nodes] = np.arange(len(nodes))
    return number[numbers]


def _as_bytes(image: Any) -> NDArray[np.uint8]:
    array = np.asarray(image.detach().cpu() if hasattr(image, "detach") else image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or array.size == 0:
        raise ValueError(f"image must have shape [h, w], [h, w, 3] or [h, w, 4], got {list(array.shape)}")
    if array.dtype == np.bool_:
        array = array.astype(np.float64)
    if np.issubdtype(array.dtype, np.floating):
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise ValueError(f"image: floats must lie in [0, 1], got {array.min():g} … {array.max():g}")
        return np.round(255 * array).astype(np.uint8)
    if array.min() < 0 or array.max() > 255:
        raise ValueError(f"image: whole numbers must lie in 0 … 255, got {array.min()} … {array.max()}")
    return array.astype(np.uint8)


def _reduced(pixels: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """The image at one pixel for each square of ``step`` pixels, their mean; odd margins are cut with the labels."""
    if step == 1:
        return pixels
    # Squares whose middle pixel exists; squares over the edge take the mean of what there is of them.
    rows = range(0, pixels.shape[0] - step // 2, step)
    columns = range(0, pixels.shape[1] - step // 2, step)
    sums = np.add.reduceat(np.add.reduceat(pixels.astype(np.float64), list(rows), axis=0), list(columns), axis=1)
    counts = np.add.reduceat(np.add.reduceat(np.ones(pixels.shape[:2]), list(rows), axis=0), list(columns), axis=1)
    return np.round(sums / (counts if pixels.ndim == 2 else counts[:, :, None])).astype(np.uint8)
