"""The shell of all pages: one HTML file with everything inside, which loads nothing and runs nothing foreign."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

DATA_ID = "data"


def document(
    title: str,
    body: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
) -> str:
    """A whole HTML document that needs no network and trusts no text.

    The content security policy allows the given styles and scripts by their hashes and nothing else: no request leaves
    the page, and a script that slipped in through a name would not run. Inline ``style="…"`` attributes and ``onclick``
    handlers are refused by it too; use classes, SVG presentation attributes and listeners.

    Args:
        title: Title of the window; any text.
        body: Markup of the body; escape what is not yours with ``html.escape``.
        styles: Style sheets, inlined in this order; see :func:`asset`.
        scripts: Scripts, inlined at the end of the body in this order.
        data: What the scripts read: ``JSON.parse(document.getElementById("data").textContent)``. Plain JSON values; not
            a number and infinities become null.
    """
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_sources(scripts)}",
            f"style-src {_sources(styles)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    head = "".join(f"<style>{_closed(style, 'style')}</style>\n" for style in styles)
    tail = "" if data is None else f'<script type="application/json" id="{DATA_ID}">{json_block(data)}</script>\n'
    tail += "".join(f"<script>{_closed(script, 'script')}</script>\n" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(title)}</title>\n{head}</head>\n<body>\n{body}\n{tail}</body>\n</html>\n"
    )


def asset(name: str, package: str = "mage.report") -> str:
    """The text of a file that ships with the pages of a package, such as ``"common.css"``."""
    return resources.files(package).joinpath("assets", name).read_text(encoding="utf-8")


def json_block(data: Any) -> str:
    """JSON that may stand between script tags: no ``<`` in it, so no tag can be opened or closed."""
    text = json.dumps(_finite(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _finite(value: Any) -> Any:
    """Plain values in which NaN and infinities, which JSON has not, are null."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _sources(texts: Sequence[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{code}'" for code in hashes) or "'none'"


def _closed(text: str, tag: str) -> str:
    """The text itself; it must not end its own element early, for then its hash would not be that of the element."""
    if f"</{tag}" in text.lower() or "<!--" in text:
        raise ValueError(f"{tag}s: the text holds '</{tag}' or '<!--' and cannot be inlined")
    return text
