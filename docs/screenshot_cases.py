"""Explanations of all kinds that the screenshots show: one function per kind, for ``docs/make_screenshots.py``."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mage.explanation import Explanation

_EXAMPLES = Path(__file__).parent.parent / "examples"
_PAPER = 1786
_PHOTO = "sim_n02138441_3552.jpg"
_CORA_CLASSES = (
    "theory",
    "reinforcement learning",
    "genetic algorithms",
    "neural networks",
    "probabilistic methods",
    "case based",
    "rule learning",
)


def demo() -> Explanation:
    """The bundled model on the bundled graph, as ``mage demo`` explains it."""
    from mage.cli.demo import demo_explanation

    return demo_explanation()


def from_dataset(name: str, graph: int | None = None, **options: Any) -> Explanation:
    """A graph of a dataset, explained for the model that ships with the library."""
    import mage
    from mage.cli import _sources

    network, item, settings = _sources.model_and_graph(None, None, None, name, graph)
    return mage.explain(network, item, **({"class_names": settings.get("class_names")} | options))


def molecule() -> Explanation:
    """A molecule in which the model looks for benzene rings."""
    explanation = from_dataset("benzene", graph=29)
    return replace(explanation, class_names=("no benzene ring", "benzene ring"))


def molecule_of_atoms() -> Explanation:
    """A molecule without SMILES: named atoms and bonds."""
    return from_dataset("mutagenic")


def sentence() -> Explanation:
    """A sentence that first praises and then condemns."""
    import mage

    return mage.explain_text(
        mage.models.pretrained("graph_sst2", "gcn"),
        "The acting is wonderful, but the script is a dreadful, endless bore.",
        class_names=["negative", "positive"],
    )


def photo() -> Explanation:
    """A photograph, explained for a network that ships as a package."""
    import mage
    from mage.models.image_classifiers import default_classifier, load_image_classifier

    classifier = load_image_classifier(default_classifier())
    picture = _data("imagenet50", _PHOTO)
    return mage.explain_image(classifier.through_onnx(), picture, budget=600)


def digit() -> Explanation:
    """A handwritten digit as a graph of super-pixels."""
    return from_dataset("mnist75sp", budget=500)


def node() -> Explanation:
    """A paper of Cora, for a network that is trained here in a few seconds."""
    import torch
    from torch.nn import functional
    from torch_geometric.datasets import Planetoid
    from torch_geometric.nn import GCN

    import mage

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(_data("planetoid"), Path(folder) / "Cora" / "raw")
        data = Planetoid(folder, "Cora")[0]
    torch.manual_seed(0)
    model = GCN(data.num_features, 16, 2, len(_CORA_CLASSES), dropout=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(100):
        optimizer.zero_grad()
        output = model(data.x, data.edge_index)
        functional.cross_entropy(output[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    return mage.explain(model.eval(), data, node=_PAPER, class_names=_CORA_CLASSES)


def typed() -> Explanation:
    """A molecule whose elements are types of nodes."""
    sys.path.insert(0, str(_EXAMPLES))
    example = importlib.import_module("typed_molecules")
    graphs = example.molecules(_data("mutag"))
    explanation: Explanation = example.explained(example.train(graphs), graphs[0])
    return explanation


def small_graph(graph: Any, **options: Any) -> Explanation:
    """A plain graph, explained for a network that was not trained."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.nn import GCN, global_mean_pool

    import mage

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.layers = GCN(4, 16, 2, 2)

        def forward(self, x: Any, edge_index: Any, batch: Any = None) -> Any:
            owner = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
            return global_mean_pool(self.layers(x, edge_index), owner)

    pairs = torch.tensor(list(graph.edges())).T
    torch.manual_seed(1)
    data = Data(x=torch.randn(len(graph), 4), edge_index=torch.cat([pairs, pairs.flip(0)], dim=1))
    return mage.explain(Network(), data, **options)


def five_nodes() -> Explanation:
    """The smallest house."""
    import networkx as nx

    return small_graph(nx.house_graph())


def thirty_five_names() -> Explanation:
    """A graph of 35 nodes with long names, which must not touch each other."""
    import networkx as nx

    names = [f"protein {chr(65 + number % 26)}{number}" for number in range(35)]
    graph = nx.connected_watts_strogatz_graph(35, 4, 0.15, seed=3)
    return small_graph(graph, budget=2000, order=2, names=names)


def parts() -> Explanation:
    """A graph of several parts."""
    import networkx as nx

    graphs = [nx.cycle_graph(6), nx.path_graph(4), nx.star_graph(4), nx.empty_graph(2)]
    return small_graph(nx.disjoint_union_all(graphs))


def three_hundred() -> Explanation:
    """As many nodes as a page draws."""
    import networkx as nx

    graph = nx.connected_watts_strogatz_graph(300, 4, 0.1, seed=1)
    return small_graph(graph, max_players=48, budget=500)


CASES: dict[str, Callable[[], Explanation]] = {
    "graph": demo,
    "molecule-smiles": molecule,
    "molecule-atoms": molecule_of_atoms,
    "sentence": sentence,
    "photo": photo,
    "digit": digit,
    "node": node,
    "typed": typed,
    "parts": parts,
    "five": five_nodes,
    "names": thirty_five_names,
    "three-hundred": three_hundred,
}
"""Kinds of explanations that must look the same wherever they are shown."""


def _data(*parts: str) -> Path:
    """A file or folder of data; an error says that it is not here."""
    folder = os.environ.get("MAGE_DATA")
    path = Path(folder or "data").joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; MAGE_DATA names the folder of the data")
    return path
