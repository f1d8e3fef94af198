"""The plain call gives the same bytes cold and warm, with a slow model, and beside busy processes."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import functools, hashlib, json, sys, time
import mage
from mage.models import demo_graph, load_demo_model

model, data = load_demo_model(), demo_graph(1)
if sys.argv[1] == "slow":
    inner = model.forward
    slow = functools.wraps(inner)(lambda *args, **kwargs: (time.sleep(0.05), inner(*args, **kwargs))[1])
    model.forward = slow
why = mage.explain(model, data, progress=False)
content = why.interactions.values.tobytes() + str([motif.nodes for motif in why.all_motifs]).encode()
facts = [why.interactions.method, why.interactions.reason, why.num_queries, hashlib.sha256(content).hexdigest()]
print(json.dumps(facts))
"""
BUSY = "while True: pass"


def answer(cache, case=""):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, case]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600)
    return json.loads(run.stdout.strip().splitlines()[-1])


@pytest.mark.long
def test_the_same_answer_cold_warm_slow_and_beside_busy_processes(tmp_path):
    cold = answer(tmp_path)  # compiles everything
    assert any(tmp_path.rglob("*.nbi"))
    assert cold[0].startswith("exact")
    assert answer(tmp_path) == cold
    assert answer(tmp_path, "slow") == cold
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(4)]
    try:
        assert answer(tmp_path) == cold
    finally:
        for process in busy:
            process.kill()
            process.wait()
