"""MAGE: Myerson-Taylor interactions, then the motifs they form."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.fingerprint import graph_fingerprint, model_fingerprint, update
from mage._core.progress import progress_bar
from mage.explanation import Explanation, subject_of
from mage.indices import Interactions, interactions
from mage.indices.families import checked_order, family_named
from mage.motifs import Motif, MotifSet, MotifsStable, check_request, checked_max_nodes, find_motifs

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from mage.games.model_game import ModelGame
    from mage.indices.stopping import Condition


_ROUNDINGS = 64  # how often the outputs behind an interaction may be rounded


def explain(
    model: Any,
    data: Data,
    num_motifs: int = 2,
    max_nodes: int | float = 0.3,
    tau: float = 1.0,
    target: int | None = None,
    output: str = "logit",
    masking: str | Callable[..., Any] = "remove",
    *,
    node: int | None = None,
    edge: Sequence[int] | None = None,
    groups: Any = None,
    index: str = "myerson-taylor",
    order: int = 2,
    method: str = "auto",
    budget: int | None = None,
    permutations: int | None = None,
    seed: int = 0,
    connected: bool = True,
    noise_floor: float = 0.1,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    task: str = "auto",
    return_type: str = "raw",
    forward: Callable[[Any, Data], Tensor] | None = None,
    num_hops: int | None = None,
    names: Sequence[str] | None = None,
    baseline: float | None = None,
    batch_size: int = 4096,
    solver: str = "auto",
    progress: bool | None = None,
    refine: bool | str | None = None,
    max_players: int | None = None,
    regressor: str = "auto",
    tolerance: float | None = None,
    until: str | Condition | None = None,
    callback: Callable[[Interactions], Any] | None = None,
) -> Explanation:
    """Explain what a PyG model says of one graph, node or link by the groups of nodes that made it say so.

    Args:
        model: The model; called with the arguments that its ``forward`` names. It is left as it was.
        data: One graph.
        num_motifs: m, the largest number of groups.
        max_nodes: M, nodes in all groups together: a count, or a share of the players.
        tau: τ: 1 shows what speaks for the output, lower values also what speaks against it, 0 only that.
        target: Class to explain; the predicted one by default.
        output: ``"logit"``, ``"probability"`` or ``"log-probability"`` of the target.
        masking: What the absence of a node means: ``"remove"``, ``"split"``, ``"zero"``, ``"mean"``, or a function.
        node: Explain this node's output instead of the graph's.
        edge: Explain the link between these two nodes; the model takes ``edge_label_index``.
        groups: Players that are groups of nodes (fragments, rings, super-pixels): labels [n], lists of nodes,
            ``"communities"``, ``"rings"``, or a function ``(edges, num_players) -> labels``.
        index: ``"myerson-taylor"`` or one of the other three indices.
        order: Order of the index, 1 to 3.
        method: ``"auto"``, ``"exact"``, ``"exact-local"``, ``"surrogate"`` or ``"permutation"``; see
            :func:`mage.interactions`.
        budget: Most coalitions to ask the model for, at each stage where there are several.
        permutations: Orderings to sample.
        seed: Seed of the sampling.
        connected: Whether motifs must be connected.
        noise_floor: Share of the largest interaction below which interactions count as zero; the authors' 0.1 measures
            as well or better than 0 on their checkpoints (``python benchmarks/paper.py``).
        include: Nodes that must be in some motif.
        exclude: Nodes that must be in none.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``; by the output's shape by default.
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        forward: ``call(model, data)`` for models that are called in a way of their own.
        num_hops: How far a node sees, at node and link level; read from the model by default.
        names: Names of the graph's nodes.
        baseline: Value of the empty coalition, where it is known.
        batch_size: Most coalitions in one call of the model.
        solver: Motif solver, see :func:`mage.find_motifs`.
        progress: Show a progress bar; by default on a terminal only.
        refine: After the index over groups, let the nodes of the best groups play, all others ``"present"`` (True) or
            ``"absent"``. What was left out of sight is said in ``stages`` and ``notes`` of the explanation.
        max_players: Most players. By default up to 300 play as they are. Above that, the nodes of a graph form
            communities whose best are refined, and of a node's neighbourhood the 48 nodes with the largest effects
            play while the others stay present (beyond 2,000, communities too); see ``players_cap`` of the explanation.
        regressor: What a surrogate learns with; see :func:`mage.interactions`.
        tolerance: Stop sampling when the largest standard error is at most this.
        until: ``"motifs stable"`` stops sampling when the best motifs no longer change within the error; or a function.
        callback: Called with the interactions so far, from time to time; a true answer stops and explains by them. So
            does an interruption from the keyboard; ``interactions.stopped`` then says so.

    Returns:
        Motifs, interactions, masks, and what they cost.
    """
    from mage._core.optional import require

    require("torch_geometric", "pyg")
    from mage.explainers.large_graphs import Plan
    from mage.games.grouping import node_numbers
    from mage.games.model_game import ModelGame

    order = checked_order(family_named(index), order)
    check_request(num_motifs, max_nodes, tau, noise_floor, solver, order)
    include, exclude = node_numbers("include", include), node_numbers("exclude", exclude)
    plan = Plan(groups, refine, max_players, one_output=node is not None or edge is not None)
    start = time.perf_counter()
    node_names = _checked_names(names, data)
    game = ModelGame(
        model,
        data,
        target=target,
        output=output,
        masking=masking,
        node=node,
        edge=edge,
        groups=plan.grouping(),
        task=task,
        return_type=return_type,
        forward=forward,
        num_hops=num_hops,
        baseline=baseline,
        batch_size=batch_size,
    )

    sought: dict[str, Any] = {"num_motifs": num_motifs, "tau": tau, "connected": connected, "noise_floor": noise_floor}

    def most_nodes(stage: ModelGame) -> int:
        # Nothing below two ends explains a link.
        return checked_max_nodes(max_nodes, stage.num_players, least=1 if edge is None else 2)

    def ask(stage: ModelGame) -> Interactions:
        limit = budget if permutations is not None else plan.budget(stage, order, method, budget)
        stable = MotifsStable(max_nodes=most_nodes(stage), **sought) if until == "motifs stable" else until
        return interactions(
            stage,
            index,
            order,
            method,
            limit,
            permutations,
            seed,
            regressor=regressor,
            tolerance=tolerance,
            until=stable,
            callback=callback,
            progress=progress,
        )

    def search(index_found: Interactions, **more: Any) -> MotifSet:
        return find_motifs(_without_rounding(index_found, game), solver=solver, **sought, **more)

    for name, nodes in (("include", include), ("exclude", exclude)):
        _players_of(name, nodes, game)
    game = plan.last_game(game, ask, search, tau, include, exclude)
    found = ask(game)
    motifs = search(
        found,
        max_nodes=most_nodes(game),
        include=_players_of("include", include, game),
        exclude=_players_of("exclude", plan.playing(exclude, game), game),
    )
    return Explanation(
        motifs=_in_nodes(motifs, game, node_names),
        interactions=replace(found, names=_player_names(game, node_names)),
        prediction=game.prediction,
        target=game.target,
        players=tuple(tuple(nodes.tolist()) for nodes in game.player_nodes),
        edge_index=data.edge_index.cpu().numpy(),
        num_nodes=len(node_names),
        names=node_names,
        task=game.readout.task,
        output=output,
        masking=masking if isinstance(masking, str) else getattr(masking, "__name__", "custom"),
        level=game.level,
        num_queries=game.num_queries,
        seconds=time.perf_counter() - start,
        subject=subject_of(data),
        target_nodes=game.target_nodes,
        return_type=return_type,
        stages=tuple(plan.stages),
        players_cap=plan.cap,
        notes=tuple(plan.notes),
    )


def _checked_names(names: Sequence[str] | None, data: Any) -> tuple[str, ...]:
    count = int(getattr(data, "num_nodes", None) or 0)
    if names is None:
        return tuple(str(v) for v in range(count))
    if isinstance(names, str) or len(names) != count:
        raise ValueError(f"names must list {count} names, one a node, got {len(names)}")
    return tuple(str(name) for name in names)


def _without_rounding(found: Interactions, game: ModelGame) -> Interactions:
    """Interactions that are nothing where all of them are what rounding leaves of the model's outputs."""
    outputs = max(abs(game.baseline), float(np.abs(game.prediction).max()))
    nothing = float(np.abs(found.values).max(initial=0.0)) <= _ROUNDINGS * game.resolution * outputs
    return replace(found, values=np.zeros_like(found.values)) if nothing else found


