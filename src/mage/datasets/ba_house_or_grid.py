"""BA-HouseOrGrid: whether a Barabási-Albert graph has a house, a 3 × 3 grid or both."""

from mage.datasets.barabasi_albert import motif_logic_info
from mage.datasets.dataset_info import PaperFigures

_PAPER = PaperFigures(graphs=10_000, nodes=24.73, edges=34.31, gcn=100.00, gin=100.00, gat=51.10)
_CLASS_NAMES = ("neither", "house or grid")
INFO = motif_logic_info("ba_house_or_grid", "BA-HouseOrGrid", _CLASS_NAMES, label_of_one=1, paper=_PAPER, epochs=60)
