"""``mage explain --smiles``: the model, its features, and what is printed of a molecule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from mage._core.checks import did_you_mean
from mage._core.importing import load_user_name
from mage.cli._printing import HEADINGS, STYLES, cost_line, motif_cells, remark_lines
from mage.cli._sources import check_file, check_model, check_named, load_model, network_of

if TYPE_CHECKING:
    from mage.explanation import Explanation


def check_molecule(model: str | None, weights: Path | None, dataset: str | None, featurizer: str | None) -> None:
    """Refuse names and files that do not exist, before PyTorch is loaded."""
    from mage.datasets import FEATURIZERS

    sets = [name for name in FEATURIZERS if name != "pyg"]
    if dataset is not None:
        if dataset not in sets:
            hint = did_you_mean(dataset, sets)
            raise ValueError(
                f"--dataset: {dataset!r} has no molecules; those with molecules are {', '.join(sets)}{hint}"
            )
        check_named(dataset, model, weights)
    elif model is None:
        raise ValueError("--smiles needs --model, or --dataset with a network that ships with the library")
    else:
        check_model(model)
        check_file("--weights", weights)
    if featurizer is not None and featurizer not in FEATURIZERS and ":" not in featurizer:
        hint = did_you_mean(featurizer, FEATURIZERS)
        raise ValueError(
            f"--featurizer: {featurizer!r} is none of {', '.join(FEATURIZERS)}{hint}, and not module:function"
        )


def model_and_featurizer(
    model: str | None, weights: Path | None, dataset: str | None, featurizer: str | None
) -> tuple[Any, Any]:
    """The model, and the featurizer: the given one, else that of the dataset the network was trained on, else PyG's."""
    from mage.datasets import FEATURIZERS
    from mage.models import load_checkpoint

    trained_on = dataset
    if dataset is not None:
        network = network_of(dataset, model, weights)
    elif Path(str(model)).suffix == ".safetensors":
        checkpoint = load_checkpoint(str(model))
        network, trained_on = checkpoint.model, str(checkpoint.about.get("dataset"))
    else:
        network = load_model(str(model), weights)
    if featurizer is None:
        return network, trained_on if trained_on in FEATURIZERS else "pyg"
    return network, load_user_name("--featurizer", featurizer) if ":" in featurizer else featurizer


def named_motifs(explanation: Explanation) -> list[dict[str, str]]:
    """Name, formula and SMARTS of each motif, for JSON."""
    return [{"name": name, "formula": text, "smarts": smarts} for name, text, smarts in explanation.motif_names()]


def molecule_parts(explanation: Explanation) -> list[Text | Table]:
    """What is printed of an explained molecule: the prediction, the groups with their scores, the cost."""
    table = Table(box=None, pad_edge=False)
    for heading in (*HEADINGS, "group", "atoms"):
        table.add_column(heading)
    names = explanation.motif_names()
    for motif, (name, text, _) in zip(explanation.all_motifs, names, strict=True):
        atoms = ", ".join(explanation.names[atom] for atom in motif.nodes)
        group = f"{name} ({text})" if name else text
        table.add_row(*motif_cells(explanation, motif), Text(group, STYLES[motif.sign]), Text(atoms))
    patterns = [Text(f"SMARTS of {name.name or name.text}: {name.smarts}") for name in names if name.smarts]
    return [
        Text(explanation.verdict, "bold"),
        table if explanation.all_motifs else Text("no motif found"),
        *patterns,
        *remark_lines(explanation),
        cost_line(explanation, "motifs"),
    ]
