"""Pictures of indices and explanations (extra ``plot``)."""

from mage.plots.indices import draw_interactions, plot_indices, save_figure

__all__ = ["draw_interactions", "plot_indices", "save_figure"]
