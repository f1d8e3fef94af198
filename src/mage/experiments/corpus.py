"""Explaining a whole corpus on an engine: one file for each graph, kept as soon as it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mage._core.archive import DAMAGE, check_archive
from mage._core.files import atomic_path
from mage._core.fingerprint import model_fingerprint
from mage._core.progress import progress_bar
from mage.experiments.engines import Engine, Failure, LocalEngine, Payload
from mage.experiments.locks import Locks, set_aside
from mage.experiments.run_loop import Job, PartStorage, run_parts
from mage.explainers.graphs import explain, fingerprint
from mage.explainers.request import ExplainRequest
from mage.explanation import Origin, subject_of
from mage.explanation.storage import file_content
from mage.games.request import GraphRequest


class LazyMapping(Mapping[int, Any]):
    """A mapping that computes a value on each access, and does not keep it.

    Args:
        keys: The keys.
        make: Makes the value of a key.
    """

    def __init__(self, keys: Sequence[int], make: Callable[[int], Any]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: int) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return self._make(key)

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@dataclass(frozen=True)
class CorpusEntry:
    """What became of a graph.

    Args:
        number: Number of the graph.
        path: The file of its explanation; of the reason, where it failed.
        before: Whether the file was there before.
        failure: Why there is no explanation; None where there is one.
    """

    number: int
    path: Path
    before: bool
    failure: Failure | None = None


def explain_corpus(
    model: Any,
    graphs: Mapping[int, Any],
    folder: str | Path,
    options: Mapping[int, Mapping[str, Any]],
    engine: Engine | None = None,
    progress: bool | None = None,
    about: Mapping[int, Mapping[str, Any]] | None = None,
    retry_failed: bool = False,
) -> Iterator[CorpusEntry]:
    """Explain many graphs, several at a time, and keep each explanation in a file of its own.

    Several runs may share a folder, and divide the work between them. A graph that fails does not stop the others: the
    reason is kept in a file ``*.failed``. A file that is damaged is set aside, with a warning, and made again.

    Args:
        model: The model; a torch module.
        graphs: Graphs by number; taken one by one, so that a mapping may load them when they are needed.
        folder: Where explanations go. One of the same graph by the same model with the same options is not made again.
        options: Arguments of :func:`mage.explain` for each graph.
        engine: Where to compute; by default one process a core.
        progress: Show a progress bar; by default on a terminal only.
        about: Fields of each explanation that the dataset knows, see :func:`about_graph`. They do not decide which
            explanations are made again.
        retry_failed: Try graphs again that failed before.

    Yields:
        What became of each graph; those that were there before come first.
    """
    storage = _Folder(Path(folder), graphs, options, about or {}, retry_failed)
    storage.tidy()
    digest = model_fingerprint(model)
    missing = []
    for number, data in graphs.items():
        part = _File(number, f"{number:06d}-{_fingerprint(digest, data, options[number])[:16]}")
        if storage.has(part):
            yield storage.entry(part, before=True)
        else:
            missing.append(part)
    if not missing:
        return
    payload = Payload(_explain_job, _Shared(model, storage.share([part.number for part in missing])))
    with progress_bar("explaining", len(missing), progress) as advance:
        for part, _ in run_parts(missing, storage, engine or LocalEngine(), payload):
            advance(1)
            yield storage.entry(part, before=False)


@dataclass(frozen=True)
class _File:
    """The file of a graph.

    Args:
        number: Number of the graph.
        key: Name without ending; says what determines the explanation.
    """

    number: int
    key: str


@dataclass(frozen=True)
class _ExplainJob(Job):
    """A graph to explain; ``data`` is None where all jobs share one graph."""

    number: int
    data: Any
    options: Mapping[str, Any]
    about: Mapping[str, Any]


@dataclass
class _Shared:
    """What workers share: the model, and the graph whose nodes are explained, if they are."""

    model: Any
    whole: Any

    def to(self, device: str) -> None:
        """Move the model to a device."""
        self.model.to(device)


def _explain_job(shared: _Shared, job: _ExplainJob) -> bytes:
    data = shared.whole if job.data is None else job.data
    explanation = explain(shared.model, data, progress=False, **job.options)
    return file_content(replace(explanation, **job.about))


class _Folder(PartStorage[_File]):
    """A folder of explanations and of reasons for failures."""

    def __init__(
        self,
        folder: Path,
        graphs: Mapping[int, Any],
        options: Mapping[int, Mapping[str, Any]],
        about: Mapping[int, Mapping[str, Any]],
        retry_failed: bool,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.locks = Locks(folder / ".locks")
        self.graphs, self.options, self.about = graphs, options, about
        self.retry_failed = retry_failed
        self.whole: Any = None

    def share(self, numbers: Sequence[int]) -> Any:
        """The one graph that all numbers stand for, which then travels once; None where each has its own."""
        first = self.graphs[numbers[0]]
        if len(numbers) > 1 and all(self.graphs[number] is first for number in numbers[1:]):
            self.whole = first
        return self.whole

    def path(self, part: _File, failed: bool = False) -> Path:
        """Where an explanation is, or the reason why there is none."""
        return self.folder / f"{part.key}.{'failed' if failed else 'mage'}"

    def has(self, part: _File) -> bool:
        """Whether there is an explanation, or a reason why not. A damaged one is set aside with a warning."""
        path = self.path(part)
        try:
            check_archive(path)
        except FileNotFoundError:
            return not self.retry_failed and self.path(part, failed=True).is_file()
        except PermissionError:
            raise
        except DAMAGE:
            set_aside(path, path.with_suffix(".damaged"), self.locks, part.key, check_archive)
            return False
        return True

    def entry(self, part: _File, before: bool) -> CorpusEntry:
        """What became of a graph."""
        if (path := self.path(part)).is_file():
            return CorpusEntry(part.number, path, before)
        reason = self.path(part, failed=True)
        return CorpusEntry(part.number, reason, before, _read_failure(reason))

    def claim(self, part: _File) -> int | None:
        """A lock on a file."""
        return self.locks.claim(part.key)

    def release(self, part: _File, handle: int) -> None:
        """Give a lock back."""
        self.locks.release(part.key, handle, self._is_there(part.key))

    def tidy(self) -> None:
        """Remove locks of graphs that are done."""
        self.locks.tidy(self._is_there)

    def _is_there(self, key: str) -> bool:
        return any((self.folder / f"{key}.{ending}").is_file() for ending in ("mage", "failed"))

    def jobs(self, part: _File) -> Sequence[Job]:
        """The graph of a file."""
        number = part.number
        data = self.graphs[number] if self.whole is None else None
        return [_ExplainJob(part.key, 0, number, data, self.options[number], self.about.get(number, {}))]

    def keep(self, part: _File, results: Sequence[Any]) -> None:
        """Write an explanation, or the reason why there is none."""
        (result,) = results
        failed = isinstance(result, Failure)
        content = json.dumps({"graph": part.number, **asdict(result)}, indent=1).encode() if failed else result
        with atomic_path(self.path(part, failed), locked=True) as unfinished:
            unfinished.write_bytes(content)
        if not failed:
            self.path(part, failed=True).unlink(missing_ok=True)


def _read_failure(path: Path) -> Failure:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Failure(content["kind"], content["message"], content["trace"])
    except DAMAGE as error:
        return Failure("error", f"the reason in {path.name} cannot be read: {error}")


def _fingerprint(model: str, data: Any, options: Mapping[str, Any]) -> str:
    labels = {name: options.get(name) for name in ("names", "class_names")}
    fields = {name: value for name, value in options.items() if name not in labels}
    return fingerprint(model, data, ExplainRequest.of(GraphRequest, fields.pop("request", None), **fields), labels)


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
    return {
        "origin": Origin(
            dataset=dataset.title,
            model=model,
            position=number,
            label=int(dataset.labels[number]),
            truth=tuple(tuple(motif) for motif in motifs if not of_nodes or number in motif),
        ),
        "class_names": tuple(dataset.class_names),
        "subject": subject_of(item),
    }


def load_corpus(folder: str | Path) -> Sequence[Path]:
    """The explanations in a folder, in the order of their graphs."""
    return sorted(Path(folder).glob("*.mage"))
