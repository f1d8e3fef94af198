"""Graphs of coloured nodes whose class is a rule about small patterns; :mod:`mage.models.rules` has the networks.

The label of a graph is what a network computes whose weights are set by a formula, so the ground truth is what the
network does, and not what one hopes that it has learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mage._core.optional import require
from mage.datasets.columns import Columns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, generated
from mage.datasets.shapes import Edges, Sketch, columns_of_sketches
from mage.datasets.training_plans import NO_ATTENTION, SMALL_NETWORKS, NetworkPlans

NUM_COLOURS = 8
"""Colour 0 is that of all other nodes."""
_BASE_SIZES = (10, 15)
_MOST_DECOYS = 2


@dataclass(frozen=True)
class Pattern:
    """A node of one colour with a neighbour of each of some others.

    Args:
        centre: Colour of the node.
        leaves: Colours of its neighbours.
    """

    centre: int
    leaves: tuple[int, ...]

    @property
    def edges(self) -> Edges:
        """Its edges; the centre is node 0."""
        return tuple((0, leaf) for leaf in range(1, len(self.leaves) + 1))

    @property
    def colours(self) -> tuple[int, ...]:
        """Colours of its nodes."""
        return (self.centre, *self.leaves)

    def without(self, leaf: int) -> Pattern:
        """The pattern without one of its leaves, which no network takes for it."""
        return replace(self, leaves=(*self.leaves[:leaf], *self.leaves[leaf + 1 :]))


PATTERNS = (Pattern(1, (2, 3)), Pattern(4, (5, 6, 7)))
"""The two patterns that rules are about, of three nodes and of four."""


@dataclass(frozen=True)
class Rule:
    """A rule: the class is 1 iff Σ weight · number of copies of a pattern > threshold.

    Args:
        text: The rule in words; A and B are the two patterns.
        weights: Weights of the two patterns.
        threshold: The threshold.
        copies: Numbers of copies of both patterns that graphs have.
        label: Explain graphs of this class only.
    """

    text: str
    weights: tuple[float, float]
    threshold: float
    copies: Sequence[tuple[int, int]]
    label: int | None = 1

    def label_of(self, copies: Sequence[int]) -> int:
        """The class of a graph with so many copies of each pattern."""
        return int(sum(weight * count for weight, count in zip(self.weights, copies, strict=True)) > self.threshold)


RULES: Mapping[str, Rule] = {
    "rule_and": Rule("A and B", (1, 1), 1.5, ((0, 0), (1, 0), (0, 1), (1, 1))),
    "rule_or": Rule("A or B", (1, 1), 0.5, ((0, 0), (1, 0), (0, 1), (1, 1))),
    "rule_not": Rule("A and not B", (1, -1), 0.5, ((1, 0), (0, 1), (1, 1)), label=None),
    "rule_count": Rule("two copies of A or more", (1, 0), 1.5, ((0, 1), (1, 0), (2, 0), (2, 1), (3, 0))),
}
"""Rules by the names of their datasets."""


def rule_info(name: str, title: str, class_names: tuple[str, str]) -> DatasetInfo:
    """The entry of the dataset of a rule."""
    rule = RULES[name]
    return DatasetInfo(
        name=name,
        title=title,
        class_names=class_names,
        truth=f"the patterns of the rule: {rule.text}; node_sign is −1 where a pattern is against the class",
        settings=ExplanationSettings("remove", "logit", num_motifs=None, label=rule.label),
        build=partial(_build, name),
        options=("seed", "count"),
        networks=NetworkPlans(arguments=SMALL_NETWORKS, kinds=NO_ATTENTION),
        num_graphs=1000,
    )


def _build(name: str, _root: DataRoot, *, seed: int = 0, count: int = 1000) -> Content:
    return generated(rule_graphs(RULES[name], count, np.random.default_rng(seed)), seed)


def rule_graphs(rule: Rule, count: int, generator: np.random.Generator) -> Columns:
    """Trees with patterns and with decoys, which are patterns without one of their leaves.

    Half of the graphs have the label 1. What the rule gives no weight is a decoy too.
    """
    labels = generator.permutation(np.arange(count) % 2).tolist()
    sketches, colours, signs = [], [], []
    for label in labels:
        kinds = [copies for copies in rule.copies if rule.label_of(copies) == label]
        sketch, painter = _planted(rule, kinds[generator.integers(len(kinds))], label, generator)
        sketches.append(sketch)
        colours += painter.colours
        signs += painter.signs
    x = np.eye(NUM_COLOURS, dtype=np.float32)[colours]
    columns = columns_of_sketches(sketches, labels, x)
    torch = require("torch", "pyg")
    return replace(columns, nodes={**columns.nodes, "node_sign": torch.tensor(signs, dtype=torch.int8)})


@dataclass
class _Painter:
    """Colours of the nodes of a graph so far, and whether they are for its class (1), against it (−1) or neither."""

    colours: list[int]
    signs: list[int]

    def add(self, pattern: Pattern, sign: int) -> None:
        self.colours += pattern.colours
        self.signs += [sign] * len(pattern.colours)


def _planted(rule: Rule, copies: Sequence[int], label: int, generator: np.random.Generator) -> tuple[Sketch, _Painter]:
    """A tree with so many copies of each pattern, and some decoys."""
    networkx = require("networkx", "pyg")
    size = int(generator.integers(_BASE_SIZES[0], _BASE_SIZES[1] + 1))
    sketch = Sketch(size, networkx.barabasi_albert_graph(size, 1, seed=int(generator.integers(2**31))).edges)
    painter = _Painter([0] * size, [0] * size)
    for pattern, number, weight in zip(PATTERNS, copies, rule.weights, strict=True):
        sign = int(np.sign(weight)) * (1 if label == 1 else -1)
        for _ in range(number):
            sketch.attach_anywhere(pattern.edges, generator, in_truth=sign != 0)
            painter.add(pattern, sign)
    for _ in range(int(generator.integers(_MOST_DECOYS + 1))):
        whole = PATTERNS[int(generator.integers(len(PATTERNS)))]
        decoy = whole.without(int(generator.integers(len(whole.leaves))))
        sketch.attach_anywhere(decoy.edges, generator, in_truth=False)
        painter.add(decoy, 0)
    return sketch, painter
