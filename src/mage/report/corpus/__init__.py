"""Many explanations as one page: what recurs in their motifs."""

from mage.report.corpus.entries import Entry, read_entries
from mage.report.corpus.page import corpus_page

__all__ = ["Entry", "corpus_page", "read_entries"]
