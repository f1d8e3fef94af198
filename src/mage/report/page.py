"""Explanations as interactive HTML files: everything inlined, nothing loaded."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mage._core.checks import checked_flag, checked_list, checked_text, checked_texts
from mage._core.files import atomic_path
from mage.drawing import drawable
from mage.drawing.scene_builders import drawn_nodes
from mage.explanation.outcomes import class_name, percent
from mage.explanation.subject import SentenceSubject
from mage.report.agreement import agreement_card
from mage.report.consequences_card import consequences_card
from mage.report.features_card import features_card
from mage.report.html_tables import class_rows, motif_table, sentence
from mage.report.page_content import explained_output, page_content
from mage.report.page_wording import default_title, facts
from mage.report.shell import asset, document
from mage.report.still_picture import still_picture

if TYPE_CHECKING:
    from mage.explanation import Explanation


def explanation_page(explanation: Explanation, title: str = "", text: str = "") -> str:
    """The page of one explanation: the drawing with its motifs, scores, interactions, and settings to play with.

    The graph is drawn as a molecule, a sentence or an image where the explanation's ``subject`` says so. The motifs for
    other τ, m and M are found now, by :func:`mage.report.solution_grid`, and looked up by the page. Without scripts the
    page is a picture and a table.

    Args:
        explanation: What to show.
        title: Heading of the page; by default it names the explained class.
        text: A paragraph below it.
    """
    return explanations_page([explanation], title, text)


def save_html(
    explanations: Explanation | Sequence[Explanation],
    path: str | Path,
    title: str = "",
    text: str = "",
    *,
    labels: Sequence[str] = (),
    side_by_side: bool = False,
) -> None:
    """Write one page of several explanations that opens anywhere, offline: classes to switch between, or side by side.

    Args:
        explanations: One or more: of several classes, of two models, of before and after a change.
        path: File to write; it is never left incomplete.
        title: Heading of the page; by default it names the explained class.
        text: A paragraph below it.
        labels: A name for each explanation; by default its class, or its model where the classes are the same.
        side_by_side: Whether all are shown beside each other; else the reader chooses one.
    """
    pages = explanations if isinstance(explanations, Sequence) else [explanations]
    page = explanations_page(pages, title, text, labels, side_by_side)
    with atomic_path(path) as unfinished:
        unfinished.write_text(page, encoding="utf-8")


def _checked_explanations(explanations: Any) -> list[Explanation]:
    from mage.explanation import Explanation

    pages = checked_list("explanations", explanations, "one or more explanations")
    others = [type(page).__name__ for page in pages if not isinstance(page, Explanation)]
    if others:
        raise TypeError(f"explanations must be explanations, got {others[0]}")
    if not pages:
        raise ValueError("explanations must have at least one explanation")
    return pages


def explanations_page(
    explanations: Sequence[Explanation],
    title: str = "",
    text: str = "",
    labels: Sequence[str] = (),
    side_by_side: bool = False,
) -> str:
    """The page of one or more explanations; see :func:`save_html`."""
    explanations = _checked_explanations(explanations)
    title, text = checked_text("title", title), checked_text("text", text)
    side_by_side = checked_flag("side_by_side", side_by_side)
    given_names = checked_texts("labels", checked_list("labels", labels, "a list of names"))
    if given_names and len(given_names) != len(explanations):
        raise ValueError(f"labels must list {len(explanations)} names, one per explanation, got {len(given_names)}")
    names = list(given_names) or default_labels(explanations)
    heading = title or (" and ".join(dict.fromkeys(names)) if side_by_side else default_title(explanations[0]))
    parts = [drawable(explanation) for explanation in explanations]
    contents: list[dict[str, Any]] = []
    for whole, part, name in zip(explanations, parts, names, strict=True):
        numbers = None if part.part_of is None else drawn_nodes(whole).tolist()
        own_title = heading if len(parts) == 1 or side_by_side else title or default_title(part)
        content = page_content(part, own_title, numbers) | {"name": name}
        if contents and content["drawing"] == contents[0]["drawing"]:
            del content["drawing"]  # the same graph is drawn once
        contents.append(content)
    values: dict[str, Any] = contents[0] | {"others": contents[1:], "sideBySide": side_by_side}
    suffixes = ["", *(f"-{number}" for number in range(2, len(parts) + 1))]
    cards = [_prediction(part, suffix) for part, suffix in zip(parts, suffixes, strict=True)]
    articles = "".join(
        _article(
            part,
            suffix,
            f"<h2>{html.escape(name)}</h2>{card}" if side_by_side else "",
            len(parts) > 1 and name,
            features_card(whole, suffix),
        )
        for whole, part, suffix, name, card in zip(explanations, parts, suffixes, names, cards, strict=True)
    )
    lead = f'<p class="lead">{html.escape(text)}</p>' if text else ""
    switch = '<div id="switch" class="switch" role="group" aria-label="Explained class"></div>'
    body = f"""<header>
