"""``mage.explain`` and ``mage.explain_many``: graphs, nodes and links."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mage._core.checks import checked_flag
from mage._core.files import as_path, remove_leftovers
from mage._core.fingerprint import graph_fingerprint, model_fingerprint, update
from mage._core.optional import require
from mage._core.progress import progress_bar
from mage._version import __version__
from mage.explainers.fields import GraphFields, OtherGraphFields
from mage.explainers.pipeline import InputGraph, Progress, checked_names, explain_game, listed_names
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation, TypedSubject, subject_of
from mage.explanation.annotations import feature_texts, known_origin
from mage.games.request import GraphRequest

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from mage.games.model_game import ModelGame


def explain(
    model: Any,
    data: Data | HeteroData,
    *,
    target: int | None = None,
    node: int | tuple[str, int] | None = None,
    edge: Sequence[Any] | None = None,
    num_motifs: int | str | None = None,
    max_nodes: int | float | str | None = None,
    tau: float | str | None = None,
    output: str | None = None,
    masking: Any = None,
    order: int | None = None,
    method: str | None = None,
    budget: int | None = None,
    permutations: int | None = None,
    seed: int | None = None,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    progress: Progress = None,
    request: Any = None,
    **fields: Unpack[OtherGraphFields],
) -> Explanation:
    """Explain a prediction of a PyG model for one graph, node or link by the groups of nodes that led to it.

    Every setting is a field of one of three requests: :class:`mage.GraphRequest` (which output,
    what absence means), :class:`mage.IndexRequest` (which interactions, how computed) and :class:`mage.MotifRequest`
    (which groups). Their defaults are the defaults here. Common fields are arguments; any other field can be given by
    its name too, or in a request.

    Args:
        model: The model; called with the arguments that its ``forward`` names. It is not changed.
        data: One graph; with types of nodes it is a ``HeteroData``.
        target: Class to explain; the predicted one by default.
        node: Explain this node's output instead of the graph's; ``("paper", 7)`` in a graph with types.
        edge: Explain the link between these two nodes; the model takes ``edge_label_index``. In a graph with types
            ``(("user", 3), ("item", 5))``.
        num_motifs: m, the largest number of groups; up to three by default.
        max_nodes: M, nodes in all groups together: a count, or a share of the players. By default the size at which the
            last node adds much and the next one little, see :mod:`mage.motifs.path`.
        tau: By default there is one search for groups for the output and one for groups against it
            (:attr:`Explanation.against`). A number τ weights both sides in one search: 1 only for, 0 only against.
        output: ``"logit"``, ``"probability"``, ``"log-probability"``, ``"log-odds"`` or ``"bounded-log-odds"`` of the
            target. By default the probability, or log-odds if the probability saturates, without any node or for
            some nodes; see :class:`mage.GraphRequest`.
        masking: What the absence of a node means: ``"split"`` (it stays without its edges), ``"remove"``, ``"zero"``,
            ``"mean"``, or a function. By default ``"split"``, or ``"remove"`` if the model takes no edges.
        order: Order of the index, 1 to 3. By default 3 if it is exact or there are at most 40 players, otherwise 2.
        method: ``"auto"``, ``"exact"``, ``"exact-local"``, ``"surrogate"`` or ``"permutation"``; see
            :func:`mage.interactions`.
        budget: The largest number of coalitions to query, for each stage if there are several.
        permutations: Orderings to sample.
        seed: Seed of the sampling.
        names: Names of the graph's nodes; by default ``data.names``, if it has a name per node, otherwise numbers.
        class_names: Names of the classes, to display.
        progress: Show a progress bar (by default on a terminal only), or a function that is called with the
            interactions so far; if it returns true, sampling stops and they are used. So does Ctrl-C.
        request: One or several requests instead of single fields; single fields override them.
        fields: Other fields of the requests by name, such as ``noise_floor=0`` or ``groups="rings"``; and ``like``, an
            explanation, loaded or just made, that is to be repeated on this model and graph. What else is given
            changes it.

    Returns:
        Motifs, interactions, masks, their cost, and the request.
    """
    of_model = {"target": target, "node": node, "edge": edge, "output": output, "masking": masking}
    of_index = {"order": order, "method": method, "budget": budget, "permutations": permutations, "seed": seed}
    of_motifs = {"num_motifs": num_motifs, "max_nodes": max_nodes, "tau": tau}
    whole = ExplainRequest.of(GraphRequest, request, **of_model, **of_index, **of_motifs, **fields)
    return explain_graph(model, data, whole, names=names, class_names=class_names, progress=progress)


def explain_graph(
    model: Any,
    data: Data | HeteroData,
    request: ExplainRequest,
    *,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    progress: Progress = None,
) -> Explanation:
    """:func:`explain` by one request."""
    require("torch_geometric", "pyg")
    explanation = _explained_graph(model, data, request, names, class_names, progress)
    explanation.keep_source(model, data)
    return explanation


def _explained_graph(
    model: Any,
    data: Data | HeteroData,
    request: ExplainRequest,
    names: Sequence[str] | None,
    class_names: Sequence[str] | None,
    progress: Progress,
) -> Explanation:
    from mage._torch.graph_input import check_graph
    from mage._torch.typed_graph import check_typed_graph
    from mage.explainers.large_graphs import PlayerReduction
    from mage.explainers.part_players import PartReduction, columns_graph, part_game
    from mage.games.model_game import ModelGame

    started, graph_request = time.perf_counter(), request.graph
    if hasattr(data, "node_types"):
        check_typed_graph(data)
    else:
        check_graph(data)
    options: dict[str, Any] = {"progress": progress, "started": started}
    if graph_request.players == "features":
        features = part_game(model, data, graph_request)
        graph = columns_graph(features, data, names, class_names)
        return explain_game(features, request, graph, reduction=PartReduction(graph_request), **options)
    node_names = checked_names(names if names is not None else names_of(data), int(data.num_nodes or 0))
    if graph_request.players == "edges":
        edges = part_game(model, data, graph_request)
        graph = _input_graph(edges.nodes, data, node_names, class_names)
        return explain_game(edges, request, graph, reduction=PartReduction(graph_request), **options)
    reduction = PlayerReduction(graph_request)
    game = ModelGame(model, data, replace(graph_request, groups=reduction.grouping()))
    graph = _input_graph(game, data, node_names, class_names)
    return explain_game(game, request, graph, reduction=reduction, **options)


def _input_graph(game: ModelGame, data: Any, names: tuple[str, ...], class_names: Sequence[str] | None) -> InputGraph:
    typed = game.typed
    if typed is not None:
        return InputGraph(names, game.edge_index, TypedSubject(typed.type_names, typed.relations), class_names)
    origin = known_origin(data, game.request.node)
    return InputGraph(names, game.edge_index, subject_of(data), class_names, feature_texts(data), origin)


def names_of(data: Any) -> tuple[str, ...] | None:
    """The names that a graph's nodes have: ``data.names``, or with types ``data[type].names`` or else ``paper 0``."""
    if not hasattr(data, "node_types"):
        return listed_names(data, "names", int(getattr(data, "num_nodes", None) or 0))
    parts: list[str] = []
    for kind in data.node_types:
        count = int(data[kind].num_nodes or 0)
        parts += listed_names(data[kind], "names", count) or [f"{kind} {row}" for row in range(count)]
    return tuple(parts)


