"""Experiments as declarations: which datasets, models, methods and metrics make a table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from mage._core.checks import did_you_mean
from mage.experiments.procedures import PROCEDURES
from mage.metrics import METRICS, find_metric

_FOLDER = "specs"


@dataclass(frozen=True)
class Method:
    """A row of a table: an explainer with parameters.

    Args:
        name: Name in the table, in the store and on the command line.
        explainer: Name in the registry of explainers; of the index, in an experiment on group attribution.
        parameters: Parameters of the explainer.
        title: Name to display.
        by_dataset: Parameters that are others on some datasets.
    """

    name: str
    explainer: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    by_dataset: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def parameters_on(self, dataset: str) -> dict[str, Any]:
        """Parameters of the explainer on a dataset."""
        return {**self.parameters, **self.by_dataset.get(dataset, {})}


@dataclass(frozen=True)
class Column:
    """A group of columns of a table: a dataset with a model.

    Args:
        dataset: Name of a dataset, or ``module:name`` of a user's own.
        model: ``gcn``, ``gin`` or ``gat``, or ``module:name`` of a user's own; an image classifier, for images.
        metrics: Metrics shown, see :data:`mage.metrics.METRICS`.
    """

    dataset: str
    model: str
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    """What a table is made of.

    Args:
        name: Name on the command line.
        title: What it shows.
        tables: Tables of the paper whose figures stand beside ours.
        columns: Datasets with models and metrics.
        methods: Rows.
        seeds: Seeds of the explainers; the table shows the mean over graphs and seeds.
        procedure: How it is carried out: ``explanations`` of graphs, or ``group-attribution`` of images.
        settings: Settings of the procedure that hold for all methods.
        other_models_on: Dataset for models that no column names; None refuses them.
    """

    name: str
    title: str
    tables: tuple[int, ...]
    columns: tuple[Column, ...]
    methods: tuple[Method, ...]
    seeds: tuple[int, ...] = (0,)
    procedure: str = "explanations"
    settings: Mapping[str, Any] = field(default_factory=dict)
    other_models_on: str | None = None

    def restricted(
        self,
        datasets: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> Experiment:
        """Only some of its datasets, models and methods, or other seeds."""
        every = self.with_models(models or ()).columns
        _known("datasets", datasets, {column.dataset for column in every})
        _known("models", models, {column.model for column in every})
        _known("methods", methods, {method.name for method in self.methods})
        columns = tuple(
            column
            for column in every
            if (datasets is None or column.dataset in datasets) and (models is None or column.model in models)
        )
        if not columns:
            raise ValueError(f"datasets, models: {self.name} has no column for both")
        selection = tuple(method for method in self.methods if methods is None or method.name in methods)
        seed_numbers = self.seeds if seeds is None else tuple(dict.fromkeys(seeds))
        return replace(self, columns=columns, methods=selection, seeds=seed_numbers)

    def with_models(self, models: Sequence[str]) -> Experiment:
        """This experiment with a column for each model that has none, where it is open to others."""
        models_of_columns = {column.model for column in self.columns}
        place = next((column for column in self.columns if column.dataset == self.other_models_on), None)
        if place is None:
            return self
        others = tuple(replace(place, model=model) for model in dict.fromkeys(models) if model not in models_of_columns)
        return replace(self, columns=self.columns + others)


def _known(argument: str, names: Sequence[str] | None, choices: set[str]) -> None:
    unknown = [name for name in names or () if name not in choices]
    if unknown:
        raise ValueError(
            f"{argument}: {unknown[0]!r} is not part of this experiment; it has {', '.join(sorted(choices))}"
        )


def experiment_names() -> list[str]:
    """Names of the experiments that come with the library."""
    return sorted(
        path.name.removesuffix(".toml") for path in resources.files("mage.experiments").joinpath(_FOLDER).iterdir()
    )


def load_experiment(name: str) -> Experiment:
    """An experiment by name, or from a TOML file of the same form.

    A file has ``title``, ``tables`` (optional), ``seeds`` (optional), ``[[columns]]`` with ``datasets``, ``models`` and
    ``metrics``, and ``[methods.NAME]`` with ``explainer``, ``title`` and the explainer's own parameters;
    ``[methods.NAME.on.DATASET]`` has those that are others on a dataset. ``procedure``, ``[settings]`` and
    ``other_models_on`` are for experiments of other kinds; see :class:`Experiment`.
    """
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise ValueError(f"experiment: the file {name} does not exist")
        text, stem = path.read_text(), path.stem
    elif name in experiment_names():
        text, stem = resources.files("mage.experiments").joinpath(_FOLDER, f"{name}.toml").read_text(), name
    else:
        choices = experiment_names()
        hint = did_you_mean(name, choices)
        raise ValueError(f"experiment: {name!r} is none of {', '.join(choices)}, nor a .toml file{hint}")
    try:
        return _parsed(stem, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"experiment: {name} is not TOML: {error}") from error


def _parsed(name: str, content: dict[str, Any]) -> Experiment:
    for key in ("title", "columns", "methods"):
        if key not in content:
            raise ValueError(f"experiment: {name} has no {key}")
    unknown = set(content) - {entry.name for entry in fields(Experiment) if entry.name != "name"}
    if unknown:
        raise ValueError(f"experiment: {name} has unknown entries: {', '.join(sorted(unknown))}")
    if (procedure := content.get("procedure", "explanations")) not in PROCEDURES:
        raise ValueError(f"procedure: {procedure!r} of {name} is none of {', '.join(PROCEDURES)}")
    columns = []
    for group in content["columns"]:
        metrics = tuple(group.get("metrics", ()))
        if not metrics:
            raise ValueError(f"metrics: a group of columns of {name} has none; choose of {', '.join(METRICS)}")
        for metric in metrics:
            find_metric(metric)
        for key in ("datasets", "models"):
            if not isinstance(group.get(key), list) or set(group) - {"datasets", "models", "metrics"}:
                raise ValueError(
                    f"columns: each group of {name} has lists datasets, models and metrics, got {sorted(group)}"
                )
        columns += [Column(dataset, model, metrics) for dataset in group["datasets"] for model in group["models"]]
    methods = []
    for method, settings in content["methods"].items():
        parameters = dict(settings)
        explainer, title = parameters.pop("explainer", method), parameters.pop("title", method)
        by_dataset = parameters.pop("on", {})
        methods.append(Method(method, explainer, parameters, title, by_dataset))
    return Experiment(
        name,
        content["title"],
        tuple(content.get("tables", ())),
        _merged(columns),
        tuple(methods),
        tuple(dict.fromkeys(content.get("seeds", (0,)))),
        procedure,
        content.get("settings", {}),
        content.get("other_models_on"),
    )


def _merged(columns: list[Column]) -> tuple[Column, ...]:
    """One column for each dataset and model, with the metrics of all groups that name it."""
    metrics: dict[tuple[str, str], dict[str, None]] = {}
    for column in columns:
        metrics.setdefault((column.dataset, column.model), {}).update(dict.fromkeys(column.metrics))
    return tuple(Column(dataset, model, tuple(names)) for (dataset, model), names in metrics.items())
