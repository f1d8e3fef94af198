"""Pictures of indices and explanations (extra ``plot``)."""

from mage.plots.explanation import draw_heat_map, draw_motifs, plot_explanation
from mage.plots.image import plot_image, plot_superpixels
from mage.plots.indices import draw_interactions, plot_indices, save_figure
from mage.plots.molecule import molecule_svg
from mage.plots.sentence import plot_sentence

__all__ = [
    "draw_heat_map",
    "draw_interactions",
    "draw_motifs",
    "molecule_svg",
    "plot_explanation",
    "plot_image",
    "plot_indices",
    "plot_sentence",
    "plot_superpixels",
    "save_figure",
]
