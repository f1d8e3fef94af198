"""Compiled inner loops.

Coalitions are rows of 64-bit words: player ``i`` is bit ``i % 64`` of word ``i // 64``. Nothing in here checks its
arguments or allocates more than it returns; the rooms outside do the talking.
"""
