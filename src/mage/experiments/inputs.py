"""Where an experiment's models and datasets come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mage._core.importing import load_user_object

if TYPE_CHECKING:
    from mage.datasets import GraphDataset


class Inputs:
    """Datasets by name or ``module:function``; models from the zoo, a folder of checkpoints, or ``module:name``.

    The model ``rule`` is the network of a dataset's rule, see :func:`mage.models.rule_network`.

    Args:
        root: Folder with published files; see :func:`mage.datasets.load`.
        checkpoints: Folder of the paper's authors with checkpoints to use instead of the zoo.
        models: Folder with checkpoints of ``mage train`` to use instead of the zoo.
        zoo_where_missing: Take the zoo's network where the authors have published none for a dataset.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        checkpoints: str | Path | None = None,
        models: str | Path | None = None,
        zoo_where_missing: bool = False,
    ) -> None:
        if checkpoints is not None and models is not None:
            raise ValueError("checkpoints, models: give one of them")
        for argument, folder in (("checkpoints", checkpoints), ("models", models)):
            if folder is not None and not Path(folder).is_dir():
                raise ValueError(f"{argument}: the folder {folder} does not exist")
        self.root = root
        self.checkpoints = checkpoints
        self.models = models
        self.zoo_where_missing = zoo_where_missing
        self._datasets: dict[str, GraphDataset] = {}
        self._fingerprints: dict[str, str] = {}

    def dataset(self, name: str) -> GraphDataset:
        """A dataset, loaded once."""
        from mage import datasets

        if name not in self._datasets:
            self._datasets[name] = _user_dataset(name) if ":" in name else datasets.load(name, self.root)
        return self._datasets[name]

    def model(self, dataset: str, name: str) -> Any:
        """A trained model."""
        import torch

        from mage import models

        if ":" in name:
            return load_user_object("models", name, "model", lambda target: isinstance(target, torch.nn.Module))
        if name == "rule":
            return models.rule_network(dataset)
        if self.checkpoints is not None and not (
            self.zoo_where_missing and dataset not in models.authors_datasets(self.checkpoints)
        ):
            return models.authors_checkpoint(self.checkpoints, dataset, name)
        if self.models is not None:
            return models.load_checkpoint(Path(self.models) / f"{dataset}_{name}.safetensors").model
        return models.pretrained(dataset, name)

    def dataset_fingerprint(self, name: str) -> str:
        """What tells a whole dataset from others."""
        if name not in self._fingerprints:
            self._fingerprints[name] = self.dataset(name).columns.fingerprint()
        return self._fingerprints[name]


def _user_dataset(name: str) -> GraphDataset:
    from mage.datasets import GraphDataset

    dataset = load_user_object("datasets", name, "dataset", lambda target: isinstance(target, GraphDataset))
    if not isinstance(dataset, GraphDataset):
        raise ValueError(f"datasets: {name} makes a {type(dataset).__name__}; see GraphDataset.from_graphs")
    return dataset
