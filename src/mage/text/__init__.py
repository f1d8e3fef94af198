"""Sentences: words, dependency trees, and what describes words to a graph network."""
