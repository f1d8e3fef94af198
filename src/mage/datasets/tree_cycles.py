"""Tree-Cycles: one tree with six-cycles, whose nodes are to be told from those of the tree."""

from mage.datasets.shapes import SIX_CYCLE
from mage.datasets.trees import tree_info

INFO = tree_info("tree_cycles", "Tree-Cycles", SIX_CYCLE, count=60, share=0.01, truth="the cycle of a node")
