import re

import pytest

from mage._core.importing import load_name, load_user_name, load_user_object

MODULE = """
import math

number = 7


def half():
    return 0.5


def failing():
    raise KeyError("weights")


def leaving():
    raise SystemExit(3)


def steering():
    raise ValueError("\\x1b[31mred\\n\\x1b]0;title\\x07")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a module of the user."""
    (tmp_path / "my_objects.py").write_text(MODULE)
    (tmp_path / "my_mistake.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def load_number(name):
    return load_user_object("--number", name, "number", lambda target: isinstance(target, int | float))


def test_names_of_installed_modules():
    assert load_name("math:pi") == pytest.approx(3.14159265)
    with pytest.raises(ModuleNotFoundError):
        load_name("nowhere:pi")


def test_a_users_object_or_what_makes_it(folder):
    assert load_user_name("--number", "my_objects:number") == 7
    assert load_number("my_objects:number") == 7
    assert load_number("my_objects:half") == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_objects", "--number must be module:name, got 'my_objects'"),
        (":number", "--number must be module:name"),
        ("nowhere:number", "--number: 'nowhere:number' cannot be imported: No module named 'nowhere'"),
        ("my_objects:absent", "cannot be imported: module 'my_objects' has no attribute 'absent'"),
        ("my_mistake:number", "cannot be imported: ZeroDivisionError: division by zero\nTo see where, run: python -c"),
        ("my_objects:__name__", "is of type str; name a number, or a class or function that makes one"),
        ("my_objects:failing", "raised KeyError: 'weights'\nIt is called without arguments"),
        ("my_objects:leaving", "raised SystemExit: 3"),
        ("my_objects:steering", "raised ValueError: �[31mred �]0;title�"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_a_line_or_two(folder, name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load_number(name)
