"""Explaining a whole corpus on an engine: one file for each graph, kept as soon as it is done."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mage._core.files import atomic_path
from mage._core.progress import progress_bar
from mage.experiments.engines import Engine, LocalEngine, Payload
from mage.explainers.graphs import explain, fingerprint
from mage.explainers.request import ExplainRequest
from mage.explanation import GraphSubject, Origin, SentenceSubject, subject_of
from mage.games.request import GraphRequest


@dataclass
class _Corpus:
    model: Any
    graphs: dict[int, Any]
    options: dict[int, dict[str, Any]]
    about: dict[int, dict[str, Any]]

    def to(self, device: str) -> None:
        """Move the model to a device."""
        self.model.to(device)


def explain_corpus(
    model: Any,
    graphs: dict[int, Any],
    folder: str | Path,
    options: dict[int, dict[str, Any]],
    engine: Engine[int] | None = None,
    progress: bool | None = None,
    about: dict[int, dict[str, Any]] | None = None,
) -> Iterator[tuple[int, Path, bool]]:
    """Explain many graphs, several at a time, and keep each explanation in a file of its own.

    Args:
        model: The model; a torch module.
        graphs: Graphs by number.
        folder: Where explanations go. One of the same graph by the same model with the same options is not made again.
        options: Arguments of :func:`mage.explain` for each graph.
        engine: Where to compute; by default one process a core.
        progress: Show a progress bar; by default on a terminal only.
        about: Fields of each explanation that the dataset knows, see :func:`about_graph`. They do not decide which
            explanations are made again.

    Yields:
        Number of the graph, its file, and whether the file was there before; those that were come first.
    """
    kept = Path(folder)
    kept.mkdir(parents=True, exist_ok=True)
    paths = {
        number: kept / f"{number:06d}-{_fingerprint(model, data, options[number])[:16]}.mage"
        for number, data in graphs.items()
    }
    missing = [number for number, path in paths.items() if not path.is_file()]
    absent = set(missing)
    for number in graphs:
        if number not in absent:
            yield number, paths[number], True
    if not missing:
        return
    chosen = _Corpus(model, {number: graphs[number] for number in missing}, options, about or {})
    with progress_bar("explaining", len(missing), progress) as advance:
        for number, content in (engine or LocalEngine()).run(Payload(_explained, chosen), missing):
            with atomic_path(paths[number]) as unfinished:
                unfinished.write_bytes(content)
            advance(1)
            yield number, paths[number], False


def _fingerprint(model: Any, data: Any, options: dict[str, Any]) -> str:
    labels = {name: options.get(name) for name in ("names", "class_names")}
    fields = {name: value for name, value in options.items() if name not in labels}
    return fingerprint(model, data, ExplainRequest.of(GraphRequest, fields.pop("request", None), **fields), labels)


def _explained(corpus: _Corpus, number: int) -> bytes:
    explanation = explain(corpus.model, corpus.graphs[number], progress=False, **corpus.options[number])
    explanation = replace(explanation, **corpus.about.get(number, {}))
    with tempfile.TemporaryDirectory(prefix="mage-") as folder:
        path = Path(folder) / "explanation.mage"
        explanation.save(path)
        return path.read_bytes()


def about_graph(dataset: Any, number: int, model: str) -> dict[str, Any]:
    """Fields of an explanation that a dataset knows: where the graph is from, its classes, what its nodes are.

    Args:
        dataset: A :class:`mage.datasets.GraphDataset`.
        number: Position of the graph; of the node, in a node-level set.
        model: Name of the model.

    Returns:
        ``origin``, ``class_names`` and ``subject``.
    """
    of_nodes = dataset.task == "node"
    item = dataset[0 if of_nodes else number]
    motifs = dataset.motifs(0 if of_nodes else number)
    subject = subject_of(item)
    if isinstance(subject, GraphSubject) and item.get("names") is not None:
        subject = SentenceSubject(tuple(item.names))
    return {
        "origin": Origin(
            dataset=dataset.title,
            model=model,
            position=number,
            label=int(dataset.labels[number]),
            truth=tuple(tuple(motif) for motif in motifs if not of_nodes or number in motif),
        ),
        "class_names": tuple(dataset.class_names),
        "subject": subject,
    }


def load_corpus(folder: str | Path) -> Sequence[Path]:
    """The explanations in a folder, in the order of their graphs."""
    return sorted(Path(folder).glob("*.mage"))