def _players_of(name: str, nodes: Iterable[int], game: ModelGame) -> list[int]:
    """The players that nodes of the input graph belong to."""
    owner = {int(v): player for player, members in enumerate(game.player_nodes) for v in members}
    missing = [v for v in nodes if v not in owner]
    if missing:
        raise ValueError(f"{name}: node {missing[0]} does not play; the output depends on nodes {sorted(owner)[:20]} …")
    return sorted({owner[v] for v in nodes})


def _player_names(game: ModelGame, names: tuple[str, ...]) -> tuple[str, ...]:
    joined = [[names[v] for v in nodes.tolist()] for nodes in game.player_nodes]
    return tuple(", ".join(some) if len(some) <= 4 else f"{some[0]} … {some[-1]} ({len(some)})" for some in joined)


def _in_nodes(motifs: MotifSet, game: ModelGame, names: tuple[str, ...]) -> MotifSet:
    """Motifs of players as motifs of nodes of the input graph."""
    translated = []
    for motif in motifs:
        nodes = sorted(int(v) for player in motif.nodes for v in game.player_nodes[player])
        translated.append(Motif(tuple(nodes), motif.score, tuple(names[v] for v in nodes)))
    return replace(motifs, motifs=tuple(translated), num_nodes=len(names))


def explain_many(
    model: Any,
    graphs: Iterable[Data],
    *,
    folder: str | Path | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Iterator[Explanation]:
    """Explain many graphs, one after the other, in their order.

    Args:
        model: The model.
        graphs: A dataset, a list, or any iterable of graphs.
        folder: Keep each explanation there as soon as it is done, and take up from there after an interruption: an
            explanation of the same graph by the same model with the same options is read, not computed again. A file
            that cannot be read is made again, with a warning.
        progress: Show a progress bar; by default on a terminal only.
        options: As for :func:`explain`.

    Yields:
        Explanations, in the order of the graphs.
    """
    kept = None if folder is None else Path(folder)
    if kept is not None and not hasattr(model, "state_dict"):
        raise ValueError("folder: only torch modules can be told apart safely enough to resume; leave it out")
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
    # Once, before the first pass: what a pass leaves behind in the model would make it another one for the next graph.
    asked = _settings_fingerprint(model, options) if kept is not None else ""
    try:
        total = len(graphs)  # type: ignore[arg-type]
    except TypeError:
        total = 0
    with progress_bar("explaining", total, progress) as tick:
        for position, data in enumerate(graphs):
            path = None if kept is None else kept / f"{position:06d}-{_with_graph(asked, data)[:16]}.mage"
            explanation = None if path is None else _read(path)
            if explanation is None:
                explanation = explain(model, data, progress=False, **options)
                if path is not None:
                    explanation.save(path)
            yield explanation
            tick(1)


def _read(path: Path) -> Explanation | None:
    """The explanation in a file; None where there is none, with a warning where there is something else."""
    try:
        return Explanation.load(path)
    except FileNotFoundError:
        return None
    except ValueError as error:
        warnings.warn(f"{error}; the graph is explained again", stacklevel=3)
        return None


def fingerprint(model: Any, data: Any, options: dict[str, Any]) -> str:
    """What determines an explanation, in a few bytes: the network, its weights, the graph, the options."""
    return _with_graph(_settings_fingerprint(model, options), data)


def _settings_fingerprint(model: Any, options: dict[str, Any]) -> str:
    digest = hashlib.sha256(model_fingerprint(model).encode())
    for name, value in sorted(options.items()):
        digest.update(name.encode())
        update(digest, value)
    return digest.hexdigest()


def _with_graph(settings: str, data: Any) -> str:
    return hashlib.sha256((settings + graph_fingerprint(data)).encode()).hexdigest()
