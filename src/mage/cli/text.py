"""``mage explain-text``: the phrases of a sentence that led to a prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from mage._core.checks import checked_choice, did_you_mean
from mage._core.importing import load_user_object
from mage._core.shipped_networks import check_shipped
from mage.cli._app import announce, app
from mage.cli._options import EXPLAINED, MODEL, option, sharing
from mage.cli._printing import HEADINGS, STYLES, cost_line, motif_cells, remark_lines
from mage.cli._request import check_request, request_options
from mage.cli._results import Results, result_options
from mage.explanation import SentenceSubject
from mage.games import TextRequest
from mage.text.sentence import gaps_between

if TYPE_CHECKING:
    from mage.explanation import Explanation

_SETS = ("graph_sst2", "twitter")
_KINDS = ("gcn", "gin", "gat")
_MODEL = (
    "gcn, gin or gat: networks that ship with the library; or a checkpoint of mage train, or its folder; or "
    "module:name of a graph network or of a function classify(sentences)."
)
# Words that carry what colour says: it may be absent, or not seen.
_MARKS = {1: ("[+ ", " +]"), -1: ("[− ", " −]")}


@app.command("explain-text")
@sharing(fields=request_options, results=result_options)
def explain_text(
    sentence: Annotated[str, typer.Argument(help="An English sentence.")],
    model: Annotated[str, option(MODEL, _MODEL)] = "gcn",
    dataset: Annotated[
        str, option(MODEL, "Dataset that the network was trained on: graph_sst2 or twitter.")
    ] = "graph_sst2",
    target: Annotated[int | None, option(EXPLAINED, "Class; the predicted one by default.")] = None,
    absent: Annotated[
        str | None,
        option(
            EXPLAINED,
            "What replaces absent words. Graph networks: zero, mean, remove or split. Functions of sentences: "
            "remove, or a word such as [MASK].",
        ),
    ] = None,
    *,
    fields: dict[str, Any],
    results: Results,
) -> None:
    """Explain the class of a sentence: [+ phrases for it +] and [− phrases against it −]."""
    check_request(TextRequest, {"target": target, "absent": absent, **fields})
    _check_model(model, dataset)
    announce("loading PyTorch and the network")
    from mage.explainers.text import explain_text as explain

    network, class_names = _model(model, dataset)
    announce("parsing the sentence")
    explanation = explain(network, sentence, target=target, absent=absent, class_names=class_names, **fields)
    sentence_words = _sentence(explanation)
    results.finish(
        explanation, sentence_parts(explanation), title=sentence_words.text, words=list(sentence_words.words)
    )


def sentence_parts(explanation: Explanation) -> list[Text | Table]:
    """What is said of an explained sentence on a terminal: the verdict, the marked sentence, the scores, the cost."""
    table = Table(box=None, pad_edge=False)
    for heading in (*HEADINGS, "phrase"):
        table.add_column(heading)
    for motif in explanation.all_motifs:
        words = " ".join(explanation.names[place] for place in motif.nodes)
        table.add_row(*motif_cells(explanation, motif), Text(words, STYLES[motif.sign]))
    return [
        Text(explanation.verdict, "bold"),
        marked_sentence(explanation),
        table if explanation.all_motifs else Text("no phrase found"),
        *remark_lines(explanation),
        cost_line(explanation, "phrases"),
    ]


def _sentence(explanation: Explanation) -> SentenceSubject:
    """The sentence that was explained."""
    if not isinstance(explanation.subject, SentenceSubject):
        raise TypeError(f"the explanation is not of a sentence, but of {explanation.subject.whole}")
    return explanation.subject


def marked_sentence(explanation: Explanation) -> Text:
    """The sentence in words: phrases for the class between [+ and +], those against it between [− and −]."""
    labels = explanation.all_labels.tolist()
    signs = [0, *(motif.sign for motif in explanation.all_motifs)]
    gaps = gaps_between(_sentence(explanation).text, explanation.names)
    text = Text()
    for place, (word, label) in enumerate(zip(explanation.names, labels, strict=True)):
        opens = label and (place == 0 or labels[place - 1] != label)
        closes = label and (place == len(labels) - 1 or labels[place + 1] != label)
        opening, closing = _MARKS.get(signs[label], ("", ""))
        text.append(gaps[place])
        text.append((opening if opens else "") + word + (closing if closes else ""), STYLES.get(signs[label]))
    return text.append(gaps[-1])


def _check_model(name: str, dataset: str) -> None:
    """Refuse names that mean nothing, before anything is loaded."""
    checked_choice("--dataset", dataset, _SETS)
    path = Path(name)
    if name in _KINDS:
        check_shipped(dataset, name)
    elif not path.exists() and ":" not in name:
        hint = did_you_mean(name, _KINDS)
        raise ValueError(
            f"--model: {name!r} is none of {', '.join(_KINDS)}{hint}, no file or folder, and not module:name"
        )


def _model(name: str, dataset: str) -> tuple[Any, list[str] | None]:
    """The model, and the names of its classes where they are known."""
    from mage import datasets
    from mage.models import load_checkpoint, pretrained

    classes = list(datasets.info(dataset).class_names)
    if name in _KINDS:
        return pretrained(dataset, name), classes
    path = Path(name)
    if path.is_dir():
        files = sorted(path.glob(f"{dataset}_*.safetensors"))
        if len(files) != 1:
            names = ", ".join(file.name for file in files) or "none"
            raise ValueError(f"--model: {name} must hold one checkpoint of {dataset}, it has {names}; name the file")
        path = files[0]
    if path.is_file():
        checkpoint = load_checkpoint(path)
        trained_on = str(checkpoint.about.get("dataset"))
        return checkpoint.model, list(datasets.info(trained_on).class_names) if trained_on in _SETS else None
    # A class of networks is called to make one; a function of sentences is the model itself.
    return load_user_object(
        "--model", name, "model", lambda model: callable(model) and not isinstance(model, type)
    ), None
