"""Phrases for and against a prediction: ``python examples/sentences.py [gcn gin gat]``.

Sentences with mixed sentiment, predicted by the networks for GraphSST2 that ship with the library. No data is needed:
parser and encoder come with the extra ``text``. With τ = 0.5 both sides have the same weight. Up to m = 4 phrases with
together 30 % of the words are the paper's choice for sentences. The last lines of the output compare the phrases with
the words that a reader would underline.
"""

from __future__ import annotations

import sys

from rich.console import Console

import mage
from mage.cli.text import marked_sentence
from mage.models import pretrained

CLASSES = ("negative", "positive")
# The words that a reader would underline: positive words and negative words.
SENTENCES = {
    "A brilliant cast is wasted on a dull plot.": ({"brilliant"}, {"wasted", "dull"}),
    "The script is a mess, yet the young actress deserves every award she wins.": (
        {"deserves", "award", "wins"},
        {"mess"},
    ),
    "Corny and schmaltzy at times, but a heart-warming story.": ({"heart", "warming"}, {"Corny", "schmaltzy"}),
    "I expected to hate this clumsy little comedy and ended up loving it.": ({"loving"}, {"hate", "clumsy"}),
    "The plot is predictable, but the performances are wonderful.": ({"wonderful"}, {"predictable"}),
    "It is not a good movie.": ({"good"}, {"not"}),
}


def underlined(explanation: mage.Explanation) -> tuple[set[str], set[str]]:
    """Words in positive phrases and words in negative phrases, for either prediction."""
    sides: dict[int, set[str]] = {1: set(), -1: set()}
    for motif in explanation.motifs:
        sides[motif.sign if explanation.target == 1 else -motif.sign].update(motif.names)
    return sides[1], sides[-1]


def main(kinds: list[str]) -> None:
    """Print each sentence with the phrases of each network."""
    console = Console(highlight=False, soft_wrap=True)
    networks = {kind: pretrained("graph_sst2", kind) for kind in kinds}
    agreeing = dict.fromkeys(kinds, 0)
    num_words = dict.fromkeys(kinds, 0)
    for sentence, expected in SENTENCES.items():
        for kind, network in networks.items():
            explanation = mage.explain_text(network, sentence, num_motifs=4, max_nodes=0.3, tau=0.5, progress=False)
            verdict = f"{kind} {CLASSES[explanation.target]} {explanation.probabilities[explanation.target]:.2f}"
            cost = f"({explanation.num_queries:,} queries, {'exact' if explanation.interactions.exact else 'sampled'})"
            console.print(f"{verdict:17}", marked_sentence(explanation), cost)
            praise, blame = underlined(explanation)
            agreeing[kind] += len(praise & expected[0]) + len(blame & expected[1])
            num_words[kind] += len(praise) + len(blame)
        console.print()
    total = sum(len(praise) + len(blame) for praise, blame in SENTENCES.values())
    for kind in kinds:
        console.print(
            f"{kind}: {agreeing[kind]} of the {total} words that a reader would underline are in a phrase of the right "
            f"sign; phrases have {num_words[kind]} words"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or ["gcn", "gin", "gat"])
