"""``mage.find_motifs``: which groups of nodes?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mage._core.checks import checked_whole
from mage._core.typing import Floats, Integers, Masks
from mage.graph import PlayerGraph, checked_player
from mage.indices import Interactions
from mage.motifs.heuristic import heuristic_motifs
from mage.motifs.problem import NO_TRIPLES, MotifProblem
from mage.motifs.result import Motif, MotifSet
from mage.motifs.search import Outcome, search_motifs

SOLVERS = ("auto", "search", "milp")
DEFAULT_SOLVER_NODES = 100
_LARGEST_ORDER = 3
_MOST_PAIR_VARIABLES = 3_000  # of a programme that may follow the search; larger ones proved nothing more in minutes
_MOST_DENSE_TRIPLES = 400  # players; the search holds an n × n × n array of them


def find_motifs(
    interactions: Interactions | Any,
    edges: Any = None,
    num_motifs: int = 1,
    max_nodes: int | float = 0.3,
    tau: float = 1.0,
    connected: bool = True,
    *,
    noise_floor: float = 0.0,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    solver: str = "auto",
    node_limit: int | None = None,
) -> MotifSet:
    """Find disjoint connected groups of nodes whose interactions weigh most.

    Maximises Σ |GrAttr(S)| over at most m sets S with at most M nodes in all, where GrAttr adds up all interactions
    inside S, positive ones weighted by τ and negative ones by 1 − τ. The answer is proven optimal unless it says
    otherwise.

    Args:
        interactions: An index of order 1, 2 or 3, or a plain matrix [n, n] (pairs off the diagonal, symmetric; single
            nodes on it), which edge-based explainers can fill.
        edges: The graph; needed with a plain matrix, otherwise that of the interactions.
        num_motifs: m, the largest number of motifs.
        max_nodes: M, nodes in all motifs together: a whole number, or a share of n in (0, 1) (at least one node).
        tau: τ in [0, 1]: 1 finds what speaks for the output, 0 what speaks against it, values between weigh both.
        connected: False lets a motif be any set of nodes.
        noise_floor: Interactions of at most this share of the largest of their sign count as zero.
        include: Nodes that must be in some motif.
        exclude: Nodes that must be in none.
        solver: ``"search"`` (compiled branch and bound), ``"milp"`` (HiGHS), or ``"auto"``: the search, and where its
            limit does not suffice and the programme is not too large, HiGHS from where it stopped.
        node_limit: Search or solver nodes to spend at most; by default up to 1,000,000 (fewer for large graphs, whose
            nodes cost more) and 100. A limited answer is feasible and carries its bound.

    Returns:
        The motifs, strongest first, with objective, bound and proof.

    Raises:
        ValueError: An argument does not make sense, or no family of motifs holds all ``include`` nodes.
    """
    check_request(num_motifs, max_nodes, tau, noise_floor, solver)
    weights, graph, names = _weights(interactions, edges)
    n = graph.num_players
    tau, noise_floor = float(tau), float(noise_floor)
    if node_limit is not None:
        checked_whole("node_limit", node_limit)
    node, pair, triple = _weighted(weights, tau, noise_floor)
    problem = MotifProblem(
        graph=graph if connected else PlayerGraph.complete(n),
        node=node,
        pair=pair,
        triple=triple,
        num_motifs=checked_whole("num_motifs", num_motifs),
        max_nodes=checked_max_nodes(max_nodes, n),
        required=_checked_nodes("include", include, n),
        forbidden=_checked_nodes("exclude", exclude, n),
    )
    _check_possible(problem)
    labels, bound, work, used = _solved(problem, solver, node_limit)
    labels = _trimmed(problem, labels)
    motifs = [
        Motif(tuple(nodes), problem.attribution(labels == label), tuple(names[v] for v in nodes))
        for label in np.unique(labels[labels != 0]).tolist()
        for nodes in [np.flatnonzero(labels == label).tolist()]
    ]
    motifs.sort(key=lambda motif: (-abs(motif.score), motif.nodes))
    objective = sum(abs(motif.score) for motif in motifs)
    bound = max(bound, objective)
    return MotifSet(
        motifs=tuple(motifs),
        objective=objective,
        bound=bound,
        optimal=bound - objective <= 1e-8 * max(problem.scale, abs(objective)),
        num_nodes=n,
        num_motifs=problem.num_motifs,
        max_nodes=problem.max_nodes,
        tau=tau,
        connected=connected,
        solver=used,
        work=work,
        noise_floor=noise_floor,
        include=tuple(np.flatnonzero(problem.required).tolist()),
        exclude=tuple(np.flatnonzero(problem.forbidden).tolist()),
    )


def check_request(
    num_motifs: int, max_nodes: int | float, tau: float, noise_floor: float, solver: str, order: int = 1
) -> None:
    """Refuse what no search can do. This takes no interactions, so that none need be paid for first."""
    checked_whole("num_motifs", num_motifs)
    checked_max_nodes(max_nodes, 1)
    for name, share in (("tau", tau), ("noise_floor", noise_floor)):
        if not isinstance(share, int | float | np.number) or not 0 <= float(share) <= 1:
            raise ValueError(f"{name} must be a number in [0, 1], got {share!r}")
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}")
    if order > _LARGEST_ORDER:
        raise ValueError(f"order: motifs are searched for order 1, 2 and 3, got order {order}")


def checked_max_nodes(max_nodes: int | float, num_nodes: int, least: int = 1) -> int:
    """M as a number of nodes; a share gives ``least`` of them at least."""
    if isinstance(max_nodes, float | np.floating) and 0 < max_nodes < 1:
        # Shares are meant as people write them: 0.3 of 10 is 3, whatever binary fractions make of it.
        return min(max(least, math.floor(max_nodes * num_nodes + 1e-9)), num_nodes)
    try:
        return min(checked_whole("max_nodes", max_nodes), num_nodes)
    except ValueError:
        raise ValueError(
            f"max_nodes must be a whole number ≥ 1 or a share of the nodes in (0, 1), got {max_nodes!r}"
        ) from None


def default_search_nodes(num_nodes: int) -> int:
    """Search nodes spent by default: a constant amount of work, as a node costs time with the square of the graph."""
    return int(min(1_000_000, max(2_000, 4_000_000_000 // num_nodes**2)))


# -- solving ------------------------------------------------------------------------------------------------------


def _solved(problem: MotifProblem, solver: str, node_limit: int | None) -> tuple[Integers, float, int, str]:
    """Labels, bound, work and the name of what produced them."""
    start: Integers | None = heuristic_motifs(problem)
    if problem.required.any():
        start = None
    steps: list[tuple[str, Callable[[MotifProblem, Integers | None, int], Outcome], int]] = []
    if solver in ("auto", "search"):
        steps.append(("search", search_motifs, node_limit or default_search_nodes(problem.num_nodes)))
    slots = 1 if problem.one_sign else 2 * problem.num_motifs
    if solver == "milp" or (solver == "auto" and slots * np.count_nonzero(problem.pair) / 2 <= _MOST_PAIR_VARIABLES):
        from mage.motifs.milp import solve_program

        steps.append(("milp", solve_program, node_limit or DEFAULT_SOLVER_NODES))
    bound, work, used = math.inf, 0, []
    for name, solve, limit in steps:
        outcome = solve(problem, start, limit)
        used.append(name)
        work += outcome.work
        bound = min(bound, outcome.bound)
        start = outcome.labels if outcome.labels is not None else start
        if start is None:
            if outcome.work < limit:
                raise ValueError(_impossible(problem))
        elif bound <= problem.objective(start) + 1e-9 * problem.scale:
            break
    if start is None:
        raise ValueError("node_limit: no motifs that hold all of include were found within it; raise it")
    return start, bound, work, " + ".join(used)


def _impossible(problem: MotifProblem) -> str:
    nodes = np.flatnonzero(problem.required).tolist()
    return (
        f"include: no {problem.num_motifs} connected motifs of at most {problem.max_nodes} nodes in all hold {nodes}; "
        "raise max_nodes or num_motifs, or include fewer nodes"
    )


def _trimmed(problem: MotifProblem, labels: Integers) -> Integers:
    """Without nodes that add nothing: a smaller motif of the same worth says more."""
    labels = labels.copy()
    for label in set(labels[labels != 0].tolist()):
        shrinking = True
        while shrinking:
            shrinking = False
            members = labels == label
            worth = abs(problem.attribution(members))
            for v in np.flatnonzero(members & ~problem.required).tolist():
                fewer = members.copy()
                fewer[v] = False
                if not fewer.any():
                    lost = worth
                elif not problem.graph.is_connected(fewer[None])[0]:
                    continue
                else:
                    lost = worth - abs(problem.attribution(fewer))
                if lost <= problem.tolerance:
                    labels[v] = 0
                    shrinking = True
                    break
    return labels


# -- arguments ----------------------------------------------------------------------------------------------------


def _weights(source: Any, edges: Any) -> tuple[tuple[Floats, Floats, Floats], PlayerGraph, tuple[str, ...]]:
    """First-, second- and third-order terms, the graph, and the names of its nodes."""
    if isinstance(source, Interactions):
        if source.order > _LARGEST_ORDER:
            raise ValueError(f"interactions: motifs are searched for order 1, 2 and 3, got order {source.order}")
        graph = source.graph if edges is None else PlayerGraph.of(edges, source.num_players)
        matrix, triple = source.matrix, _dense_triples(source)
        names = source.names
        if np.isnan(source.values).any():
            raise ValueError("interactions: contains NaN")
    else:
        if hasattr(source, "detach"):
            source = source.detach().cpu().numpy()
        try:
            matrix = np.asarray(source, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"interactions must be Interactions or a matrix, got {type(source).__name__}") from error
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
            raise ValueError(f"interactions: a plain matrix must have shape [n, n], got {list(matrix.shape)}")
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
            raise ValueError(f"interactions: entry ({row}, {column}) is {matrix[row, column]}; all must be finite")
        if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12 * np.abs(matrix).max()):
            raise ValueError("interactions: a plain matrix must be symmetric; average it with its transpose")
        if edges is None:
            raise ValueError("edges: needed with a plain matrix, to know which nodes are connected")
        graph, triple = PlayerGraph.of(edges, len(matrix)), NO_TRIPLES
        names = tuple(str(i) for i in range(len(matrix)))
    pair = (matrix + matrix.T) / 2
    np.fill_diagonal(pair, 0.0)
    return (np.diag(matrix).copy(), pair, triple), graph, names


def _dense_triples(interactions: Interactions) -> Floats:
    if interactions.order < 3 or interactions.num_players < 3:
        return NO_TRIPLES
    n = interactions.num_players
    if n > _MOST_DENSE_TRIPLES:
        raise ValueError(
            f"interactions: order 3 is searched for up to {_MOST_DENSE_TRIPLES} nodes, got {n}; use order 2"
        )
    subsets, values, _ = interactions.of_size(3)
    dense = np.zeros((n, n, n))
    for axes in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        dense[tuple(subsets[:, axis] for axis in axes)] = values
    return dense


def _weighted(weights: tuple[Floats, Floats, Floats], tau: float, noise_floor: float) -> tuple[Floats, Floats, Floats]:
    """τ B⁺ + (1 − τ) B⁻, small entries dropped for each sign separately."""
    top = max(part.max(initial=0.0) for part in weights)
    bottom = min(part.min(initial=0.0) for part in weights)

    def weigh(part: Floats) -> Floats:
        positive = np.where((part > 0) & (part > noise_floor * top), part, 0.0)
        negative = np.where((part < 0) & (part < noise_floor * bottom), part, 0.0)
        return np.ascontiguousarray(tau * positive + (1 - tau) * negative)

    node, pair, triple = (weigh(part) for part in weights)
    return node, pair, triple if (triple != 0).any() else NO_TRIPLES


def _checked_nodes(name: str, nodes: Iterable[int], num_nodes: int) -> Masks:
    if not isinstance(nodes, Iterable):
        raise ValueError(f"{name} must be a list of nodes, got {nodes!r}")
    mask = np.zeros(num_nodes, dtype=np.bool_)
    for node in nodes:
        try:
            mask[checked_player(node, num_nodes)] = True
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return mask


def _check_possible(problem: MotifProblem) -> None:
    """Refuse requests that no family can meet, before solving."""
    both = np.flatnonzero(problem.required & problem.forbidden).tolist()
    if both:
        raise ValueError(f"include and exclude both name nodes {both}")
    if problem.required.sum() > problem.max_nodes:
        count = int(problem.required.sum())
        raise ValueError(f"include names {count} nodes, more than max_nodes = {problem.max_nodes}; raise max_nodes")
    labels = problem.graph.component_labels(~problem.forbidden[None])[0]
    if len(np.unique(labels[problem.required])) > problem.num_motifs:
        raise ValueError(_impossible(problem))
