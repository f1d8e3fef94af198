import gzip
import hashlib
import http.server
import io
import os
import pickle
import threading
import zipfile

import numpy as np
import pytest

from mage.datasets import DamagedFileError, MissingDataError, downloads, load
from mage.datasets.cache import cached
from mage.datasets.downloads import extract
from mage.datasets.locations import cache_folder, locate_files
from mage.datasets.pickles import read_object_array, read_pickle
from mage.datasets.published_files import PublishedFile, PublishedFiles, read_text, verify


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MAGE_DATA", raising=False)
    monkeypatch.setattr(downloads.time, "sleep", lambda seconds: None)


@pytest.fixture
def server():
    """A web server on this machine: content by path, and the paths of all requests."""
    content, paths, failures = {}, [], {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            if failures.get(self.path, 0) > 0:
                failures[self.path] -= 1
                self.send_error(503)
                return
            if self.path not in content:
                self.send_error(404)
                return
            body, length = content[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    running.content, running.paths, running.failures = content, paths, failures
    running.address = f"http://127.0.0.1:{running.server_port}"
    yield running
    running.shutdown()


def sha256(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def files_under(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(str(path.relative_to(folder)) for path in files)


def test_downloads_are_checked_kept_and_not_repeated(server, tmp_path):
    server.content["/a.txt"] = (b"hello", 5)
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello"), f"{server.address}/a.txt"),))
    for _ in range(2):
        assert locate_files(source)["a.txt"].read_bytes() == b"hello"
    assert server.paths == ["/a.txt"]
    assert files_under(cache_folder()) == ["set/a.txt"]


def test_a_server_that_stumbles_is_asked_again(server):
    server.content["/a.txt"], server.failures["/a.txt"] = (b"hello", 5), 2
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello"), f"{server.address}/a.txt"),))
    assert locate_files(source)["a.txt"].read_bytes() == b"hello"
    assert len(server.paths) == 3


def test_truncated_downloads_leave_nothing(server):
    server.content["/a.txt"] = (b"hel", 5)
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello"), f"{server.address}/a.txt"),))
    with pytest.raises(MissingDataError, match=r"set: .*Put a.txt \(from http.*into .*set"):
        locate_files(source)
    assert files_under(cache_folder()) == []


def test_altered_downloads_leave_nothing(server):
    server.content["/a.txt"] = (b"HELLO", 5)
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello"), f"{server.address}/a.txt"),))
    with pytest.raises(DamagedFileError, match="is not the published file: its sha256 checksum"):
        locate_files(source)
    assert files_under(cache_folder()) == []


def test_absent_files_are_named_with_their_place(server, tmp_path):
    source = PublishedFiles(
        "set", (PublishedFile("a.txt", sha256(b"hello"), f"{server.address}/none.txt"),), home="https://x"
    )
    with pytest.raises(MissingDataError, match=r"404.*Put a.txt .* or set MAGE_DATA"):
        locate_files(source)
    assert len(server.paths) == 1
    with pytest.raises(MissingDataError, match="downloading is switched off"):
        locate_files(source, tmp_path, download=False)


def test_copies_are_found_through_the_environment_zipped_or_not(monkeypatch, tmp_path):
    monkeypatch.setenv("MAGE_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.txt.gz").write_bytes(gzip.compress(b"hello"))
    (tmp_path / "set" / "b.txt").write_bytes(b"world")
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello")), PublishedFile("b.txt", sha256(b"world"))))
    files = locate_files(source)
    assert read_text(files["a.txt"]) == "hello"
    assert read_text(files["b.txt"]) == "world"


@pytest.mark.parametrize(
    "content", [b"", b"hellO", gzip.compress(b"hello", mtime=0)[:-6]], ids=["empty", "altered", "truncated"]
)
def test_damaged_copies_are_refused(tmp_path, content):
    name = "a.txt.gz" if content[:2] == b"\x1f\x8b" else "a.txt"
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_bytes(content)
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello")),))
    with pytest.raises(DamagedFileError, match=f"{name} .*replace it"):
        locate_files(source, tmp_path)


def test_gits_name_of_a_file_checks_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"hello\n")
    verify(path, "git:ce013625030ba8dba906f756967f9e9ca394464a")
    with pytest.raises(DamagedFileError, match="git checksum"):
        verify(path, "git:0000000000000000000000000000000000000000")


def archive_of(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_published_archives_are_unpacked(server):
    content = archive_of({"inner/a.txt": "hello", "inner/unasked.txt": "no"})
    server.content["/all.zip"] = (content, len(content))
    source = PublishedFiles(
        "set",
        (PublishedFile("a.txt", sha256(b"hello")),),
        archive=PublishedFile("all.zip", sha256(content), f"{server.address}/all.zip"),
    )
    assert locate_files(source)["a.txt"].read_text() == "hello"
    assert files_under(cache_folder()) == ["set/a.txt"]


@pytest.mark.parametrize("name", ["../a.txt", "inner/../../a.txt", "/a.txt"])
def test_archives_cannot_write_elsewhere(tmp_path, name):
    inside = tmp_path / "deep" / "folder"
    inside.mkdir(parents=True)
    archive = tmp_path / "evil.zip"
    archive.write_bytes(archive_of({name: "evil"}))
    with pytest.raises(DamagedFileError, match="leaves the archive"):
        extract(archive, inside, ["a.txt"])
    assert files_under(tmp_path) == ["evil.zip"]


def test_damaged_archives_are_refused(tmp_path):
    archive = tmp_path / "all.zip"
    whole = archive_of({"a.txt": "hello" * 100})
    for content in (b"", b"not a zip", whole[:-30], whole.replace(b"hellohello", b"hellOhello", 1)):
        archive.write_bytes(content)
        with pytest.raises(DamagedFileError, match=r"all\.zip"):
            extract(archive, tmp_path, ["a.txt"])
        assert files_under(tmp_path) == ["all.zip"]
    archive.write_bytes(archive_of({"b.txt": "hello"}))
    with pytest.raises(DamagedFileError, match=r"does not hold a\.txt"):
        extract(archive, tmp_path, ["a.txt"])


class Evil:
    def __reduce__(self):
        return os.system, ("touch pwned",)


@pytest.mark.parametrize("evil", [Evil(), [np.zeros(3), Evil()], {"x": Evil()}])
def test_pickles_that_would_run_something_are_refused(tmp_path, monkeypatch, evil):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(evil))
    with pytest.raises(DamagedFileError, match=r"needs .*system, which is not plain data"):
        read_pickle(tmp_path / "a.pkl")
    array = np.empty(1, dtype=object)
    array[0] = evil
    np.savez(tmp_path / "a.npz", array, allow_pickle=True)
    with pytest.raises(DamagedFileError, match="which is not plain data"):
        read_object_array(tmp_path / "a.npz")
    assert not (tmp_path / "pwned").exists()


def test_plain_pickles_are_read(tmp_path):
    for protocol in (2, 3, 4, 5):
        content = (np.arange(6).reshape(2, 3), np.float32(2.5), {"a": [1, "b"]})
        (tmp_path / "a.pkl").write_bytes(pickle.dumps(content, protocol=protocol))
        array, number, mapping = read_pickle(tmp_path / "a.pkl")
        assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (float(number), mapping) == (2.5, {"a": [1, "b"]})


@pytest.mark.parametrize("content", [b"", b"\x80\x04", b"garbage", pickle.dumps(np.arange(9))[:-9]])
def test_damaged_pickles_are_refused(tmp_path, content):
    (tmp_path / "a.pkl").write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"a\.pkl is not the published file"):
        read_pickle(tmp_path / "a.pkl")
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"a\.npz is damaged"):
        read_object_array(tmp_path / "a.npz")


def test_two_motifs_come_from_the_published_pickle_or_say_that_they_do_not(tmp_path, monkeypatch):
    dataset = load("ba_2motifs", download=False)
    assert dataset.origin == "generated with seed 0; not the published file"
    # A file of the published form, put where a download would put it.
    dense = np.zeros((2, 25, 25))
    for i, j in [(20, 21), (21, 22), (0, 20), (3, 3)]:
        dense[:, i, j] = dense[:, j, i] = 1
    content = pickle.dumps((dense, np.full((2, 25, 10), 0.1), np.eye(2)), protocol=2)
    digest = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    folder = cache_folder() / "ba_2motifs"
    folder.mkdir(parents=True)
    (folder / "BA-2motif.pkl").write_bytes(content)
    with pytest.raises(DamagedFileError, match="is not the published file"):
        load("ba_2motifs")
    from mage.datasets import ba_2motifs

    source = PublishedFiles("ba_2motifs", (PublishedFile("BA-2motif.pkl", f"git:{digest}"),))
    monkeypatch.setattr(ba_2motifs, "SOURCE", source)
    from_pickle = load("ba_2motifs")
    assert from_pickle.origin.startswith("published files in")
    assert from_pickle.labels.tolist() == [0, 1]
    assert from_pickle.motifs(0) == ((20, 21, 22),)
    assert from_pickle[0].num_edges == 7
    with pytest.raises(DamagedFileError, match="do not match"):
        ba_2motifs.columns_of_matrices(dense, np.zeros((2, 24, 10)), np.zeros(2))


def test_a_damaged_archive_of_the_users_leaves_nothing_and_stays(tmp_path):
    good, bad = archive_of({"a.txt": "hello"}), archive_of({"a.txt": "HELLO"})
    archive = PublishedFile("all.zip", sha256(good), "http://localhost:1/x")
    source = PublishedFiles("set", (PublishedFile("a.txt", sha256(b"hello")),), archive=archive)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "all.zip").write_bytes(bad)
    with pytest.raises(DamagedFileError, match=r"all\.zip is not the published file"):
        locate_files(source, tmp_path)
    assert files_under(tmp_path) == ["set/all.zip"]
    (tmp_path / "set" / "all.zip").write_bytes(good)
    assert locate_files(source, tmp_path)["a.txt"].read_text() == "hello"
    assert files_under(tmp_path) == ["set/a.txt", "set/all.zip"]


def test_several_threads_may_want_the_same_archive(server):
    content = archive_of({f"{i}.txt": str(i) for i in range(20)})
    server.content["/all.zip"] = (content, len(content))
    source = PublishedFiles(
        "set",
        tuple(PublishedFile(f"{i}.txt", sha256(str(i).encode())) for i in range(20)),
        archive=PublishedFile("all.zip", sha256(content), f"{server.address}/all.zip"),
    )
    problems = []

    def one():
        try:
            locate_files(source)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_cache_that_cannot_be_written_is_no_loss(monkeypatch, tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "file"))
    arrays = cached("set", {"version": 1}, lambda: {"x": np.arange(3)})
    assert arrays["x"].tolist() == [0, 1, 2]
    assert "set MAGE_CACHE to a folder that can be written" in caplog.text
    assert "not the published file" in load("ba_2motifs").origin