def explain_many(
    model: Any,
    graphs: Iterable[Data | HeteroData],
    *,
    folder: str | Path | None = None,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    progress: bool | None = None,
    request: Any = None,
    **fields: Unpack[GraphFields],
) -> Iterator[Explanation]:
    """Explain many graphs, one after the other, in their order.

    Args:
        model: The model.
        graphs: A dataset, a list, or any iterable of graphs.
        folder: Save each explanation there as soon as it is finished, and continue after an interruption: an
            explanation of the same graph by the same model with the same options is read, not computed again. A file
            that cannot be read is computed again, with a warning.
        names: Names of the nodes, the same for all graphs; by default those of each graph, see :func:`explain`.
        class_names: Names of the classes, to display.
        progress: Show a progress bar; by default on a terminal only.
        request: One or several requests instead of single fields.
        fields: Fields of the requests by name, and ``like``, as for :func:`explain`.

    Yields:
        Explanations, in the order of the graphs.
    """
    if not isinstance(graphs, Iterable) or hasattr(graphs, "node_types") or getattr(graphs, "shape", None) == ():
        raise TypeError(f"graphs must be a dataset or a list of graphs, got {type(graphs).__name__}")
    labels = {"names": names, "class_names": class_names}
    whole = ExplainRequest.of(GraphRequest, request, **fields)
    path = None if folder is None else as_path("folder", folder)
    if path is not None and path.exists() and not path.is_dir():
        raise ValueError(f"folder: {path} is a file; name a folder")
    if progress is not None:
        progress = checked_flag("progress", progress)
    if path is not None and not hasattr(model, "state_dict"):
        raise ValueError("folder: only torch modules can be identified safely enough to resume; leave it out")
    return _explained(model, graphs, whole, labels, path, progress)


def _explained(
    model: Any,
    graphs: Iterable[Data | HeteroData],
    request: ExplainRequest,
    labels: dict[str, Any],
    folder: Path | None,
    progress: bool | None,
) -> Iterator[Explanation]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
    # Once, before the first pass: what a pass leaves behind in the model would make it another one for the next graph.
    settings = _settings_fingerprint(model, request, labels) if folder is not None else ""
    total = len(graphs) if isinstance(graphs, Sized) else 0
    with progress_bar("explaining", total, progress) as tick:
        for position, data in enumerate(graphs):
            path = None if folder is None else folder / f"{position:06d}-{_with_graph(settings, data)[:16]}.mage"
            explanation = None if path is None else _read(path)
            if explanation is None:
                explanation = explain_graph(model, data, request, progress=False, **labels)
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


def fingerprint(model: Any, data: Any, request: ExplainRequest, labels: Any = None) -> str:
    """What determines an explanation, in a few bytes: library, network, weights, graph, request, names.

    ``model`` may be the model's fingerprint, where it serves for many graphs.
    """
    return _with_graph(_settings_fingerprint(model, request, labels), data)


def _settings_fingerprint(model: Any, request: ExplainRequest, labels: Any) -> str:
    network = model if isinstance(model, str) else model_fingerprint(model)
    digest = hashlib.sha256(f"mage {__version__} {network}".encode())
    update(digest, request)
    update(digest, labels)
    return digest.hexdigest()


def _with_graph(settings: str, data: Any) -> str:
    return hashlib.sha256((settings + graph_fingerprint(data)).encode()).hexdigest()
