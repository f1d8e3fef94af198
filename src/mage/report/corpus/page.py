"""Many explanations as one page: what recurs in their motifs, a table of graphs, details of each."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from mage.drawing import hatch_svg
from mage.motifs import PROVEN
from mage.report.corpus.content import corpus_content
from mage.report.corpus.entries import Entry, class_names
from mage.report.shell import asset, document

STYLES = ("common.css", "drawing.css", "corpus.css")
SCRIPTS = ("corpus.js",)

_FILTERS = """
<form id="filters" class="screen-only">
<label>search <input type="search" name="text" placeholder="motif or graph"></label>
<label>explained <select name="target"><option value="">all classes</option></select></label>
<label>true class <select name="label"><option value="">all classes</option></select></label>
<label>prediction <select name="right"><option value="">right or wrong</option><option value="true">right</option>
<option value="false">wrong</option></select></label>
<label>score at least <input type="number" name="score" step="any" min="0" inputmode="decimal"></label>
<label>nodes from <input type="number" name="from" min="0" inputmode="numeric"></label>
<label>to <input type="number" name="to" min="0" inputmode="numeric"></label>
<button type="reset">Clear</button>
</form>"""
_TABLE = """
<div class="bar"><p><span id="count" role="status"></span>
<button type="button" id="only" class="chip screen-only" hidden></button></p>
<p id="pager" class="screen-only"><label>rows <select id="many"><option>25</option><option selected>50</option>
<option>200</option><option value="0">all</option></select></label>
<button type="button" id="before" aria-label="page before">‹</button> <span id="page"></span>
<button type="button" id="after" aria-label="page after">›</button></p></div>
<div class="scroll"><table><thead><tr id="head"></tr></thead><tbody id="rows"></tbody></table></div>"""
_DIALOG = """
<dialog id="details" aria-labelledby="details-title">
<div class="bar"><p><button type="button" id="previous">‹ previous</button>
<button type="button" id="next">next ›</button></p>
<button type="button" id="close" autofocus>Close</button></div>
<div id="details-body"></div>
</dialog>"""
_METHOD = """
<details class="faint method"><summary>How cores are found and ordered</summary>
<p>A <b>core</b> is a connected piece of motifs: some of a motif's nodes with all edges between them, compared by the
names of nodes and, in molecules that RDKit can read, by the orders of bonds. It counts once per graph. All pieces that
recur in enough graphs of a class are found; those that only ever occur within a larger one are left out.</p>
<p><b>Consistency</b> is a share: of the graphs of the class that contain the piece, in how many is it inside a motif?
Cores are ordered by the lower end of the 95 % interval of that share (Wilson) times the square root of their number of
nodes. Pieces that hold, or lie within, one that leads and share four fifths of their graphs with it are listed as its
other forms. Names of functional groups are labels from a table; they have no part in finding or ordering.</p>
<p>Motifs say what this model relies on, for these graphs. They do not say that nature does.</p>
</details>"""


def corpus_page(
    entries: Sequence[Entry],
    skipped: Sequence[tuple[str, str]] = (),
    title: str = "",
    after: str = "",
    after_styles: Sequence[str] = (),
) -> str:
    """The page of a corpus of explanations.

    Args:
        entries: The explanations; see :func:`mage.report.corpus.entries.read_entries`.
        skipped: Files that could not be read, with the reason.
        title: Heading; by default the dataset and the model.
        after: Markup below, which must be escaped already.
        after_styles: Style sheets for it.
    """
    heading = title or _title(entries)
    return document(
        heading,
        f"<header><h1>{html.escape(heading)}</h1>{_lead(entries)}</header>\n{_notes(entries, skipped)}"
        "<noscript><p class='card'>The tables and drawings of this page are made by its script, which is switched off."
        "</p></noscript>\n"
        '<section class="card" id="recurring"><h2>What recurs in the motifs</h2></section>\n'
        f"{_METHOD}\n"
        f'<section class="card" id="graphs"><h2>All graphs</h2>{_FILTERS}{_TABLE}</section>\n'
        f"{after}{_DIALOG}\n{hatch_svg()}",
        styles=[*map(asset, STYLES), *after_styles],
        scripts=list(map(asset, SCRIPTS)),
        data={"corpus": corpus_content(entries)},
    )


def _title(entries: Sequence[Entry]) -> str:
    sources = {entry.source for entry in entries}
    only = sources.pop() if len(sources) == 1 else ""
    return f"{only}: what the model looks at" if only else "What the model looks at"


def _lead(entries: Sequence[Entry]) -> str:
    """The corpus in a few figures."""
    explanations = [entry.explanation for entry in entries]
    count = len(entries)
    facts = [_counted(count, "explanation")]
    names = class_names(list(entries))
    targets = [explanation.target for explanation in explanations if explanation.target is not None]
    facts += [f"{targets.count(target)} as {names[target]}" for target in sorted(set(targets))]
    verdicts = [entry.right for entry in entries if entry.right is not None]
    if verdicts:
        facts.append(f"{sum(verdicts)} of {len(verdicts)} predicted correctly")
    facts.append(f"{sum(explanation.interactions.exact for explanation in explanations)} with an exact index")
    facts.append(f"{sum(explanation.motifs.proof == PROVEN for explanation in explanations)} with motifs {PROVEN}")
    queries = float(np.median([explanation.num_queries for explanation in explanations]))
    facts.append(f"median {queries:,.0f} runs of the model")
    facts.append(f"{sum(explanation.seconds for explanation in explanations):,.0f} s in all")
    items = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    return f'<ul class="figures">{items}</ul>'


def _notes(entries: Sequence[Entry], skipped: Sequence[tuple[str, str]]) -> str:
    """What a reader must know before trusting the counts."""
    notes: list[str] = []
    sources = sorted({entry.source for entry in entries} - {""})
    if len(sources) > 1:
        notes.append(f"This folder mixes {len(sources)} sources: {'; '.join(sources)}. Counts are over all of them.")
    counts: dict[Any, int] = {}
    for entry in entries:
        counts[entry.source, entry.name] = counts.get((entry.source, entry.name), 0) + 1
    repeated = sum(number > 1 for number in counts.values())
    if repeated:
        many = "graph is" if repeated == 1 else "graphs are"
        notes.append(f"{repeated} {many} here more than once, explained with other options; each explanation counts.")
    if skipped:
        listed = "; ".join(f"{name} ({reason})" for name, reason in skipped[:5])
        more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
        left_out = "is left out" if len(skipped) == 1 else "are left out"
        notes.append(f"{_counted(len(skipped), 'file')} could not be read and {left_out}: {listed}{more}.")
    return "".join(f'<p class="card note">{html.escape(note)}</p>\n' for note in notes)


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' if count != 1 else ''}"
