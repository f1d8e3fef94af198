"""``mage explain-text``: the phrases of a sentence that made a model say this."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mage._core.importing import load_user_object
from mage.cli._app import app, failing_politely
from mage.cli._options import check_files, checked_max_nodes
from mage.explanation import SentenceSubject
from mage.text.sentence import gaps_between

if TYPE_CHECKING:
    from mage.explanation import Explanation

_SETS = ("graph_sst2", "twitter")
_KINDS = ("gcn", "gin", "gat")
_STYLES = {1: "bold green", -1: "bold red"}
# Words that carry what colour says: it may be absent, or not seen.
_MARKS = {1: ("[+ ", " +]"), -1: ("[− ", " −]")}


@app.command("explain-text")
def explain_text(
    sentence: Annotated[str, typer.Argument(help="An English sentence.")],
    model: Annotated[
        str,
        typer.Option(
            help="gcn, gin or gat of those that ship with the library; a checkpoint of mage train, or its folder for "
            "the network of --dataset; or module:name of a graph network or of a function classify(list[str])."
        ),
    ] = "gcn",
    dataset: Annotated[str, typer.Option(help="What the network learnt from: graph_sst2 or twitter.")] = "graph_sst2",
    num_motifs: Annotated[int, typer.Option(help="m, most phrases.")] = 4,
    max_nodes: Annotated[
        float, typer.Option(help="M, most words in all: a count ≥ 1, or a share below 1 (of which 3 at least).")
    ] = 0.3,
    tau: Annotated[float, typer.Option(help="1: what speaks for; 0: against; between: both.")] = 0.5,
    target: Annotated[int | None, typer.Option(help="Class; the predicted one by default.")] = None,
    output: Annotated[str, typer.Option(help="logit, probability or log-probability.")] = "logit",
    absent: Annotated[
        str | None,
        typer.Option(help="What becomes of absent words: zero, … for networks; remove or a word such as [MASK]."),
    ] = None,
    method: Annotated[str, typer.Option(help="auto, exact or permutation; see mage.interactions.")] = "auto",
    budget: Annotated[int | None, typer.Option(help="Most coalitions to ask for.")] = None,
    permutations: Annotated[int | None, typer.Option(help="Orderings to sample.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the explanation in this file.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page to this .html file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Explain what a model says of a sentence: [+ phrases for it +] and [− phrases against it −].

    Exit codes: 0 for an explanation, 1 for a failure, 2 for wrong arguments.
    """
    with failing_politely():
        from mage.explainers.text import explain_text as explain

        check_files(save=save, page=page)
        most = checked_max_nodes(max_nodes)
        network, class_names = _model(model, dataset)
        explanation = explain(
            network,
            sentence,
            num_motifs=num_motifs,
            max_nodes=most,
            tau=tau,
            target=target,
            output=output,
            absent=absent,
            class_names=class_names,
            method=method,
            budget=budget,
            permutations=permutations,
            seed=seed,
        )
        if save is not None:
            explanation.save(save)
        if page is not None:
            explanation.save_html(page, title=_sentence(explanation).text)
    if as_json:
        words = {"words": list(_sentence(explanation).words)}
        typer.echo(json.dumps({**words, **explanation.to_dict()}, indent=2))
        return
    console = Console()
    for part in sentence_parts(explanation):
        console.print(part, soft_wrap=isinstance(part, Text))
    if page is not None:
        console.print(f"wrote {page}", soft_wrap=True, markup=False, highlight=False)


def sentence_parts(explanation: Explanation) -> list[Text | Table]:
    """What is said of an explained sentence on a terminal: the verdict, the marked sentence, the scores, the cost."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "score", "phrase"):
        table.add_column(heading)
    for motif in explanation.motifs:
        style = _STYLES[motif.sign]
        words = " ".join(explanation.names[place] for place in motif.nodes)
        side, score = "for" if motif.sign > 0 else "against", f"{motif.score:+.3g}{explanation.error_text(motif)}"
        table.add_row(Text(side, style), Text(score), Text(words, style))
    cost = f"{explanation.how}, {explanation.num_queries:,} queries, {explanation.seconds:.2f} s"
    return [
        Text(explanation.verdict, "bold"),
        marked_sentence(explanation),
        table if len(explanation.motifs) else Text("no phrase found"),
        Text(f"{cost}; phrases {explanation.motifs.proof}", "dim"),
    ]


def _sentence(explanation: Explanation) -> SentenceSubject:
    """The sentence that was explained."""
    if not isinstance(explanation.subject, SentenceSubject):
        raise TypeError(f"the explanation is not of a sentence, but of {explanation.subject.whole}")
    return explanation.subject


def marked_sentence(explanation: Explanation) -> Text:
    """The sentence in words, phrases that speak for the class between [+ and +], those against it between [− and −]."""
    labels = explanation.motifs.labels.tolist()
    signs = [0, *(motif.sign for motif in explanation.motifs)]
    gaps = gaps_between(_sentence(explanation).text, explanation.names)
    text = Text()
    for place, (word, label) in enumerate(zip(explanation.names, labels, strict=True)):
        opens = label and (place == 0 or labels[place - 1] != label)
        closes = label and (place == len(labels) - 1 or labels[place + 1] != label)
        opening, closing = _MARKS.get(signs[label], ("", ""))
        text.append(gaps[place])
        text.append((opening if opens else "") + word + (closing if closes else ""), _STYLES.get(signs[label]))
    return text.append(gaps[-1])


def _model(name: str, dataset: str) -> tuple[Any, list[str] | None]:
    """The model, and the names of its classes where they are known."""
    from mage import datasets
    from mage.models import load_checkpoint, pretrained

    if dataset not in _SETS:
        raise ValueError(f"--dataset must be one of {', '.join(_SETS)}; got {dataset!r}")
    classes = list(datasets.info(dataset).class_names)
    if name in _KINDS:
        return pretrained(dataset, name), classes
    path = Path(name)
    if path.is_dir():
        found = sorted(path.glob(f"{dataset}_*.safetensors"))
        if len(found) != 1:
            there = ", ".join(file.name for file in found) or "none"
            raise ValueError(f"--model: {name} must hold one checkpoint of {dataset}, it has {there}; name the file")
        path = found[0]
    if path.is_file():
        checkpoint = load_checkpoint(path)
        trained_on = str(checkpoint.about.get("dataset"))
        return checkpoint.model, list(datasets.info(trained_on).class_names) if trained_on in _SETS else None
    if ":" in name:
        # A class of networks is called to make one; a function of sentences is the model itself.
        return load_user_object("--model", name, "model", lambda it: callable(it) and not isinstance(it, type)), None
    raise ValueError(f"--model: {name!r} is none of {', '.join(_KINDS)}, no file or folder, and not module:name")
