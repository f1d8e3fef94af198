"""Check of the layout of ``src/mage``: which room imports which, long files, long signatures, names used twice.

A room is a folder (or module) directly under ``mage``. It may import rooms of earlier levels and nothing else. Imports
inside functions, under ``TYPE_CHECKING``, by ``import_module("mage.…")`` and by ``load_name("mage.…:…")`` count like
all others. Names that begin with an underscore stay inside their room.

    python tools/check_rooms.py [folder of the package [other folders, where only sizes are checked]]
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

LEVELS = (
    *({"_core"}, {"_kernels"}, {"graph"}, {"_torch"}, {"text", "image"}, {"games"}, {"indices"}, {"motifs"}),
    *({"explanation"}, {"datasets"}, {"models"}, {"explainers"}, {"metrics"}, {"drawing"}, {"plots", "report"}),
    {"experiments"},
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
TOP = {"testing", "pyg", "cli"}  # may import everything; nothing imports them
ROOT = {"__init__", "__main__"}  # the package itself: may import everything
# (room, function, imported room): reason. Only an import inside that function is allowed.
EXCEPTIONS: Mapping[tuple[str, str, str], str] = {
    ("explanation", "Explanation.plot", "plots"): "a method that people expect; matplotlib is loaded only when used",
    ("explanation", "Explanation.save_html", "report"): "a method that people expect; the page is built only when used",
    ("explanation", "Explanation._repr_html_", "report"): "notebooks call this method to show the object",
    (
        "explanation",
        "Explanation.motif_names",
        "drawing",
    ): "a method that people expect; RDKit is loaded only when used",
    ("explanation", "", "drawing"): "the type of what that method returns",
    ("indices", "Interactions._repr_html_", "report"): "notebooks call this method to show the object",
}
MAX_LINES, MAX_PUBLIC, MAX_OTHER = 400, 20, 10
FREE_SIGNATURES = {"_kernels", "cli"}  # kernels take arrays one by one; a command has one parameter per option
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _walk(node: ast.AST, scope: tuple[str, ...] = ()) -> Iterator[tuple[ast.AST, tuple[str, ...]]]:
    """All nodes of a syntax tree, each with the names of the classes and functions around it."""
    yield node, scope
    inner = (*scope, node.name) if isinstance(node, ast.ClassDef | Function) else scope
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, inner)


def _imported(node: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The dotted names that a node imports, as parts, relative ones resolved from ``package``."""
    names, level = [], 0
    match node:
        case ast.Import():
            names = [alias.name for alias in node.names]
        case ast.ImportFrom():
            names, level = [f"{node.module or ''}.{alias.name}".lstrip(".") for alias in node.names], node.level
        case ast.Call(args=[ast.Constant(str(name)) | ast.JoinedStr([ast.Constant(str(name)), *_]), *_]):
            if ast.unparse(node.func).rpartition(".")[2] in {"import_module", "__import__", "require", "load_name"}:
                names, level = [name.strip(".").replace(":", ".")], len(name) - len(name.lstrip("."))
    for name in names:
        yield (*package[: len(package) - level + 1], *name.split(".")) if level else tuple(name.split("."))


def _is_private(names: tuple[str, ...]) -> bool:
    return any(name.startswith("_") and not name.endswith("__") for name in names)


def _refusal(room: str, target: str, names: tuple[str, ...]) -> str | None:
    """Why ``room`` may not import ``mage.<target>.<names>``; None if it may."""
    if target in TOP:
        return f"nothing may import mage.{target}"
    if room in LEVEL and target not in LEVEL:
        return f"{'mage.' + target if target else 'mage'} is not a room: import from the room that defines the name"
    if room in LEVEL and LEVEL[target] >= LEVEL[room]:
        return f"mage.{room} may only import rooms before it, and mage.{target} is not one"
    return f"{'.'.join(names)} is private to mage.{target}" if _is_private(names) else None


