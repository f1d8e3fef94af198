"""``mage.find_motifs``: which groups of nodes?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from mage._core.typing import Integers
from mage.indices import Interactions
from mage.motifs.problem import MotifProblem
from mage.motifs.request import MotifRequest, checked_nodes
from mage.motifs.result import Motif, MotifSet
from mage.motifs.solvers import Solution, solve
from mage.motifs.terms import terms_of

_USUAL = MotifRequest()


def find_motifs(
    interactions: Interactions | Any,
    edges: Any = None,
    num_motifs: int = _USUAL.num_motifs,
    max_nodes: int | float = _USUAL.max_nodes,
    tau: float = _USUAL.tau,
    connected: bool = _USUAL.connected,
    *,
    objective: str = _USUAL.objective,
    noise_floor: float = _USUAL.noise_floor,
    include: Iterable[int] = _USUAL.include,
    exclude: Iterable[int] = _USUAL.exclude,
    solver: str = _USUAL.solver,
    node_limit: int | None = _USUAL.node_limit,
    request: MotifRequest | None = None,
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
        objective: What makes a group strong, see :data:`mage.motifs.objective.OBJECTIVES`.
        noise_floor: Interactions of at most this share of the largest of their sign count as zero.
        include: Nodes that must be in some motif.
        exclude: Nodes that must be in none.
        solver: ``"search"`` (compiled branch and bound), ``"milp"`` (HiGHS), or ``"auto"``: the search, and where its
            limit does not suffice and the programme is not too large, HiGHS from where it stopped.
        node_limit: Search or solver nodes to spend at most; by default up to 1,000,000 (fewer for large graphs, whose
            nodes cost more) and 100. A limited answer is feasible and carries its bound.
        request: All of the arguments from ``num_motifs`` on in one object, instead of them.

    Returns:
        The motifs, strongest first, with objective, bound and proof.

    Raises:
        ValueError: An argument does not make sense, or no family of motifs holds all ``include`` nodes.
    """
    must, never = checked_nodes("include", include), checked_nodes("exclude", exclude)
    given = MotifRequest(num_motifs, max_nodes, tau, connected, objective, noise_floor, must, never, solver, node_limit)
    if request is None:
        request = given
    elif given != _USUAL:
        twice = [field.name for field in fields(given) if getattr(given, field.name) != getattr(_USUAL, field.name)]
        raise ValueError(f"request already holds {', '.join(twice)}; give either the request or the arguments")
    terms, graph, names = terms_of(interactions, edges)
    problem = MotifProblem.of(request, terms, graph)
    return motif_set(problem, request, solve(problem, request.solver, request.node_limit), names)


def motif_set(problem: MotifProblem, request: MotifRequest, solution: Solution, names: tuple[str, ...]) -> MotifSet:
    """The result of a solved problem: motifs by falling strength, without nodes that add nothing."""
    labels = _trimmed(problem, solution.labels)
    motifs = [
        Motif(tuple(nodes), problem.attribution(labels == label), tuple(names[v] for v in nodes))
        for label in np.unique(labels[labels != 0]).tolist()
        for nodes in [np.flatnonzero(labels == label).tolist()]
    ]
    motifs.sort(key=lambda motif: (-abs(motif.score), motif.nodes))
    objective = sum(abs(motif.score) for motif in motifs)
    bound = max(solution.bound, objective)
    return MotifSet(
        motifs=tuple(motifs),
        objective=objective,
        bound=bound,
        optimal=bound - objective <= 1e-8 * max(problem.scale, abs(objective)),
        num_nodes=problem.num_nodes,
        num_motifs=problem.num_motifs,
        max_nodes=problem.max_nodes,
        tau=request.tau,
        connected=request.connected,
        solver=solution.used,
        work=solution.work,
        noise_floor=request.noise_floor,
        include=tuple(np.flatnonzero(problem.required).tolist()),
        exclude=tuple(np.flatnonzero(problem.forbidden).tolist()),
        objective_name=request.objective,
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
