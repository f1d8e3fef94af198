"""Tree-Grid: one tree with grids of nine nodes, whose nodes are to be told from those of the tree."""

from mage.datasets.shapes import GRID
from mage.datasets.trees import tree_info

INFO = tree_info("tree_grid", "Tree-Grid", GRID, count=80, share=0.1, truth="the grid of a node")
