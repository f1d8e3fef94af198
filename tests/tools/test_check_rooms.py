import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_rooms.py"
specification = importlib.util.spec_from_file_location("check_rooms", TOOL)
rooms = importlib.util.module_from_spec(specification)
specification.loader.exec_module(rooms)

GOOD = {
    "__init__.py": "from mage.games import Game\nfrom mage.explanation._parts import part\n",
    "_version.py": "__version__ = '1'\n",
    "_core/__init__.py": "from mage._version import __version__\n",
    "_kernels/__init__.py": "",
    "graph/__init__.py": "from mage._core import checks\n",
    "games/__init__.py": "__all__ = ['Game']\nfrom mage.games._memo import Memo\nfrom . import _memo\n",
    "games/_memo.py": "import numpy\nimport mage.graph\nfrom mage._core.checks import check_probability\n",
    "explanation/__init__.py": "class Explanation:\n    def plot(self):\n        from mage.plots import draw\n",
    "explanation/_parts.py": "from mage.games import Game\n",
    "plots/__init__.py": "from mage.explanation import Explanation\n",
    "pyg.py": "from mage import explain\nfrom mage.plots import draw\n",
    "cli/__init__.py": "import mage\nfrom mage.plots import draw\n",
}
PLOT = {("explanation", "Explanation.plot", "plots"): "a reason"}


def problems(folder, changes=(), exceptions=PLOT):
    """Messages for the good tree with some files replaced or added, without the folder's own path."""
    for name, text in (GOOD | dict(changes)).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [message.replace(f"{folder.as_posix()}/", "") for message in rooms.check(folder, exceptions)]


def test_a_good_tree_passes(tmp_path):
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("from mage.metrics import draw\n", 1),
        ("import os\nimport mage.metrics.draw\n", 2),
        ("from ..metrics import draw\n", 1),
        ("from .. import metrics\n", 1),
        ("def later():\n    from mage.metrics import draw\n", 2),
        ("class A:\n    def plot(self):\n        import mage.metrics\n", 3),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mage.metrics import draw\n", 3),
        ("import importlib\nimportlib.import_module('mage.metrics')\n", 2),
        ("from importlib import import_module\nimport_module(f'mage.metrics.{name}')\n", 2),
        ("from mage._core.optional import require\nrequire('mage.metrics', 'plot')\n", 2),
        ("from mage._core.importing import load_name\nload_name('mage.metrics:draw')\n", 2),
    ],
    ids=["plain", "module", "relative", "package", "lazy", "method", "types", "literal", "f-string", "require", "name"],
)
def test_an_import_of_a_later_room_is_refused(tmp_path, text, line):
    (message,) = problems(tmp_path, {"games/late.py": text})
    assert message == f"games/late.py:{line}: mage.games may only import rooms before it, and mage.metrics is not one"


@pytest.mark.parametrize(("room", "other"), [("text", "image"), ("image", "text"), ("plots", "report")])
def test_rooms_of_one_level_do_not_import_each_other(tmp_path, room, other):
    (message,) = problems(
        tmp_path, {f"{room}/__init__.py": f"import mage.{other}\n", "explanation/__init__.py": ""}, {}
    )
    assert message.startswith(f"{room}/__init__.py:1: mage.{room} may only import rooms before it")


@pytest.mark.parametrize(
    "text",
    [
        "from mage.games._memo import Memo\n",
        "from mage.games import _memo\n",
        "from mage.games.game import _hidden\n",
        "def later():\n    import mage.games._memo\n",
    ],
)
@pytest.mark.parametrize("file", ["metrics/__init__.py", "cli/__init__.py"])
def test_private_names_stay_in_their_room(tmp_path, text, file):
    (message,) = problems(tmp_path, {file: text})
    assert message.startswith(f"{file}:{text.count(chr(10))}:")
    assert message.endswith("is private to mage.games")


@pytest.mark.parametrize("target", ["cli", "pyg", "testing"])
@pytest.mark.parametrize("file", ["experiments/__init__.py", "testing/__init__.py", "cli/__init__.py"])
def test_nothing_imports_what_is_on_top(tmp_path, file, target):
    if file.startswith(target):
        assert problems(tmp_path, {file: f"import mage.{target}.part\n"}) == []
    else:
        assert problems(tmp_path, {file: f"import mage.{target}\n"}) == [f"{file}:1: nothing may import mage.{target}"]


def test_a_room_does_not_import_the_package_or_something_unknown(tmp_path):
    messages = problems(
        tmp_path, {"games/a.py": "import mage\nfrom mage import explain\nimport_module(f'mage.{name}')\n", "b.py": ""}
    )
    assert messages[0] == "b.py:1: mage.b is not a room"
    assert [message[:13] for message in messages[1:]] == [f"games/a.py:{line}:" for line in (1, 2, 3)]
    assert "mage is not a room" in messages[1]
    assert "mage.explain is not a room" in messages[2]


