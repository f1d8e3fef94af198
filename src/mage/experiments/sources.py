"""Where an experiment's models and graphs come from."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mage._core.fingerprint import model_fingerprint, update
from mage.experiments.work import Subject

if TYPE_CHECKING:
    from mage.datasets import GraphDataset


class Source:
    """Datasets by name or ``module:function``; models from the zoo, a folder of checkpoints, or ``module:name``.

    Args:
        root: Folder with published files; see :func:`mage.datasets.load`.
        checkpoints: Folder of the paper's authors with checkpoints to use instead of the zoo.
        models: Folder with checkpoints of ``mage train`` to use instead of the zoo.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        checkpoints: str | Path | None = None,
        models: str | Path | None = None,
    ) -> None:
        if checkpoints is not None and models is not None:
            raise ValueError("checkpoints, models: give one of them")
        for argument, folder in (("checkpoints", checkpoints), ("models", models)):
            if folder is not None and not Path(folder).is_dir():
                raise ValueError(f"{argument}: the folder {folder} does not exist")
        self.root = root
        self.checkpoints = checkpoints
        self.models = models
        self._datasets: dict[str, GraphDataset] = {}
        self._fingerprints: dict[str, str] = {}

    def dataset(self, name: str) -> GraphDataset:
        """A dataset, loaded once."""
        from mage import datasets

        if name not in self._datasets:
            self._datasets[name] = _imported("datasets", name)() if ":" in name else datasets.load(name, self.root)
        found = self._datasets[name]
        if not isinstance(found, datasets.GraphDataset):
            raise ValueError(f"datasets: {name} makes a {type(found).__name__}; see GraphDataset.from_graphs")
        return found

    def model(self, dataset: str, name: str) -> Any:
        """A trained model."""
        from mage import models

        if ":" in name:
            found = _imported("models", name)
            return found if hasattr(found, "state_dict") and not isinstance(found, type) else found()
        if self.checkpoints is not None:
            return models.authors_checkpoint(self.checkpoints, dataset, name)
        if self.models is not None:
            return models.load_checkpoint(Path(self.models) / f"{dataset}_{name}.safetensors").model
        return models.pretrained(dataset, name)

    def subject(self, dataset: str, model: str, graphs: int | None = None) -> Subject:
        """A model with the graphs that the paper's rule explains."""
        network = self.model(dataset, model)
        found = self.dataset(dataset)
        chosen = [int(position) for position in found.explained(network, graphs)]
        if not chosen:
            raise ValueError(f"{dataset}: {model} predicts none of the graphs to explain correctly")
        return Subject(
            dataset,
            model,
            network,
            {position: found[0] if found.task == "node" else found[position] for position in chosen},
            {position: found.settings(position) for position in chosen},
            model_fingerprint(network),
            self._dataset_fingerprint(dataset),
            found.origin,
        )

    def _dataset_fingerprint(self, name: str) -> str:
        if name not in self._fingerprints:
            columns = self.dataset(name).columns
            digest = hashlib.sha256()
            for value in (columns.node_start, columns.edge_index, *columns.nodes.values(), *columns.graphs.values()):
                update(digest, value)
            self._fingerprints[name] = digest.hexdigest()
        return self._fingerprints[name]


def _imported(argument: str, name: str) -> Any:
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{argument}: {name!r} cannot be imported: {error}") from error
