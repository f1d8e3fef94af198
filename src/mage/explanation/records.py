"""What an explanation records: what follows from it, stages, players that were left out, where the graph is from."""

from __future__ import annotations

from dataclasses import dataclass

from mage.motifs import Motif


@dataclass(frozen=True)
class CoalitionOutput:
    """What the model says when only some nodes are there.

    Attributes:
        value: The explained output, in its unit.
        probability: The probability of the target class; None for regression, and where it is not known.
    """

    value: float
    probability: float | None = None


@dataclass(frozen=True)
class Effect:
    """What a group of nodes does by itself, and what is left of the output without it.

    Attributes:
        alone: With only the group.
        without: With all players but the group.
    """

    alone: CoalitionOutput
    without: CoalitionOutput


@dataclass(frozen=True)
class Consequences:
    """What follows from motifs: the model was run with only them and without them.

    Attributes:
        baseline: With no player.
        prediction: On the whole input.
        motifs: The effect of each motif, in their order.
        together: The effect of all motifs together; None where there is no motif.
        num_queries: Calls of the model that they caused; what was known already is free.
        against: The effect of each motif against the output, where both sides were searched apart.
    """

    baseline: CoalitionOutput
    prediction: CoalitionOutput
    motifs: tuple[Effect, ...]
    together: Effect | None
    num_queries: int
    against: tuple[Effect, ...] = ()

    @property
    def each(self) -> tuple[Effect, ...]:
        """The effects of all motifs, those against the output last."""
        return (*self.motifs, *self.against)

    @property
    def outputs(self) -> list[CoalitionOutput]:
        """All outputs."""
        effects = [*self.motifs, *([] if self.together is None else [self.together])]
        return [
            self.baseline,
            self.prediction,
            *(part for effect in effects for part in (effect.alone, effect.without)),
        ]


@dataclass(frozen=True)
class Stage:
    """One stage in which groups of nodes played, before the nodes of the best groups played again.

    Attributes:
        players: Nodes of the input graph in each group.
        kept: Groups whose nodes went on.
        motifs: Motifs of groups.
        first_order: First-order term of each group.
        pairs: Non-zero interactions of two groups: both groups, the value and its standard error.
        exact: Whether these values are exact.
        method: How they were computed.
        num_queries: Calls of the model that the stage caused.
    """

    players: tuple[tuple[int, ...], ...]
    kept: tuple[int, ...]
    motifs: tuple[Motif, ...]
    first_order: tuple[float, ...]
    pairs: tuple[tuple[int, int, float, float], ...]
    exact: bool
    method: str
    num_queries: int


@dataclass(frozen=True)
class PlayersCap:
    """Players left out because there were too many.

    Attributes:
        players: Players before.
        kept: Players that were left.
        by: How they were chosen.
        others: Whether the nodes of the others were ``"present"`` or ``"absent"`` from then on.
        num_queries: Calls of the model that the choice caused.
    """

    players: int
    kept: int
    by: str
    others: str
    num_queries: int


@dataclass(frozen=True, repr=False)
class MotifFeatures:
    """Which features of a motif's nodes matter, while all else stays as it is.

    Attributes:
        nodes: The nodes.
        columns: Columns of ``x`` that differ from what stands for their absence; all others contribute nothing. In a
            graph with types columns are counted over all types.
        names: Their names.
        values: What each of them contributes to the output, in its unit.
        std_error: Standard errors of the values; 0 where they are exact.
        total: What all of them contribute together.
        index: Name of the index.
        exact: Whether the values are exact.
        method: How they were computed.
        absent: What stood for an absent feature: ``"zero"`` or ``"mean"``.
        num_queries: Calls of the model that they caused.
    """

    nodes: tuple[int, ...]
    columns: tuple[int, ...]
    names: tuple[str, ...]
    values: tuple[float, ...]
    std_error: tuple[float, ...]
    total: float
    index: str
    exact: bool
    method: str
    absent: str
    num_queries: int

    def top(self, count: int = 10) -> list[tuple[str, float, float]]:
        """The features that contribute most, for or against: name, value and standard error."""
        rows = list(zip(self.names, self.values, self.std_error, strict=True))
        return sorted(rows, key=lambda row: -abs(row[1]))[:count]

    def __repr__(self) -> str:
        how = "exact" if self.exact else self.method
        lines = [f"MotifFeatures({len(self.names)} features of {len(self.nodes)} nodes, {self.index}, {how})"]
        for name, value, error in self.top():
            side = "for    " if value >= 0 else "against"
            lines.append(f"  {side} {value:+.4g}{'' if self.exact else f' ± {error:.2g}'}  {name}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Origin:
    """Where an explained graph comes from, and what is known to be true of it.

    Attributes:
        dataset: Title of the dataset; empty where it is not known.
        model: Name of the model; empty where it is not known.
        position: Position of the graph in the dataset; of the node in a node-level dataset.
        label: The true class.
        truth: Nodes of each motif of the ground truth.
    """

    dataset: str = ""
    model: str = ""
    position: int | None = None
    label: int | None = None
    truth: tuple[tuple[int, ...], ...] = ()