def test_exceptions_hold_for_one_function_only_and_must_be_needed(tmp_path):
    top = {"explanation/__init__.py": "from mage.plots import draw\nclass Explanation: ...\n"}
    refused, unneeded, circle = problems(tmp_path, top)
    assert refused.startswith("explanation/__init__.py:1: mage.explanation may only import rooms before it")
    assert unneeded.endswith("the exception ('explanation', 'Explanation.plot', 'plots') is not needed")
    assert circle.endswith(("explanation -> plots -> explanation", "plots -> explanation -> plots"))


def test_a_circle_of_three_rooms_is_named(tmp_path):
    messages = problems(
        tmp_path,
        {
            "games/a.py": "def f():\n    import mage.metrics\n",
            "metrics/__init__.py": "import mage.motifs\n",
            "motifs/__init__.py": "import mage.games\n",
        },
    )
    assert len(messages) == 2
    names = messages[1].partition("circle: ")[2].split(" -> ")
    assert names[0] == names[-1]
    assert set(names) == {"games", "metrics", "motifs"}
    assert "metrics" in names[names.index("games") + 1 :]


def test_long_files_are_refused(tmp_path):
    assert problems(tmp_path, {"games/long.py": "\n" * 400}) == []
    assert problems(tmp_path, {"games/long.py": "\n" * 401}) == ["games/long.py:401: 401 lines; at most 400"]


def test_no_two_classes_have_one_name(tmp_path):
    classes = "class Plan: ...\nclass _Part: ...\n"
    (message,) = problems(tmp_path, {"games/a.py": classes, "graph/b.py": classes})
    assert message == "graph/b.py:1: class Plan has the name of the class at games/a.py:1"


def with_parameters(name, count, first=()):
    return f"def {name}({', '.join([*first, *(f'p{i}' for i in range(count - 2))])}, *args, **options): ...\n"


@pytest.mark.parametrize(
    ("file", "name", "limit"),
    [
        ("games/game.py", "Game", 20),
        ("games/game.py", "helper", 10),
        ("games/game.py", "_helper", 10),
        ("_kernels/loop.py", "helper", None),
        ("cli/demo.py", "helper", None),
    ],
)
def test_long_signatures_are_refused(tmp_path, file, name, limit):
    assert problems(tmp_path, {file: with_parameters(name, limit or 40)}) == []
    if limit:
        expected = f"{file}:1: {name} has {limit + 1} parameters; at most {limit}"
        assert problems(tmp_path, {file: with_parameters(name, limit + 1)}) == [expected]


def test_other_folders_have_the_same_limits(tmp_path):
    (tmp_path / "test_a.py").write_text("\n" * 401, encoding="utf-8")
    (tmp_path / "b.py").write_text(with_parameters("helper", 10) + with_parameters("public", 11), encoding="utf-8")
    messages = [message.removeprefix(f"{tmp_path.as_posix()}/") for message in rooms.check_others(tmp_path)]
    assert messages == ["b.py:2: public has 11 parameters; at most 10", "test_a.py:401: 401 lines; at most 400"]


@pytest.mark.parametrize("line", ["from tests.a.test_a import f", "import tests.test_a", "from tests import test_a"])
def test_tests_import_no_tests(tmp_path, line):
    (tmp_path / "test_b.py").write_text(f"import pytest\n{line}\n", encoding="utf-8")
    (message,) = rooms.check_others(tmp_path)
    assert message.endswith("test_b.py:2: a test imports another; use tests/helpers")


@pytest.mark.parametrize("lazily", [False, True])
def test_a_circle_that_is_added_to_the_library_fails(tmp_path, lazily):
    package = tmp_path / "mage"
    shutil.copytree(TOOL.parents[1] / "src" / "mage", package, ignore=shutil.ignore_patterns("__pycache__", "zoo"))
    assert list(rooms.check(package)) == []
    line = "import mage.metrics\n"
    (package / "games" / "circle.py").write_text(f"def later():\n    {line}" if lazily else line, encoding="utf-8")
    refusal, circle = rooms.check(package)
    assert refusal.endswith("mage.games may only import rooms before it, and mage.metrics is not one")
    assert "rooms import each other in a circle" in circle


def test_methods_follow_their_class(tmp_path):
    method = f"class Game:\n    {with_parameters('play', 20, first=['self'])}"
    assert problems(tmp_path, {"games/game.py": method}) == []
    (message,) = problems(tmp_path, {"games/game.py": method.replace("play", "_play")})
    assert message == "games/game.py:2: Game._play has 20 parameters; at most 10"


def test_the_exit_code_says_it(tmp_path):
    problems(tmp_path, {"explanation/__init__.py": "", "games/late.py": "import mage.plots\n"})
    process = subprocess.run([sys.executable, TOOL, tmp_path], capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert f"{(tmp_path / 'games' / 'late.py').as_posix()}:1: mage.games may only import" in process.stdout
