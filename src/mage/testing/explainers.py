"""What any explainer must do, whatever its method."""

from __future__ import annotations

import functools
import inspect
import pickle
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.conversion import same
from mage.explanation import Explanation
from mage.motifs import MotifRequest

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset
    from mage.explainers.protocol import Explainer


def check_explainer(
    explainer: Explainer,
    model: Any,
    data: Data,
    *,
    max_nodes: int | float = 0.3,
    num_motifs: int = 1,
    masking: str = "remove",
    connected: bool = True,
    seeds: Sequence[int] = (0, 1),
    dataset: GraphDataset | None = None,
) -> Explanation | None:
    """Assert that an explainer repeats itself, keeps to its budget, counts its queries and leaves no trace.

    Checked are: the same motifs, scores and queries from the same seed, also after pickling the explainer; at most M
    nodes; motifs that are connected in the graph, unless ``connected=False``; the model as it was, whatever state that
    is (training flags, gradients, ``requires_grad``, hooks, weights); the random states of torch, numpy and Python as
    they were; ``num_queries`` as many graphs as the model was run on, where many small ones in one run may count by
    their nodes, as many as the graph has for one; an explanation that survives its file. An explainer may also refuse
    with an ``UnsupportedError`` that says why; it then must have left no trace either.

    Args:
        explainer: The explainer under test; fitted if it needs to be and no ``dataset`` is given.
        model: A torch module.
        data: A graph.
        max_nodes: M.
        num_motifs: m.
        masking: What absence of a node means.
        connected: Whether motifs must be connected.
        seeds: Seeds to try; the first one is tried with a pickled explainer, too.
        dataset: Fit the explainer to it first, if it needs training, which must leave no trace either.

    Returns:
        The explanation by the first seed; None if the explainer refused.
    """
    settings: dict[str, Any] = {
        "max_nodes": max_nodes,
        "num_motifs": num_motifs,
        "masking": masking,
        "connected": connected,
    }
    first: Explanation | None = None
    with _awkward(model):
        if dataset is not None and explainer.needs_training:
            with leaving_no_trace(model, may_draw=True):
                explainer.fit(model, dataset, seeds[0])
        for seed in seeds:
            # Libraries that are imported on first use may draw a number then, so the first run may do so.
            explanation = _without_trace(explainer, model, data, may_draw=seed == seeds[0], seed=seed, **settings)
            again = _without_trace(explainer, model, data, seed=seed, **settings)
            if explanation is None or again is None:
                assert explanation is again, f"explained at one time and refused at another, with seed {seed}"
                continue
            _check_contents(explanation, data, max_nodes, num_motifs, connected)
            assert_same_explanation(explanation, again, f"seed {seed} twice")
            if seed == seeds[0]:
                first = explanation
                copy = pickle.loads(pickle.dumps(explainer))  # noqa: S301 (just pickled)
                unpickled = _without_trace(copy, model, data, seed=seed, **settings)
                assert unpickled is not None, "refused after pickling"
                assert_same_explanation(explanation, unpickled, "after pickling")
                _check_file(explanation)
    return first


def assert_same_explanation(one: Explanation, other: Explanation, when: str) -> None:
    """Assert that two explanations are the same, time aside."""
    assert one.motifs == other.motifs, f"{when}: other motifs, {one.motifs} and {other.motifs}"
    for name in ("node_scores", "edge_scores", "prediction", "edge_index"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=f"{when}: other {name}")
    assert same(replace(one, seconds=0.0), replace(other, seconds=0.0)), f"{when}: other fields"


def _check_contents(explanation: Explanation, data: Data, max_nodes: float, num_motifs: int, connected: bool) -> None:
    size = int(data.num_nodes)
    budget = MotifRequest(max_nodes=max_nodes).max_nodes_of(size)
    nodes = explanation.motifs.nodes
    assert len(nodes) <= budget, f"{len(nodes)} nodes, more than M = {budget}"
    assert len(set(nodes)) == len(nodes), f"motifs overlap: {explanation.motifs}"
    assert set(nodes) <= set(range(size)), f"motifs name nodes outside 0 … {size - 1}: {explanation.motifs}"
    assert explanation.num_nodes == size
    np.testing.assert_array_equal(explanation.edge_index, data.edge_index.cpu().numpy())
    scores = explanation.edge_scores
    assert scores.shape == (data.edge_index.size(1),), f"edge_scores has shape {scores.shape}"
    assert np.isfinite(explanation.edge_scores).all(), "edge_scores are not finite"
    assert np.isfinite(explanation.node_scores).all(), "node_scores are not finite"
    if explanation.motifs.solver != "none":  # methods that know no motifs take connected parts, however many
        assert len(explanation.motifs) <= num_motifs, f"{len(explanation.motifs)} motifs, more than m = {num_motifs}"
    if connected:
        from mage.graph import PlayerGraph

        graph = PlayerGraph(size, data.edge_index.T.cpu().numpy())
        for motif in explanation.motifs:
            assert len(graph.components(list(motif.nodes))) == 1, f"motif {motif.nodes} is not connected"


def _check_file(explanation: Explanation) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explanation.mage"
        explanation.save(path)
        assert_same_explanation(explanation, Explanation.load(path), "after saving and loading")


# -- without a trace ----------------------------------------------------------------------------------------------


