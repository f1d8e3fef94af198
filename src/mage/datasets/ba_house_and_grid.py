"""BA-HouseAndGrid: whether a Barabási-Albert graph has both a house and a 3 × 3 grid."""

from mage.datasets.barabasi_albert import motif_logic_info
from mage.datasets.dataset_info import PaperFigures

_PAPER = PaperFigures(graphs=10_000, nodes=29.42, edges=41.01, gcn=99.30, gin=99.90, gat=51.10)
_CLASS_NAMES = ("not both", "house and grid")
INFO = motif_logic_info("ba_house_and_grid", "BA-HouseAndGrid", _CLASS_NAMES, label_of_one=0, paper=_PAPER, epochs=80)
