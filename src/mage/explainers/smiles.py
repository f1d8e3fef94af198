"""``mage.explain_smiles``: the groups of atoms that led to a prediction for a molecule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from mage._core.optional import require
from mage.explainers.fields import GraphFields
from mage.explainers.graphs import explain_graph
from mage.explainers.pipeline import Progress
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games.request import GraphRequest


def explain_smiles(
    model: Any,
    smiles: str,
    *,
    featurizer: str | Callable[[str], Any] = "pyg",
    class_names: Sequence[str] | None = None,
    progress: Progress = None,
    request: Any = None,
    **fields: Unpack[GraphFields],
) -> Explanation:
    """Explain a prediction for a molecule by the groups of atoms that led to it.

    RDKit (``pip install 'mage-explain[chem]'``) reads the SMILES, a featurizer makes the graph, and
    :func:`mage.explain` explains it. :meth:`mage.Explanation.motif_names` names the motifs: nitro, amine, …, with
    formula and SMARTS.

    Args:
        model: The model, as for :func:`mage.explain`.
        smiles: The molecule, such as ``"c1ccccc1[N+](=O)[O-]"``.
        featurizer: How the graph is made: ``"pyg"`` (:func:`torch_geometric.utils.from_smiles`); the name of a dataset
            of molecules (``"mutagenic"``, ``"benzene"``, …) for networks that were trained on it; or a function of the
            SMILES that returns a PyG ``Data`` whose nodes are the atoms in RDKit's order, with or without hydrogens.
        class_names: Names of the classes; by default those of the named dataset.
        progress: As for :func:`mage.explain`.
        request: One or several requests instead of single fields.
        fields: Fields of the requests by name, as for :func:`mage.explain`. With the name of a dataset, ``masking`` and
            ``output`` are by default those of the dataset.

    Returns:
        An explanation whose nodes are atoms, named by element and number.
    """
    require("rdkit", "chem")
    require("torch_geometric", "pyg")
    from mage.datasets import info, names
    from mage.datasets.smiles import atom_names, smiles_graph

    usual: dict[str, Any] = {}
    if isinstance(featurizer, str) and featurizer in names() and request is None and fields.get("like") is None:
        settings = info(featurizer).settings
        usual = {"masking": settings.masking, "output": settings.output}
    if class_names is None and isinstance(featurizer, str) and featurizer in names():
        class_names = info(featurizer).class_names
    whole = ExplainRequest.of(GraphRequest, request, **{**usual, **fields})
    graph = smiles_graph(smiles, featurizer)
    labels = None if whole.graph.players == "features" else atom_names(smiles, int(graph.num_nodes))
    return explain_graph(model, graph, whole, names=labels, class_names=class_names, progress=progress)