def _without_trace(
    explainer: Explainer, model: Any, data: Data, may_draw: bool = False, **settings: Any
) -> Explanation | None:
    """Explain, and assert that nothing else happened; None where the explainer refuses."""
    from mage.explainers.protocol import UnsupportedError

    explanation, refusal, tensors = None, "none", _tensors(data)
    with leaving_no_trace(model, may_draw), _counting(model) as runs:
        try:
            explanation = explainer.explain(model, data, **settings)
        except UnsupportedError as error:
            refusal = str(error)
    assert refusal.strip(), "a refusal must say why"
    assert _tensors(data).keys() == tensors.keys(), "data has other attributes"
    assert all(_equal(tensors[name], value) for name, value in _tensors(data).items()), "data was changed"
    if explanation is not None:
        most = sum(graphs for graphs, _ in runs)
        least = sum(min(graphs, -(-nodes // int(data.num_nodes))) for graphs, nodes in runs)
        assert least <= explanation.num_queries <= most, (
            f"num_queries is {explanation.num_queries}, but the model was run on {most} graphs, by their nodes {least}"
        )
    return explanation


@contextmanager
def leaving_no_trace(model: Any, may_draw: bool = False) -> Iterator[None]:
    """Assert that what happens inside leaves a torch module and the global random states as they were.

    Args:
        model: The module.
        may_draw: Whether random numbers may be drawn from the global states.
    """
    before, randomness = _state(model), _random_state()
    yield
    after = _state(model)
    for name, value in after.items():
        assert name in before, f"the model has {name} now"
        assert _equal(before[name], value), f"the model's {name} was changed"
    missing = before.keys() - after.keys()
    assert not missing, f"the model lost {', '.join(sorted(missing))}"
    for name, value in _random_state().items():
        assert may_draw or _equal(randomness[name], value), f"the random state of {name} was changed"


def _state(model: Any) -> dict[str, Any]:
    """Everything of a network that an explainer could leave behind, by name."""
    state: dict[str, Any] = {f"weights {name}": value.clone() for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        state[f"requires_grad of {name}"] = parameter.requires_grad
        state[f"gradient of {name}"] = None if parameter.grad is None else parameter.grad.clone()
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if key.endswith("_hooks"):
                state[f"{key} of {name!r}"] = list(value)
            elif key.startswith("_cached"):
                continue  # layers that remember by design
            elif isinstance(value, bool | int | float | str | None):
                # PyG's own clearing of masks turns a None into False, which means the same.
                state[f"{key} of {name!r}"] = value or None
            elif callable(value):
                state[f"{key} of {name!r}"] = id(value)
    return state


def _random_state() -> dict[str, Any]:
    import torch

    return {"torch": torch.get_rng_state(), "numpy": np.random.get_state(), "random": random.getstate()}  # noqa: NPY002 (the global state is what is checked)


def _tensors(data: Data) -> dict[str, Any]:
    return {key: value.clone() if hasattr(value, "clone") else value for key, value in data.to_dict().items()}


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple | list):
        return (
            isinstance(other, type(one))
            and len(one) == len(other)
            and all(_equal(a, b) for a, b in zip(one, other, strict=True))
        )
    if hasattr(one, "shape"):
        same = hasattr(other, "shape") and one.shape == other.shape and one.dtype == other.dtype
        return bool(same and ((one == other) | ((one != one) & (other != other))).all())  # noqa: PLR0124 (NaN is NaN)
    return bool(one == other)


@contextmanager
def _awkward(model: Any) -> Iterator[None]:
    """A state that is easily lost: every other module training, a frozen parameter, a gradient; as before after."""
    import torch

    modules, parameters = list(model.modules()), list(model.parameters())
    flags = [module.training for module in modules]
    frozen = [parameter.requires_grad for parameter in parameters]
    gradients = [parameter.grad for parameter in parameters]
    try:
        for position, module in enumerate(modules):
            module.training = position % 2 == 0
        for parameter in parameters[:1]:
            parameter.requires_grad_(False)
        for parameter in parameters[1:2]:
            parameter.grad = torch.full_like(parameter, 0.5)
        yield
    finally:
        for module, flag in zip(modules, flags, strict=True):
            module.training = flag
        for parameter, flag, gradient in zip(parameters, frozen, gradients, strict=True):
            parameter.requires_grad_(flag)
            parameter.grad = gradient


def _named(name: str, arguments: dict[str, Any]) -> Any:
    """What a model is given under a name, by itself or as part of a graph."""
    parts = (getattr(value, name, None) for value in arguments.values())
    return arguments[name] if name in arguments else next((part for part in parts if part is not None), None)


@contextmanager
def _counting(model: Any) -> Iterator[list[tuple[int, int]]]:
    """How many graphs each run of the model was on, by ``batch``, and how many nodes, by ``x``."""
    inner: Callable[..., Any] = model.forward
    signature = inspect.signature(inner)
    runs: list[tuple[int, int]] = []

    @functools.wraps(inner)  # and so with the signature of the model, by which it is called
    def forward(*arguments: Any, **keywords: Any) -> Any:
        values = signature.bind(*arguments, **keywords).arguments
        batch, x = (_named(name, values) for name in ("batch", "x"))
        graphs = 1 if batch is None or batch.numel() == 0 else int(batch.max()) + 1
        runs.append((graphs, graphs if x is None else len(x)))
        return inner(*arguments, **keywords)

    replaced = "forward" in vars(model)
    model.forward = forward
    try:
        yield runs
    finally:
        if replaced:
            model.forward = inner
        else:
            del model.forward
