"""Sentences: words, dependency trees, and what describes words to a graph network."""

from mage.text.parsing import minilm_source

__all__ = ["minilm_source"]
