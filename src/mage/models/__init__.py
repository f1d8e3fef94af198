"""Models: a small trained network that ships with the library, so that there is something to explain."""

from mage._optional import require

# Before the modules below import them without a word about what to install.
require("torch", "pyg")
require("torch_geometric", "pyg")

from mage.models.demo import DemoGIN, demo_graph, load_demo_model  # noqa: E402 - after the check above

__all__ = ["DemoGIN", "demo_graph", "load_demo_model"]
