"""The explanations of a folder as entries that can be compared: labelled graphs, classes, right or wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mage.drawing import Molecule, molecule_of, words_of
from mage.drawing.labelled_graphs import LabelledGraph
from mage.drawing.motif_names import molecule_graph
from mage.drawing.scene_builders import types_of
from mage.explanation import Explanation, Origin

_NUMBERED = re.compile(r"(\d{6,})-[0-9a-f]{16}\.mage")


@dataclass(frozen=True)
class Entry:
    """An explanation of a corpus.

    Attributes:
        file: Name of its file.
        explanation: The explanation.
        molecule: The molecule it is about; None if it is about none.
        graph: The whole graph with labels that can be compared across graphs.
    """

    file: str
    explanation: Explanation
    molecule: Molecule | None
    graph: LabelledGraph

    @property
    def origin(self) -> Origin:
        """Where the graph comes from."""
        return self.explanation.origin or Origin()

    @property
    def number(self) -> int | None:
        """Position of the graph (or node) in its dataset: as it was recorded, or as the name of the file says."""
        position = self.origin.position
        match = _NUMBERED.fullmatch(self.file)
        return int(match[1]) if position is None and match is not None else position

    @property
    def name(self) -> str:
        """What to call the graph: its number, or the name of its file."""
        return str(self.number) if self.number is not None else self.file.removesuffix(".mage")

    @property
    def predicted(self) -> int | None:
        """The predicted class; None for regression."""
        probabilities = self.explanation.probabilities
        return None if probabilities is None else int(probabilities.argmax())

    @property
    def label(self) -> int | None:
        """The true class, where it is known."""
        return self.origin.label

    @property
    def right(self) -> bool | None:
        """Whether the prediction is true; None where that is not known."""
        return None if self.label is None or self.predicted is None else self.predicted == self.label

    @property
    def source(self) -> str:
        """Dataset and model in words; empty where they are not known."""
        return ", ".join(part for part in (self.origin.dataset, self.origin.model) if part)

    @cached_property
    def truth(self) -> frozenset[int]:
        """Nodes of the ground truth; empty where there is none."""
        return frozenset(node for motif in self.origin.truth for node in motif)


def read_entries(paths: list[Path]) -> tuple[list[Entry], list[tuple[str, str]]]:
    """The explanations in some files, and the files that could not be read with the reason.

    Orders of bonds count only if all molecules have them, so that patterns of different molecules can be compared.
    """
    read: list[tuple[str, Explanation]] = []
    skipped: list[tuple[str, str]] = []
    for path in paths:
        try:
            read.append((path.name, Explanation.load(path)))
        except (ValueError, OSError) as error:
            skipped.append((path.name, str(error).replace(str(path), path.name)))
    molecules = [molecule_of(explanation) for _, explanation in read]
    orders = all(molecule.has_orders for molecule in molecules if molecule is not None)
    entries = [
        Entry(file, explanation, molecule, _labelled(explanation, molecule, orders))
        for (file, explanation), molecule in zip(read, molecules, strict=True)
    ]
    return entries, skipped


def class_names(entries: list[Entry]) -> list[str]:
    """Names of the classes, as the explanations carry them; class 0, class 1 and so on where they do not."""
    variants = {entry.explanation.class_names for entry in entries} - {()}
    first = (
        list(variants.pop()) if len(variants) == 1 else []
    )  # of several datasets one name must not stand for two things
    numbers = [value for entry in entries for value in (entry.explanation.target, entry.label, entry.predicted)]
    count = max([value + 1 for value in numbers if value is not None], default=0)
    return first + [f"class {number}" for number in range(len(first), count)]


def _labelled(explanation: Explanation, molecule: Molecule | None, orders: bool) -> LabelledGraph:
    if molecule is not None:
        return molecule_graph(molecule, orders)
    if types := types_of(explanation):
        return LabelledGraph.make(types, ((i, j, "") for i, j in explanation.edge_index.T.tolist()))
    numbered = all(name.strip().isdigit() for name in explanation.names)
    labels = [""] * explanation.num_nodes if numbered else [str(word) for word in words_of(explanation)]
    return LabelledGraph.make(labels, ((i, j, "") for i, j in explanation.edge_index.T.tolist()))
