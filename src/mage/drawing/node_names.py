"""Names of nodes as pages, figures and tables show them: names that tell the nodes apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mage.drawing.molecules import molecule_of

if TYPE_CHECKING:
    from mage.explanation import Explanation


def shown_names(explanation: Explanation, symbols: Sequence[str] | None = None) -> list[str]:
    """Names that tell nodes apart: atoms without names are called by their element, equal names get their number.

    Args:
        explanation: What is shown.
        symbols: Elements of the atoms, empty where the nodes are none; by default those of the molecule.
    """
    if symbols is None:
        molecule = molecule_of(explanation)
        symbols = () if molecule is None else molecule.elements
    names = list(explanation.names)
    if symbols and names in ([str(node) for node in range(len(names))], list(symbols)):
        return [f"{symbol}{node}" for node, symbol in enumerate(symbols)]
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} ·{node}" for node, name in enumerate(names)]


def player_names(explanation: Explanation, nodes: Sequence[str]) -> list[str]:
    """Names of the players: where a player is a single node, that of the node.

    Args:
        explanation: What is shown.
        nodes: Names of the nodes.
    """
    return [
        nodes[members[0]] if len(members) == 1 and name == explanation.names[members[0]] else name
        for members, name in zip(explanation.players, explanation.interactions.names, strict=True)
    ]
