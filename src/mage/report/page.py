"""One explanation as one interactive HTML file: everything inlined, nothing loaded."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from mage.drawing import drawable
from mage.explanation.wording import explained_part
from mage.report.consequences_card import consequences_card
from mage.report.features_card import features_card
from mage.report.html_tables import class_rows, motif_table, sentence
from mage.report.page_content import page_content
from mage.report.shell import asset, document
from mage.report.still_picture import still_picture

if TYPE_CHECKING:
    from mage.explanation import Explanation


def explanation_page(explanation: Explanation, title: str = "Why?", text: str = "") -> str:
    """The page of one explanation: the drawing with its motifs, scores, interactions, and settings to play with.

    The graph is drawn as a molecule, a sentence or an image where the explanation's ``subject`` says so. The motifs for
    other τ, m and M are found now, by :func:`mage.report.solution_grid`, and looked up by the page. Without scripts the
    page is a picture and a table.

    Args:
        explanation: What to show.
        title: Heading of the page.
        text: A paragraph below it.
    """
    features = features_card(explanation)
    explanation = drawable(explanation)
    values = page_content(explanation)
    lead = f'<p class="lead">{html.escape(text)}</p>' if text else ""
    body = f"""<header>
<div><h1>{html.escape(title)}</h1>{lead}</div>
<section class="prediction card" aria-label="Prediction">{_prediction(explanation)}</section>
</header>
<noscript><div class="card static">{still_picture(explanation)}<div>{motif_table(explanation)}</div></div></noscript>
<main class="needs-script">{_PANELS.format(players="players" if values["grouped"] else "nodes")}</main>
{consequences_card(explanation)}
{features}
<footer class="faint">{"".join(f"<p>{html.escape(line)}</p>" for line in facts(explanation))}</footer>"""
    styles = [asset("common.css"), asset("explanation.css")]
    return document(title, body, styles=styles, scripts=[asset("explanation.js")], data=values)


def facts(explanation: Explanation) -> list[str]:
    """How the explanation was found, in sentences."""
    masking = f", absent {explanation.players_noun}: “{explanation.masking}”" if explanation.masking else ""
    part, how = explanation.part_of, explanation.how
    return [
        f"Explains the {explanation.output} of {explained_part(explanation)}{masking}. {how[:1].upper()}{how[1:]}; "
        f"{explanation.num_queries:,} runs of the model. Made with mage.",
        *([f"Drawn are {explanation.num_nodes:,} of {part:,} nodes: those near the motifs."] if part else []),
        *explanation.notes,
    ]


def _prediction(explanation: Explanation) -> str:
    """What the model said and how sure it was."""
    rows = class_rows(explanation)
    remark = explanation.saturation
    anyway = f'<p class="soft saturation">{html.escape(sentence(remark))}</p>' if remark else ""
    if rows is None:
        value = html.escape(f"{explanation.prediction.ravel()[0]:.4g}")
        return f'<p class="soft">The model predicts</p><p class="answer">{value}</p>'
    answer, rest = rows
    return f'<p class="soft">The model says</p><p class="answer">{answer}</p>{rest}{anyway}'


# The script fills these; headings and their order are here so that the page can be read in the source.
_PANELS = """
<section class="card drawing" aria-labelledby="drawing-heading">
<div class="heading"><h2 id="drawing-heading">Who made the model say so</h2>
<div class="tools screen-only" id="tools"></div></div>
<div id="stage"></div>
<div id="readout" class="readout" role="status" aria-live="polite"></div>
<div id="legend" class="legend"></div>
</section>
<div class="side">
<section class="card" aria-labelledby="motifs-heading">
<div class="heading"><h2 id="motifs-heading">Motifs and their scores</h2></div>
<div id="bars"></div>
<p id="proof" class="proof"></p>
</section>
<section class="card controls" aria-labelledby="controls-heading">
<div class="heading"><h2 id="controls-heading">What if you asked for others?</h2></div>
<div id="controls"></div>
</section>
</div>
<div class="pairs-row">
<section class="card map" id="map-card" aria-labelledby="map-heading">
<div class="heading"><h2 id="map-heading">Who acts with whom</h2></div>
<div id="map"></div>
</section>
<section class="card listing" aria-labelledby="table-heading">
<div class="heading"><h2 id="table-heading">All {players}</h2></div>
<div id="table"></div>
</section>
</div>
"""