<div><h1 id="title">{html.escape(heading)}</h1>{lead}{switch if len(parts) > 1 and not side_by_side else ""}</div>
{"" if side_by_side else "".join(cards)}
</header>
{agreement_card(parts[0], parts[1], names) if side_by_side and len(parts) == 2 else ""}
<main class="explanations{" side-by-side" if side_by_side else ""}">{articles}</main>"""
    styles = [asset("common.css"), asset("drawing.css"), asset("explanation.css")]
    return document(heading, body, styles=styles, scripts=[asset("explanation.js")], data=values)


def default_labels(explanations: Sequence[Explanation]) -> list[str]:
    """What explanations are called beside each other: by their classes, their models, or their numbers."""
    classes = [explained_output(explanation) for explanation in explanations]
    models = [explanation.origin.model if explanation.origin is not None else "" for explanation in explanations]
    if len(set(classes)) == len(classes):
        return [f"{name}{_chance(explanation)}" for name, explanation in zip(classes, explanations, strict=True)]
    if len(set(models)) == len(models) and all(models):
        return models
    return [f"{number}: {name}" for number, name in enumerate(classes, start=1)]


def _chance(explanation: Explanation) -> str:
    """How likely the explained class is; empty for regression."""
    chances, target = explanation.probabilities, explanation.target
    return "" if chances is None or target is None else f", {percent(float(chances[target]))}"


def _article(explanation: Explanation, suffix: str, heading: str, still_name: str | bool, features: str) -> str:
    """One explanation of the page."""
    words = explanation.subject
    of_sentence = " of-sentence" if isinstance(words, SentenceSubject) else ""
    grouped = explanation.player_kind != "edges" and any(len(members) != 1 for members in explanation.players)
    panels = _PANELS.format(
        suffix=suffix,
        players="groups" if grouped else explanation.players_noun,
        whole=words.whole.removeprefix("the ").capitalize(),
    )
    name = f"<h2>{html.escape(str(still_name))}</h2>" if still_name and not heading else ""
    still = f'<div class="card static">{still_picture(explanation)}<div>{motif_table(explanation)}</div></div>'
    return f"""<article class="explanation{of_sentence}" id="explanation{suffix}">{heading}
<noscript>{name}{still}</noscript>
<div class="panels needs-script">{panels}</div>
{consequences_card(explanation, suffix)}
{features}
<footer class="faint">{"".join(f"<p>{html.escape(line)}</p>" for line in facts(explanation))}</footer>
</article>"""


def _prediction(explanation: Explanation, suffix: str) -> str:
    """What the model said and how sure it was, what is true, and what is explained."""
    rows = class_rows(explanation)
    remark = explanation.saturation
    anyway = f'<p class="soft saturation">{html.escape(sentence(remark))}</p>' if remark else ""
    if rows is None:
        value = html.escape(f"{explanation.prediction.ravel()[0]:.4g}")
        answer, table = value, ""
    else:
        answer, table = rows
    return (
        f'<section class="prediction card" id="prediction{suffix}" aria-label="Prediction"><p class="soft">'
        f'The model predicts</p><p class="answer">{answer}</p>{table}{_truth(explanation)}{anyway}</section>'
    )


def _truth(explanation: Explanation) -> str:
    """The true class, where it is known."""
    label = explanation.origin.label if explanation.origin is not None else None
    chances = explanation.probabilities
    if label is None or chances is None or not 0 <= label < len(chances):
        return ""
    sign = "✓" if label == int(chances.argmax()) else "✗"
    return f'<p class="soft">True class: {html.escape(class_name(explanation, label))} {sign}</p>'


# The script fills these; headings and their order are here so that the page can be read in the source.
_PANELS = """
<section class="card drawing" aria-labelledby="drawing-heading{suffix}">
<div class="heading"><h2 id="drawing-heading{suffix}">{whole} and motifs</h2>
<div class="tools screen-only" id="tools{suffix}"></div></div>
<div class="stage" id="stage{suffix}"></div>
<div id="readout{suffix}" class="readout" role="status" aria-live="polite"></div>
<div id="legend{suffix}" class="legend"></div>
<div class="export screen-only"><span class="faint">Take it away</span>
<div class="tools" id="export{suffix}"></div><span class="faint" id="export-status{suffix}" role="status"></span></div>
</section>
<div class="side">
<section class="card" aria-labelledby="motifs-heading{suffix}">
<div class="heading"><h2 id="motifs-heading{suffix}">Motifs and their scores</h2></div>
<div class="bars" id="bars{suffix}"></div>
<p id="proof{suffix}" class="proof"></p>
</section>
<section class="card controls" aria-labelledby="controls-heading{suffix}">
<div class="heading"><h2 id="controls-heading{suffix}">Other settings</h2></div>
<div id="controls{suffix}"></div>
</section>
</div>
<div class="pairs-row">
<section class="card map" id="map-card{suffix}" aria-labelledby="map-heading{suffix}">
<div class="heading"><h2 id="map-heading{suffix}">Interactions of pairs</h2></div>
<div id="map{suffix}"></div>
</section>
<section class="card listing" aria-labelledby="table-heading{suffix}">
<div class="heading"><h2 id="table-heading{suffix}">All {players}</h2></div>
<div class="table" id="table{suffix}"></div>
</section>
</div>
"""