@cache
def _exported(path: Path) -> set[str]:
    """The names in ``__all__`` of a file: what is public."""
    lists = (node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign))
    values = (ast.walk(node.value) for node in lists if ast.unparse(node.targets[0]) == "__all__")
    return {str(node.value) for nodes in values for node in nodes if isinstance(node, ast.Constant)}


def _parameters(function: Function) -> int:
    """How many parameters a function has, without ``self`` and ``cls``."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return sum(parameter is not None and parameter.arg not in {"self", "cls"} for parameter in parameters)


def _long_file(path: Path) -> Iterator[str]:
    if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES:
        yield f"{path.as_posix()}:{MAX_LINES + 1}: {lines} lines; at most {MAX_LINES}"


def check_others(folder: Path) -> Iterator[str]:
    """Long files and signatures, and tests that import tests, in a folder outside the package."""
    for path in sorted(folder.rglob("*.py")):
        yield from _long_file(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, Function) and (count := _parameters(node)) > MAX_OTHER:
                yield f"{path.as_posix()}:{node.lineno}: {node.name} has {count} parameters; at most {MAX_OTHER}"
            for names in _imported(node, ()):
                if any(name.startswith("test_") for name in names):
                    yield f"{path.as_posix()}:{getattr(node, 'lineno', 1)}: a test imports another; use tests/helpers"


def _repeated_classes(root: Path) -> Iterator[str]:
    """A message for each public class that has the name of another one."""
    places: dict[str, str] = {}
    for path in sorted(root.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not _is_private((node.name,)):
                place = f"{path.as_posix()}:{node.lineno}"
                if places.setdefault(node.name, place) != place:
                    yield f"{place}: class {node.name} has the name of the class at {places[node.name]}"


def check(root: Path, exceptions: Mapping[tuple[str, str, str], str] = EXCEPTIONS) -> Iterator[str]:
    """All that is wrong in the package whose folder is ``root``, one message each, with file and line."""
    edges: dict[str, set[str]] = {}
    unused = set(exceptions)
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        room, place, text = parts[0], path.as_posix(), path.read_text(encoding="utf-8")
        public = _exported(root / room / "__init__.py" if len(parts) > 1 else path)
        if room not in {*LEVEL, *TOP, *ROOT, "_version"}:
            yield f"{place}:1: mage.{room} is not a room"
        yield from _long_file(path)
        for node, scope in _walk(ast.parse(text, str(path))):
            for package, *names in _imported(node, ("mage", *parts[:-1])):
                target = names[0] if names else ""
                case = (room, ".".join(scope), target)
                if package != "mage" or room in ROOT or target in {room, "_version"} or case in exceptions:
                    unused.discard(case)
                    continue
                edges.setdefault(room, set()).add(target)
                if refusal := _refusal(room, target, tuple(names[1:])):
                    yield f"{place}:{getattr(node, 'lineno', 1)}: {refusal}"
            if isinstance(node, Function) and room not in FREE_SIGNATURES:
                name = (*scope, node.name)
                limit = MAX_PUBLIC if name[0] in public and not _is_private(name) else MAX_OTHER
                if (count := _parameters(node)) > limit:
                    yield f"{place}:{node.lineno}: {'.'.join(name)} has {count} parameters; at most {limit}"
    yield from _repeated_classes(root)
    for case in sorted(unused):
        yield f"{__file__}:1: the exception {case} is not needed"
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        yield f"{root.as_posix()}:1: rooms import each other in a circle: {' -> '.join(reversed(error.args[1]))}"


if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:] or ("src/mage", "tests", "benchmarks", "examples", "docs", "tools")]
    messages = (*check(folders[0]), *(message for folder in folders[1:] for message in check_others(folder)))
    problems = list(dict.fromkeys(messages))
    print("\n".join(problems) or f"the rooms of {folders[0].as_posix()} are in order")
    sys.exit(bool(problems))
