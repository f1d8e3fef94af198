"""The demo explained in the setting of the paper's Figure 3c: one family of both sides, of given sizes."""

import mage
from mage.models import demo_graph, load_demo_model


def demo_of_both_sides(seed=1):
    """The grid for the class, and the five-cycle against it."""
    return mage.explain(
        load_demo_model(),
        demo_graph(seed),
        num_motifs=2,
        max_nodes=14,
        tau=0.5,
        output="logit",
        order=2,
        objective="paper",
        class_names=("house", "grid"),
    )
