"""Settings of the documentation: ``make docs`` builds it, and a warning is an error.

Nothing here needs a network. Pages are Markdown; the reference is read from the docstrings.
"""

import re
import sys
from pathlib import Path
from typing import Any

from mage._version import __version__

project = "mage"
author = "The mage developers"
copyright = author  # noqa: A001 (Sphinx reads this name)
version = release = __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
extensions += ["mathml", "notebooks", "program_reference"]  # ours, in _extensions
exclude_patterns = ["_build", "_extensions", "**/.ipynb_checkpoints"]

# Pages
myst_heading_anchors = 3  # other pages link to headings by their words
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
highlight_language = "text"  # formulas are indented blocks; code says its language

# Reference
autodoc_typehints = "none"  # signatures and docstrings already say them
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # `Attributes:` describe fields that autodoc finds as well; this names each of them once
python_use_unqualified_type_names = True

# Looks
html_theme = "furo"
html_title = f"mage {release}"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00755a", "color-brand-content": "#00755a"},
    "dark_css_variables": {"color-brand-primary": "#4bbf9f", "color-brand-content": "#4bbf9f"},
}
copybutton_exclude = ".linenos, .gp, .go"


def _as_written(_app: Any, kind: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Keep docstrings as they were written, before napoleon reads them."""
    # reStructuredText takes the bars of |S| and |score| for substitutions.
    lines[:] = [
        "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in re.split(r"(``.*?``)", line))
        for line in lines
    ]
    # Napoleon takes what stands before a colon on the first line of a property for its type, so an empty comment is
    # put there.
    if kind in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _as_written, priority=100)
