"""What is a coalition worth? A value function over sets of players that sit on a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mage._core.checks import checked_flag, checked_function, checked_names, checked_number, checked_whole
from mage._core.typing import Bits, Floats, Integers, Masks
from mage.games.memo import Memo, distinct
from mage.graph import PlayerGraph, as_masks, checked_graph, component_rows, networkx_order, packing

if TYPE_CHECKING:
    from torch import Tensor

    from mage._torch.outputs import Readout
    from mage.games.node_contributions import NodeContributions
    from mage.games.state_worths import StateWorths

ValueFunction = Callable[[Masks], Any]

_SAMPLE = 32  # random coalitions that show the range of a model's output


class ValueFunctionError(RuntimeError):
    """The user's value function raised, or returned something that is not one finite number per coalition."""


class Game:
    """A cooperative game on a graph: players, edges between them, and a batched value function.

    Worths are normalised, f(T) := value_fn(T) − value_fn(∅), stored across calls, and evaluated in chunks.

    Args:
        value_fn: Maps coalitions as booleans [q, n] to q numbers (array, tensor or list).
        num_players: Number of players n.
        edges: The graph of the players: pairs, a PyG ``edge_index``, a networkx graph or a :class:`PlayerGraph`. None
            is the complete graph, for which the structure-aware indices equal the structure-blind ones.
        names: One name per player, for messages and plots; by default their numbers.
        baseline: value_fn(∅), if it is known; otherwise it costs one query.
        batch_size: Largest number of coalitions in one call of ``value_fn``.
        bytes_per_coalition: Peak memory of ``value_fn`` for one coalition, in bytes.
        memory_cap: Bytes that one call of ``value_fn`` may need; with ``bytes_per_coalition`` it limits the batch.
        memo_capacity: Number of coalitions whose worth is stored.

    Attributes:
        resolution: Rounding unit of the numbers that ``value_fn`` returns.
        player_kind: What players are: ``"nodes"``, ``"edges"`` or ``"features"``.
        level: What the worth belongs to: ``"graph"``, ``"node"``, ``"edge"`` or ``"image"``.
        masking: What the absence of a player means, in a word.
        num_hops: Number of hops of the messages of a model; 0 if it is not known.
        query_cost: Approximate cost of a query in multiplications; 0 if it is not known.
        least_motif_nodes: If M is a share of the players, it allows at least this many.
    """

    player_kind: ClassVar[str] = "nodes"
    level: str = "graph"
    masking: str = ""
    num_hops: int = 0
    query_cost: int = 0
    least_motif_nodes: int = 1

    def __init__(
        self,
        value_fn: ValueFunction,
        num_players: int,
        edges: Any = None,
        names: Sequence[str] | None = None,
        *,
        baseline: float | None = None,
        batch_size: int = 4096,
        bytes_per_coalition: int | None = None,
        memory_cap: int = 1 << 28,
        memo_capacity: int = 1 << 21,
    ) -> None:
        if not callable(value_fn):
            raise TypeError(f"value_fn must be callable, got {type(value_fn).__name__}")
        self.graph = PlayerGraph.of(edges, num_players)
        self.num_players = self.graph.num_players
        # Value functions do not say with what precision they compute.
        self.resolution = float(np.finfo(np.float32).eps)
        if names is None and hasattr(edges, "nodes"):
            names = [str(node) for node in networkx_order(edges)]
        unnamed = tuple(map(str, range(self.num_players)))
        self.names = unnamed if names is None else checked_names(names, self.num_players, "player")
        # Without a word from the user: a mask and a few float copies of it.
        per_coalition = 64 * self.num_players if bytes_per_coalition is None else bytes_per_coalition
        fitting = checked_whole("memory_cap", memory_cap) // checked_whole("bytes_per_coalition", per_coalition)
        memo_capacity = checked_whole("memo_capacity", memo_capacity, least=0)
        self.value_fn = value_fn
        self.batch_size = max(1, min(checked_whole("batch_size", batch_size), fitting))
        self._num_queries = 0
        self._memo = Memo(packing.num_words(self.num_players), memo_capacity)
        self._baseline = None if baseline is None else checked_number("baseline", baseline)

    def __repr__(self) -> str:
        kind = "complete graph" if self.graph.is_complete else f"{self.graph.num_edges} edges"
        return f"{type(self).__name__}({self.num_players} players, {kind}, {self.num_queries:,} queries)"

    @property
    def value_fn(self) -> ValueFunction:
        """Maps coalitions as booleans [q, n] to q numbers."""
        return cast("ValueFunction", MethodType(self._value_fn, self) if self._is_own_method else self._value_fn)

    @value_fn.setter
    def value_fn(self, value_fn: ValueFunction) -> None:
        # Of a method of the game itself only the function is kept: a game that refers to itself is not freed at once.
        self._is_own_method = getattr(value_fn, "__self__", None) is self
        self._value_fn: Any = getattr(value_fn, "__func__", None) if self._is_own_method else value_fn

    @property
    def num_queries(self) -> int:
        """Number of coalitions that the value function has evaluated; the empty coalition counts like any other."""
        return self._num_queries

    @property
    def baseline(self) -> float:
        """value_fn(∅), evaluated once."""
        if self._baseline is None:
            self._baseline = float(self._ask(np.zeros((1, packing.num_words(self.num_players)), dtype=np.uint64))[0])
        return self._baseline

    @cached_property
    def readout(self) -> Readout | None:
        """Which number of a model is explained; None where no model is behind the game."""
        return None

    @cached_property
    def states(self) -> StateWorths | None:
        """Worths by what a message-passing model can tell apart; None where no such model is behind the game."""
        return None

    @cached_property
    def node_contributions(self) -> NodeContributions | None:
        """What each node adds to worths, where a model adds up or averages its nodes and shows them; else None."""
        return None

    @cached_property
    def prediction(self) -> Floats:
        """What the value function says of all players; games of models give the model's output, a number per class."""
        return np.array([self.baseline + self.total])

    @property
    def target(self) -> int | None:
        """Class that is explained; None if there are no classes."""
        return None if self.readout is None else self.readout.target

    @property
    def task(self) -> str:
        """``"multiclass"``, ``"binary"`` or ``"regression"``."""
        return "regression" if self.readout is None else self.readout.task

    @property
    def output(self) -> str:
        """The unit of worths: a logit, a probability, …; ``"value"`` if the game has no model."""
        return "value" if self.readout is None else self.readout.output

    @property
    def return_type(self) -> str:
        """What the model returns."""
        return "raw" if self.readout is None else self.readout.return_type

    @property
    def player_nodes(self) -> Sequence[Sequence[int] | Integers]:
        """Nodes of the input graph that each player stands for."""
        return [(player,) for player in range(self.num_players)]

    @property
    def player_links(self) -> Sequence[tuple[int, int]] | None:
        """The two nodes of the input graph that each player joins, where players are edges; else None."""
        return None

    @property
    def target_nodes(self) -> tuple[int, ...]:
        """The explained node, or both ends of the explained link; empty for a whole graph."""
        return ()

    def settle_output(self, absent: Tensor | None = None) -> None:
        """Where the unit of worths is left open: the target's probability, or its log-odds where that saturates.

        A probability that is all but 1, or all but 0, without any player, with all or with some of them hides what
        others do; log-odds do not. A few random coalitions, always the same ones, show whether that happens.

        Args:
            absent: What the model returns [1, C] without any player, where that is known.
        """
        if self.readout is None or self.readout.output not in ("auto", "bounded-log-odds"):
            return
        if self._baseline is not None:
            raise ValueError("baseline: say with output= which number it is a value of, such as output='probability'")
        from mage._torch.outputs import BEYOND_DOUBT, CERTAIN, SURE

        chance, odds = self.readout.candidates(len(self.prediction))
        nobody = np.zeros((1, self.num_players), dtype=np.bool_)
        known = None if absent is None else np.stack([unit(absent).cpu().numpy() for unit in (chance, odds)])
        readings = self.readings(nobody, (chance, odds)) if known is None else known
        self.readout = chance if self.readout.output == "auto" else odds
        if readings is None or not np.isfinite(readings).all():
            return
        probability, log_odds = readings[:, 0].tolist()
        whole = np.array([chance.of_prediction(self.prediction)])
        if self.readout is chance and not (chance.saturates(readings[0], CERTAIN) or chance.saturates(whole, SURE)):
            sample = self.readings(_random_coalitions(self.num_players), (chance,))
            if sample is None or not self.readout.saturates(sample[0], BEYOND_DOUBT):
                self._baseline = probability
                return
        self.readout, self._baseline = odds, log_odds
        if odds.output == "bounded-log-odds":
            self.readout = odds.bounded(log_odds, odds.of_prediction(self.prediction))

    @property
    def rounding(self) -> float:
        """How far one rounding of the model's numbers moves a worth, in the unit of worths."""
        # The prediction is known; the worth of all players may be a query of its own where they are only some nodes.
        size = float(np.abs(self.prediction).max())
        if self.readout is None:
            return self.resolution * max(size, abs(self.baseline))
        ends = (self.baseline, self.readout.of_prediction(self.prediction))
        of_model = max(self.readout.rounding(value, self.resolution, size) for value in ends)
        return of_model + float(np.finfo(np.float64).eps) * max(map(abs, ends))

    @property
    def total(self) -> float:
        """Worth f(V) of all players together."""
        return float(self.worth(np.ones((1, self.num_players), dtype=np.bool_))[0])

    def worth(self, coalitions: Any) -> Floats:
        """Normalised worth f(T) of each coalition; each distinct one is evaluated at most once.

        Args:
            coalitions: Booleans [q, n], one set of players, or an iterable of sets of players.
        """
        return self.worth_of_bits(packing.pack(as_masks(coalitions, self.num_players)))

    def outcomes(self, coalitions: Any) -> tuple[Floats, Floats | None]:
        """Outputs of a model on coalitions in the unit of worths, not normalised, and the target's probability.

        The probability is None if there are no classes, or if the game cannot compute it.

        Args:
            coalitions: Booleans [q, n], one set of players, or an iterable of sets of players.
        """
        masks, readout = as_masks(coalitions, self.num_players), self.readout
        if readout is not None and readout.hides_probability:
            readouts = (readout, readout.as_probability)
            starts = range(0, len(masks), self.batch_size)
            parts = [self.readings(masks[start : start + self.batch_size], readouts) for start in starts]
            answers = [part for part in parts if part is not None]
            if answers:
                values, probabilities = np.concatenate(answers, axis=1)
                return values, probabilities
        values = self.baseline + self.worth(masks)
        return values, None if readout is None else readout.probability(values)

    def readings(self, masks: Masks, readouts: Sequence[Readout]) -> Floats | None:
        """Several numbers [r, q] of a model's outputs on coalitions [q, n], from one run; None without a model."""
        del masks, readouts
        return None

    def restricted_worth(self, coalitions: Any) -> Floats:
        """f|_E(T): the sum of the worths of T's connected components (Algorithm 2 of the paper)."""
        labels = self.graph.component_labels(coalitions)
        rows, ranks = component_rows(labels)
        total = np.zeros(len(labels))
        # A few components at a time: each is a row of its own.
        for start in range(0, len(rows), self.batch_size):
            part = slice(start, start + self.batch_size)
            np.add.at(total, rows[part], self.worth(labels[rows[part]] == ranks[part, None]))
        return total

    def worth_of_bits(self, coalitions: Bits, all_distinct: bool = False) -> Floats:
        """:meth:`worth` for coalitions as words; ``all_distinct`` says that no row occurs twice."""
        worths, unknown = self._memo.recall(packing.checked("coalitions", coalitions, self.num_players))
        if len(unknown) == 0:
            return worths
        missing = coalitions[unknown]
        rows = np.arange(len(missing))
        if not checked_flag("all_distinct", all_distinct):
            missing, rows = distinct(missing)
        fresh = np.empty(len(missing))
        baseline = self.baseline
        for start in range(0, len(missing), self.batch_size):
            chunk = missing[start : start + self.batch_size]
            empty = ~chunk.any(axis=1)
            nonempty = chunk if not empty.any() else chunk[~empty]
            answers = np.zeros(len(chunk))
            if len(nonempty):
                answers[~empty] = self._ask(nonempty) - baseline
            fresh[start : start + len(chunk)] = answers
            # Remembered chunk by chunk: an interruption loses nothing that was paid for.
            self._memo.remember(chunk, answers)
        worths[unknown] = fresh[rows]
        return worths

    def connected_worths(self, graph: PlayerGraph, tick: Callable[[int], None] | None = None) -> Floats:
        """Worths of all connected coalitions of a graph, in the order of :meth:`PlayerGraph.blocks`.

        Args:
            graph: The game's own graph, or another one of its players.
            tick: Called with the number of coalitions done, block after block.
        """
        parts = []
        tick = tick if tick is None else checked_function("tick", tick)
        for block in checked_graph("graph", graph, self.num_players).blocks():
            parts.append(self.worth_of_bits(block.members, all_distinct=True))
            if tick is not None:
                tick(len(parts[-1]))
        return np.concatenate(parts)

    def describe(self, coalition: Any) -> str:
        """A coalition in words, for messages."""
        players = np.flatnonzero(as_masks(coalition, self.num_players).any(axis=0)).tolist()
        if not players:
            return "the empty coalition"
        listing = ", ".join(str(player) for player in players[:20]) + (", …" if len(players) > 20 else "")
        text = f"coalition {{{listing}}}"
        if self.names != tuple(str(i) for i in range(self.num_players)):
            text += " (" + ", ".join(self.names[p] for p in players[:20]) + (", …)" if len(players) > 20 else ")")
        return text

    # -- the one place where the user's function is called --------------------------------------------------------

    def _ask(self, coalitions: Bits) -> Floats:
        self._num_queries += len(coalitions)
        try:
            values = self.value_fn(self._masks(coalitions))
        except Exception as error:
            # Which coalition it was is worth a few more calls: the run is over anyway.
            where = self._first_culprit(coalitions)
            raise ValueFunctionError(f"value_fn raised {type(error).__name__} on {where}: {error}") from error
        # User functions may write into the masks they get, so messages read them anew.
        batch = f"on a batch that starts with {self.describe(self._masks(coalitions[:1]))}"
        try:
            answers = _as_numbers(values)
        except (TypeError, ValueError) as error:
            kind = type(values).__name__
            raise ValueFunctionError(
                f"value_fn must return {len(coalitions)} real numbers, got {kind} {batch}"
            ) from error
        if answers.shape != (len(coalitions),):
            shape = list(answers.shape)
            raise ValueFunctionError(f"value_fn must return shape [{len(coalitions)}], got {shape} {batch}")
        wrong = np.flatnonzero(~np.isfinite(answers))
        if len(wrong):
            coalition = self.describe(self._masks(coalitions[wrong[:1]]))
            raise ValueFunctionError(f"value_fn returned {answers[wrong[0]]} for {coalition}")
        return answers

    def _masks(self, coalitions: Bits) -> Masks:
        return packing.unpack(coalitions, self.num_players)

    def _first_culprit(self, coalitions: Bits) -> str:
        """The coalition that makes the value function raise, by bisection."""
        first = coalitions[:1]
        while len(coalitions) > 1:
            half = len(coalitions) // 2
            coalitions = coalitions[:half] if self._raises(coalitions[:half]) else coalitions[half:]
        if self._raises(coalitions):
            return self.describe(self._masks(coalitions))
        return "a batch that starts with " + self.describe(self._masks(first))

    def _raises(self, coalitions: Bits) -> bool:
        try:
            self.value_fn(self._masks(coalitions))
        except Exception:
            return True
        return False


def _as_numbers(values: Any) -> Floats:
    """Numbers out of an array, a tensor of any precision or device, or a list."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values if values.is_complex() else values.double()).numpy()
    array = np.asarray(values)
    if np.iscomplexobj(array):
        raise TypeError("complex numbers have no order")
    return array.astype(np.float64)


def _random_coalitions(num_players: int) -> Masks:
    """A few coalitions of all sizes, the same in every game with as many players."""
    generator = np.random.default_rng(0)
    shares = generator.random((_SAMPLE, 1))
    return np.asarray(generator.random((_SAMPLE, num_players)) < shares)
