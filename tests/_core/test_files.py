import os
import signal
import stat
import subprocess
import sys

import pytest

from mage._core.files import atomic_path, remove_leftovers


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    with atomic_path(tmp_path / "a") as unfinished:
        unfinished.write_text("whole")
        assert not (tmp_path / "a").exists()
    with pytest.raises(TypeError), atomic_path(tmp_path / "a") as unfinished:
        unfinished.write_text(b"half")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "whole"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    steps = []
    flush, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda handle: (steps.append(os.readlink(f"/proc/self/fd/{handle}")), flush(handle))
    )
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("rename"), replace(*paths)))
    with atomic_path(tmp_path / "a") as unfinished:
        unfinished.write_text("whole")
    assert steps == [str(unfinished), "rename", str(tmp_path)]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_have_the_permissions_of_any_new_file(tmp_path, mask, monkeypatch):
    before = os.umask(mask)
    try:
        # The mask belongs to all threads of a process; whoever reads it by setting it disturbs the others.
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)
            with atomic_path(tmp_path / "a") as unfinished:
                unfinished.write_text("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask


def test_one_name_where_nobody_else_writes(tmp_path):
    (tmp_path / ".a.part").write_text("what a killed process left behind, longer than the new content")
    with atomic_path(tmp_path / "a", locked=True) as unfinished:
        assert unfinished.name == ".a.part"
        unfinished.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "new"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="nowhere does not exist; create it first"),
        atomic_path(tmp_path / "nowhere" / "a"),
    ):
        pass


@pytest.mark.parametrize("locked", [False, True])
def test_any_name_that_the_file_system_allows(tmp_path, locked):
    names = ["n" * 255, "ü" * 127]
    for name in names:
        with atomic_path(tmp_path / name, locked) as unfinished:
            unfinished.write_text(name)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: name for name in names}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_names_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "a").write_text("old")
    with (
        pytest.raises(OSError, match=r"No space left on device: '.*a'$"),
        atomic_path(tmp_path / "a"),
        open("/dev/full", "wb", buffering=0) as full,
    ):
        full.write(b"x")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


KILLED = """
import os, signal, sys
from mage._core.files import atomic_path

with atomic_path(sys.argv[1]) as unfinished:
    unfinished.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks, and no SIGKILL")
def test_what_a_killed_process_left_behind_is_removed_and_nothing_else(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".of others.part").touch()
    with atomic_path(tmp_path / "b") as unfinished:
        unfinished.write_text("whole")
        remove_leftovers(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".of others.part", unfinished.name])
    assert (tmp_path / "b").read_text() == "whole"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    import fcntl

    lock, names = fcntl.flock, []

    def slow(handle, operation):
        if not names:  # another process starts just now, and takes the new file for one that was left behind
            names.extend(path.name for path in tmp_path.iterdir())
            remove_leftovers(tmp_path)
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    with atomic_path(tmp_path / "a") as unfinished:
        unfinished.write_text("whole")
    assert names
    assert unfinished.name not in names
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("locked", [False, True])
def test_a_folder_that_may_not_be_written_names_the_file_that_was_asked_for(tmp_path, monkeypatch, locked):
    def refuse(path, *_more):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError) as caught, atomic_path(tmp_path / "a", locked):
        pass
    assert caught.value.filename == str(tmp_path / "a")
