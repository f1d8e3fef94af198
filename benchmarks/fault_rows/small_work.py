"""Small runs to be disturbed: graphs with a house or a grid, the network of the demo, few orderings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

import mage
from mage.datasets import load
from mage.experiments import Column, Engine, Experiment, Inputs, Method, Plan, SerialEngine, Store, make_plan, run_plan
from mage.experiments.corpus import CorpusEntry, explain_corpus
from mage.models import load_demo_model

GRAPHS = 12
_ORDERINGS: Any = {"method": "permutation", "permutations": 4}


class SmallInputs(Inputs):
    """Few graphs, and a network that comes with the library or is made from it."""

    def __init__(self, model: Any = None) -> None:
        super().__init__()
        self._model = model

    def dataset(self, name: str) -> Any:
        """The graphs, whatever the name."""
        if name not in self._datasets:
            self._datasets[name] = load("ba_house_grid", count=400)
        return self._datasets[name]

    def model(self, dataset: str, name: str) -> Any:  # noqa: ARG002 (there is one)
        """The network, whatever the name."""
        return load_demo_model() if self._model is None else self._model


def small_plan(model: Any = None, graphs: int = GRAPHS) -> Plan:
    """An experiment of one method, a graph to a part."""
    columns = (Column("ba_house_grid", "gin", ("f1", "queries")),)
    methods = (Method("mage", "mage", {"permutations": 4}),)
    return make_plan(Experiment("small", "Small", (), columns, methods), SmallInputs(model), graphs, batch_size=1)


def small_corpus(model: Any = None, graphs: int = GRAPHS) -> tuple[Any, Mapping[int, Any], Mapping[int, Any]]:
    """A model, graphs, and options for each."""
    inputs = SmallInputs(model)
    dataset, network = inputs.dataset("small"), inputs.model("small", "gin")
    positions = [int(position) for position in dataset.split.test[:graphs]]
    options = {position: {**dataset.settings(position), **_ORDERINGS} for position in positions}
    return network, {position: dataset[position] for position in positions}, options


def run_small_plan(folder: Path, engine: Engine | None = None, plan: Plan | None = None, **options: Any) -> None:
    """Compute what is missing of an experiment."""
    run_plan(plan or small_plan(), Store(folder), engine or SerialEngine(), progress=False, **options)


def run_small_corpus(
    folder: Path, engine: Engine | None = None, corpus: Any = None, **options: Any
) -> list[CorpusEntry]:
    """Explain what is missing of a corpus."""
    model, graphs, settings = corpus or small_corpus()
    return list(explain_corpus(model, graphs, folder, settings, engine or SerialEngine(), progress=False, **options))


def run_small_list(folder: Path) -> None:
    """Explain what is missing of a list of graphs, in this process."""
    model, graphs, _ = small_corpus()
    for _ in mage.explain_many(model, list(graphs.values()), folder=folder, progress=False, **_ORDERINGS):
        pass


def plan_results(plan: Plan, folder: Path) -> dict[str, str]:
    """The results of an experiment that are there, without times."""
    records = plan.records(Store(folder))
    return {
        record["part"]: str({name: value for name, value in record.items() if "seconds" not in name})
        for record in records
    }


def corpus_results(folder: Path) -> dict[str, str]:
    """The explanations that are there: motifs and scores."""
    return {path.stem: str(mage.load(path).motifs) for path in folder.glob("*.mage")}


def leftovers(folder: Path) -> list[str]:
    """Unfinished files, and locks that nobody holds any more but that are still there."""
    return [
        path.name for path in folder.rglob("*") if path.suffix == ".part" or path.parent.name in {"locks", ".locks"}
    ]


def difference(expected: Mapping[str, str], results: Mapping[str, str], earlier: Iterable[str] = ()) -> str:
    """What is wrong with results: names that are gone, or values that have changed."""
    missing = [name for name in earlier if name not in results]
    changed = [name for name, value in results.items() if expected.get(name) != value]
    return f"{len(missing)} gone, {len(changed)} changed: {(missing + changed)[:3]}" if missing or changed else ""


class Fragile(torch.nn.Module):
    """A network with a misdeed: it fails, hangs or dies on graphs of one size, until a marker file is there.

    Only graphs with most edges gone show it, which nobody but an explainer asks for.
    """

    def __init__(self, misdeed: Any, marker: Path, size: int = 29) -> None:
        super().__init__()
        self.network = load_demo_model()
        self.misdeed, self.marker, self.size = misdeed, str(marker), size

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor | None = None) -> torch.Tensor:
        """What the network says, unless it is a bad moment."""
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        nodes = torch.bincount(batch)
        edges = torch.bincount(batch[edge_index[0]], minlength=len(nodes))
        if bool(((nodes == self.size) & (edges < self.size / 2)).any()) and not Path(self.marker).exists():
            self.misdeed()
        return self.network(x, edge_index, batch)
