import sys

import pytest

from mage._core import reuploads
from mage._core.reuploads import REUPLOADS, Reupload, checked_folder, folder_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "some_reupload"
    (folder / "model").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise SystemExit('it was run')")
    (folder / "model" / "weights").write_bytes(b"12")
    monkeypatch.syspath_prepend(tmp_path)
    reupload = Reupload("1.0", folder_digest(folder), "the official one")
    monkeypatch.setitem(reuploads.REUPLOADS, "some_reupload", reupload)
    checked_folder.cache_clear()
    return folder


def test_a_package_is_found_without_running_it(package):
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "x.pyc").write_bytes(b"whatever")
    assert checked_folder("some_reupload") == package
    assert "some_reupload" not in sys.modules


@pytest.mark.parametrize("change", ["content", "name", "more"])
def test_other_files_are_refused(package, change):
    weights = package / "model" / "weights"
    if change == "content":
        weights.write_bytes(b"13")
    elif change == "name":
        weights.rename(package / "model" / "others")
    else:
        (package / "model" / "more.py").touch()
    with pytest.raises(ValueError, match=r"not those of version 1\.0 .* use the official one"):
        checked_folder("some_reupload")


@pytest.mark.parametrize("module", sorted(REUPLOADS))
def test_the_packages_are_those_that_were_looked_at(module):
    if not reuploads.is_installed(module):
        pytest.skip("the extra reuploads is not installed")
    checked_folder.cache_clear()
    assert checked_folder(module).name == module


def test_only_one_extra_brings_them():
    tomllib = pytest.importorskip("tomllib")
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    pinned = {f"{module.replace('_', '-')}=={reupload.version}" for module, reupload in REUPLOADS.items()}
    for extra, needed in project["optional-dependencies"].items():
        names = [need for need in needed if any(pin.partition("==")[0] in need for pin in pinned)]
        assert set(names) == (pinned if extra == "reuploads" else set()), extra
