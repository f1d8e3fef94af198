"""``mage.find_motifs``: which groups of nodes?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from mage._core.checks import checked_instance, checked_whole
from mage._core.requests import changed
from mage._core.typing import Integers
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.motifs.path import Effects, chosen_size, effects_of
from mage.motifs.problem import MotifProblem
from mage.motifs.request import AUTO, BOTH, MotifFields, MotifRequest
from mage.motifs.result import Motif, MotifSet
from mage.motifs.solvers import Solution, solve
from mage.motifs.terms import TermArrays, terms_of

_NEGLIGIBLE = 0.1  # of the strength for the output: weaker motifs against it are not shown


def find_motifs(
    interactions: Interactions | Any,
    edges: Any = None,
    num_motifs: int | str | None = None,
    max_nodes: int | float | str | None = None,
    tau: float | str | None = None,
    connected: bool | None = None,
    *,
    noise_floor: float | None = None,
    request: MotifRequest | None = None,
    least_nodes: int = 1,
    effects: Effects | None = None,
    **fields: Unpack[MotifFields],
) -> MotifSet:
    """Find disjoint connected groups of nodes with the largest total of interactions.

    Maximises Σ |GrAttr(S)| over at most m sets S with at most M nodes in all. GrAttr adds up all interactions inside S:
    those of the top order weighted by τ where they are positive and by 1 − τ where they are negative; below the top
    order those of an index of order 3 with their sign, others like the top order (``objective=`` chooses), see
    :mod:`mage.motifs.objective`. The result is proven optimal, unless ``.optimal`` is false.

    Args:
        interactions: An index of order 1, 2 or 3, or a plain matrix [n, n] (pairs off the diagonal, symmetric; single
            nodes on it), which edge-based explainers can fill.
        edges: The graph; needed with a plain matrix, otherwise that of the interactions.
        num_motifs: m, the largest number of motifs; ``"auto"``, the default, allows three.
        max_nodes: M, nodes in all motifs together: a whole number, a share of n in (0, 1) (at least one node), or
            ``"auto"``, the default: the size at which the last node adds much and the next one little, see
            :mod:`mage.motifs.path`.
        tau: ``"both"``, the default: motifs for the output and, separately, motifs against it, in
            :attr:`MotifSet.against`. Or τ in [0, 1], which weights both sides in one search.
        connected: False lets a motif be any set of nodes.
        noise_floor: Interactions of at most this share of the largest of their sign count as zero; with
            ``objective="signed"`` those of the top order only.
        request: All settings in one object; other arguments override it. Its defaults are the defaults here.
        least_nodes: Fewest nodes, where M is left open.
        effects: From groups of nodes, as booleans [q, n], to what a model says with only each group, and to what it
            says without it. Chooses among sizes and objectives that are equally good by their interactions.
        fields: Other fields of :class:`mage.MotifRequest` by name, such as ``include=[3]`` or ``solver="milp"``.

    Returns:
        The motifs, strongest first, with objective, bound and proof. Their scores are plain sums of interactions.

    Raises:
        ValueError: An argument is not valid, or no motifs can contain all ``include`` nodes.
    """
    if request is not None and not isinstance(request, MotifRequest):
        raise TypeError(f"request must be a mage.MotifRequest, got {type(request).__name__}")
    least_nodes = checked_whole("least_nodes", least_nodes)
    if effects is not None and (not callable(effects) or isinstance(effects, type)):
        raise ValueError(f"effects must be a function of groups of players, got {effects!r}")
    everyday = {"num_motifs": num_motifs, "max_nodes": max_nodes, "tau": tau, "connected": connected}
    request = changed(request or MotifRequest(), noise_floor=noise_floor, **everyday, **fields)
    search = _Search(*terms_of(interactions, edges), least_nodes, effects)
    estimated = isinstance(interactions, Interactions) and not interactions.exact
    if request.tau != BOTH:
        return replace(search.run(request), estimated=estimated)
    supporting = replace(search.one_side(request, 1.0), estimated=estimated)
    exclude = {*request.exclude, *supporting.nodes}
    others = replace(request, include=(), exclude=tuple(exclude))
    opposing = replace(search.one_side(others, 0.0), estimated=estimated)
    strongest = [max((abs(motif.score) for motif in family), default=0.0) for family in (supporting, opposing)]
    if strongest[1] < _NEGLIGIBLE * strongest[0]:
        opposing = replace(opposing, motifs=(), objective=0.0)
    return replace(supporting, against=opposing)


class _Search(NamedTuple):
    """One search after the other in the same interactions."""

    terms: TermArrays
    graph: PlayerGraph
    names: tuple[str, ...]
    least_nodes: int
    effects: Effects | None

    def run(self, request: MotifRequest) -> MotifSet:
        """The motifs of a request whose τ is a number."""
        size, path = chosen_size(request, self.terms, self.graph, self.least_nodes, self.effects)
        sized_request = replace(request, max_nodes=size)
        problem = MotifProblem.of(sized_request, self.terms, self.graph)
        solution = solve(problem, request.solver, request.node_limit)
        return replace(motif_set(problem, sized_request, solution, self.terms, self.names), path=path)

    def one_side(self, request: MotifRequest, tau: float) -> MotifSet:
        """The motifs for the output (τ = 1) or against it (τ = 0).

        At order 3, where the objective is left open, the signed and the balanced one may find different motifs. If
        there is a model, the output without them decides: motifs that it needs are the better explanation.
        """
        default = request.objective_at(len(self.terms.values))
        balanced = replace(request, tau=tau, objective=default)
        if request.objective != AUTO or default != "balanced" or self.effects is None:
            return self.run(balanced)
        signed_motifs = self.run(replace(balanced, objective="signed"))
        # Larger motifs are always needed more, so that both get the same number of nodes.
        balanced_motifs = self.run(replace(balanced, max_nodes=signed_motifs.max_nodes))
        balanced_motifs = replace(balanced_motifs, path=signed_motifs.path)
        if set(balanced_motifs.nodes) == set(signed_motifs.nodes):
            return signed_motifs
        masks = np.zeros((2, self.graph.num_players), dtype=np.bool_)
        for mask, family in zip(masks, (signed_motifs, balanced_motifs), strict=True):
            mask[list(family.nodes)] = True
        _, (without_signed, without_balanced) = effects_of(self.effects, masks)
        if without_signed < without_balanced if tau else without_signed > without_balanced:
            return signed_motifs
        return balanced_motifs


def family_objective(interactions: Interactions, family: MotifSet) -> float:
    """What the motifs of a family are worth together under the settings that the family names."""
    checked_instance("interactions", interactions, Interactions, "Interactions, as mage.interactions returns them")
    checked_instance("family", family, MotifSet, "a MotifSet, as mage.find_motifs returns it")
    request = MotifRequest(
        tau=family.tau,
        connected=family.connected,
        objective=family.objective_name,
        noise_floor=family.noise_floor,
    )
    terms, graph, _ = terms_of(interactions, None)
    return MotifProblem.of(request, terms, graph).objective(family.labels)


def motif_set(
    problem: MotifProblem, request: MotifRequest, solution: Solution, terms: TermArrays, names: tuple[str, ...]
) -> MotifSet:
    """The result of a solved problem: motifs by falling worth to the search, without nodes that add nothing."""
    labels = _trimmed(problem, solution.labels)
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels[labels != 0]).tolist()]
    groups.sort(key=lambda nodes: (-problem.strength(labels == labels[nodes[0]]), nodes))
    objective = problem.objective(labels)
    bound = max(solution.bound, objective)
    return MotifSet(
        motifs=tuple(Motif(tuple(nodes), terms.total(nodes), tuple(names[v] for v in nodes)) for nodes in groups),
        objective=objective,
        bound=bound,
        optimal=bool(bound - objective <= 1e-8 * max(problem.scale, abs(objective))),
        num_nodes=problem.num_nodes,
        solver=solution.used,
        work=solution.work,
        # What was searched for: counts instead of shares, and only nodes that there are.
        num_motifs=problem.num_motifs,
        max_nodes=problem.max_nodes,
        include=tuple(np.flatnonzero(problem.required).tolist()),
        exclude=tuple(np.flatnonzero(problem.forbidden).tolist()),
        objective_name=request.objective_at(len(terms.values)),
        **{name: getattr(request, name) for name in ("tau", "connected", "noise_floor")},
    )


def _trimmed(problem: MotifProblem, labels: Integers) -> Integers:
    """Without nodes that add nothing: a smaller motif of the same worth says more."""
    labels = labels.copy()
    for label in np.unique(labels[labels != 0]).tolist():
        members = labels == label
        strength = problem.strength(members)
        shrinking = True
        while shrinking:
            shrinking = False
            for v in np.flatnonzero(members & ~problem.required).tolist():
                members[v] = False
                if problem.connected(members) and strength - problem.strength(members) <= problem.tolerance:
                    labels[v] = 0
                    shrinking = True
                    break
                members[v] = True
    return labels
