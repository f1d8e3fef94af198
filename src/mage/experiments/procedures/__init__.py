"""Kinds of experiments: explanations of graphs, and group attributions of images."""

PROCEDURES = {
    "explanations": "graphs:GraphProcedure",
    "group-attribution": "group_attribution:GroupAttribution",
}
"""Procedures by the names that experiments call them by, each with its module and class in this package."""
