"""The package as a whole: what works after ``import mage``, with and without the optional libraries."""

import subprocess
import sys

import pytest

ROOMS = ("datasets", "drawing", "experiments", "metrics", "models", "plots", "pyg", "report", "testing")
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
import mage
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def without(code, *libraries):
    return run(BLOCKED.format(blocked=set(libraries)) + code)


def test_rooms_open_when_they_are_first_used():
    result = run(f"import mage\nfor room in {ROOMS}: print(room in dir(mage), getattr(mage, room).__name__)")
    assert result.stdout.split("\n")[:-1] == [f"True mage.{room}" for room in ROOMS], result.stderr


def test_the_core_works_without_torch():
    code = (
        "game = mage.Game(lambda masks: masks.sum(axis=1) ** 2.0, 4, edges=[(0, 1), (1, 2), (2, 3)])\n"
        "index = mage.interactions(game, order=2)\n"
        "motifs = mage.find_motifs(index, num_motifs=1, max_nodes=2)\n"
        "print(len(motifs), mage.metrics.node_f1([0], [0], 4), mage.experiments.__name__, mage.report.__name__)"
    )
    result = without(code, "torch", "torch_geometric", "rdkit", "matplotlib", "spacy", "transformers", "skimage")
    assert result.stdout.split() == ["1", "1.0", "mage.experiments", "mage.report"], result.stderr


@pytest.mark.parametrize("library", ["torch", "torch_geometric"])
def test_without_torch_it_is_said_what_to_install(library):
    lines = ("mage.pyg", "mage.models", "import mage.pyg", "mage.datasets.load('benzene')", "mage.explain(None, None)")
    code = f"for line in {lines}:\n  try: exec(line)\n  except ImportError as error: print(error)\n"
    result = without(code, library)
    expected = [f"this needs {library}: pip install 'mage-explain[pyg]'"] * len(lines)
    expected[-2:] = ["this needs torch_geometric: pip install 'mage-explain[pyg]'"] * 2  # which brings torch with it
    assert result.stdout.split("\n")[:-1] == expected, result.stderr
