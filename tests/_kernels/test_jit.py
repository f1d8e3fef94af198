"""What people are told while kernels are compiled."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
import networkx as nx
import mage
game = mage.Game(lambda masks: masks.sum(axis=1) ** 1.5, 12, nx.barabasi_albert_graph(12, 2, seed=0))
mage.find_motifs(mage.interactions(game, order=3, method="exact"))
"""


@pytest.mark.long
def test_the_first_call_says_that_it_compiles_and_later_ones_do_not(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = []
    for _ in range(2):
        command = [sys.executable, "-c", SCRIPT]
        out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.append(out.stderr.count("compiling, once"))
    assert said == [1, 0]
