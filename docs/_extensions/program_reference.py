"""The reference of the ``mage`` command, made from the program itself when the site is built."""

from __future__ import annotations

from typing import Any

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from mage.cli import app
from mage.cli._app import EXIT_CODES


def commands_markdown() -> str:
    """Exit codes, and for each command what it does, its arguments and its options by panel."""
    lines = ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        lines += ["", f"## mage {name}", "", _plain(command.help or ""), ""]
        lines += ["```console", f"$ mage {name} {_arguments(command)}[OPTIONS]", "```", ""]
        panels: dict[str, list[Any]] = {}
        for parameter in command.params:
            is_option = parameter.opts[0].startswith("-")
            title = (getattr(parameter, "rich_help_panel", None) or "Options") if is_option else "Arguments"
            panels.setdefault(title, []).append(parameter)
        for title, parameters in panels.items():
            lines += ["", f"**{title}**", "", "| option | meaning |", "|---|---|"]
            lines += [f"| {_names(parameter)} | {_meaning(parameter)} |" for parameter in parameters]
    return "\n".join(lines) + "\n"


def _arguments(command: Any) -> str:
    names = [parameter for parameter in command.params if not parameter.opts[0].startswith("-")]
    return "".join(
        f"{argument.name.upper()} " if argument.required else f"[{argument.name.upper()}] " for argument in names
    )


def _names(parameter: Any) -> str:
    if not parameter.opts[0].startswith("-"):
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _meaning(parameter: Any) -> str:
    text = _plain(parameter.help or "")
    default = parameter.default
    has_default = default is not None and default is not False and default not in ("", [], ())
    return text + (f" Default: `{default}`." if has_default and not callable(default) else "")


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("[", "\\[")


class CommandReference(SphinxDirective):
    """``{mage-commands}``: the reference of all commands."""

    def run(self) -> list[nodes.Node]:
        """Parse the generated Markdown in place."""
        container = nodes.Element()
        text = StringList(commands_markdown().splitlines(), source="mage --help")
        self.state.nested_parse(text, self.content_offset, container, match_titles=True)
        return container.children


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("mage-commands", CommandReference)
    return {"parallel_read_safe": True}
