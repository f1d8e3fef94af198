"""Where published files come from: a folder of the user's, the cache, or an official download."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mage._core.files import atomic_path
from mage._core.progress import progress_bar
from mage.datasets._unpickle import DamagedFileError

_ATTEMPTS = 3
_BLOCK = 1 << 20
_LARGEST_MEMBER = 1 << 31


@dataclass(frozen=True)
class SourceFile:
    """A published file.

    Args:
        name: Its name in the dataset's folder; a copy may be gzipped under the name with ``.gz``.
        checksum: ``sha256:…`` of its content (unzipped), or ``git:…``, the hash under which git keeps it.
        url: Official address, if it is published as one file; gzipped where the address ends so.
    """

    name: str
    checksum: str
    url: str | None = None


@dataclass(frozen=True)
class Source:
    """The files of a dataset.

    Args:
        folder: Name of the dataset's folder under the root.
        files: The files in it.
        archive: A zip that holds them all, if that is what is published.
        alternatives: Other sets of files that serve as well, tried before a download.
        home: Where a person reads about it.
        licence: Licence stated there.
    """

    folder: str
    files: tuple[SourceFile, ...]
    archive: SourceFile | None = None
    alternatives: tuple[tuple[SourceFile, ...], ...] = ()
    home: str = ""
    licence: str = ""


class MissingDataError(FileNotFoundError):
    """A dataset is neither on this machine nor to be downloaded."""


def cache_folder() -> Path:
    """Where downloads and preprocessed graphs are kept: ``MAGE_CACHE``, or the user's cache folder."""
    if chosen := os.environ.get("MAGE_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mage"


def folders(root: str | Path | None) -> list[Path]:
    """Where files are looked for, first to last: ``root`` alone if it is given, else ``MAGE_DATA`` and the cache."""
    if root is not None:
        return [Path(root)]
    given = os.environ.get("MAGE_DATA")
    return [*([Path(given)] if given else []), cache_folder()]


def find(source: Source, root: str | Path | None = None) -> dict[str, Path] | None:
    """The files of a dataset that are on this machine, unchecked; None if they are not all there."""
    for base in folders(root):
        for files in (source.files, *source.alternatives):
            found = {file.name: _present(base / source.folder / file.name) for file in files}
            paths = {name: path for name, path in found.items() if path is not None}
            if len(paths) == len(files):
                return paths
    return None


def locate(source: Source, root: str | Path | None = None, *, download: bool = True) -> dict[str, Path]:
    """The files of a dataset by name, checked; downloaded if they are not on this machine.

    Raises:
        MissingDataError: If they are not here and cannot be downloaded; it says which file to put where.
        DamagedFileError: If a file here is not the published one.
    """
    found = find(source, root)
    if found is None:
        if not download:
            raise MissingDataError(_advice(source, root, "downloading was not asked for"))
        _download(source, folders(root)[-1] / source.folder, root)
        found = find(source, root)
        if found is None:
            raise MissingDataError(_advice(source, root, "the download did not bring them"))
    checksums = {file.name: file.checksum for files in (source.files, *source.alternatives) for file in files}
    for name, path in found.items():
        check(path, checksums[name])
    return found


def check(path: Path, checksum: str) -> None:
    """Refuse a file whose content is not the published one."""
    kind, _, expected = checksum.partition(":")
    try:
        if kind == "git":
            content = b"".join(_blocks(path))
            # git's own name for a file's content; a check of integrity, not of trust.
            digest = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
        else:
            hasher = hashlib.sha256()
            for block in _blocks(path):
                hasher.update(block)
            digest = hasher.hexdigest()
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}; replace it, or delete it to download it") from error
    if digest != expected:
        raise DamagedFileError(
            f"{path} is not the published file: its {kind} checksum is {digest[:12]}…, expected {expected[:12]}…; "
            "replace it, or delete it to download it"
        )


def read_bytes(path: Path) -> bytes:
    """A file's content, unzipped."""
    return b"".join(_blocks(path))


def read_text(path: Path) -> str:
    """A file's text, unzipped."""
    return read_bytes(path).decode()


def _blocks(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _present(path: Path) -> Path | None:
    zipped = path.with_name(path.name + ".gz")
    return path if path.is_file() else zipped if zipped.is_file() else None


def _download(source: Source, folder: Path, root: str | Path | None) -> None:
    files: Sequence[SourceFile] = (source.archive,) if source.archive else source.files
    for file in files:
        if file.url is None:
            raise MissingDataError(_advice(source, root, "it has no public address"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            brought = [_bring(file, folder) for file in files]
            if source.archive is not None:
                _unpack(source, folder)
                if all(brought):  # an archive that was there before is the user's
                    (folder / source.archive.name).unlink()
    except OSError as error:
        raise MissingDataError(_advice(source, root, str(error))) from error


def _bring(file: SourceFile, folder: Path) -> bool:
    """Make sure that a file is there and whole; whether it had to be downloaded."""
    zipped = str(file.url).endswith(".gz") and not file.name.endswith(".gz")
    target = folder / (file.name + (".gz" if zipped else ""))
    if target.is_file():
        check(target, file.checksum)
        return False
    _download_one(str(file.url), target, file.checksum)
    return True


def _unpack(source: Source, folder: Path) -> None:
    """Take the files out of the archive, all of them checked before the first appears."""
    archive = folder / (source.archive.name if source.archive else "")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as place:
        names = [file.name for file in source.files]
        extract(archive, Path(place), names)
        for file in source.files:
            check(Path(place) / file.name, file.checksum)
        for name in names:
            (Path(place) / name).replace(folder / name)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time downloads into a folder; the others then find what it brought."""
    try:
        import fcntl
    except ImportError:  # systems without such locks
        yield
        return
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _download_one(url: str, target: Path, checksum: str) -> None:
    """Fetch a file whole and checked, or leave nothing; try again where the network fails."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"url: {url} is not a web address")
    for attempt in range(_ATTEMPTS):
        try:
            with atomic_path(target) as unfinished:
                # The suffix tells the check whether the content is zipped.
                named = unfinished.with_name(unfinished.name + target.suffix)
                try:
                    _stream(url, named)
                    check(named, checksum)
                    named.replace(unfinished)
                finally:
                    named.unlink(missing_ok=True)
            return
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt + 1 == _ATTEMPTS:
                raise
        except (OSError, EOFError, http.client.HTTPException) as error:
            if attempt + 1 == _ATTEMPTS:
                raise OSError(f"{url}: {error}") from error
        time.sleep(2.0**attempt)


def _stream(url: str, path: Path) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "mage"})  # noqa: S310 (web addresses only, see above)
    with urllib.request.urlopen(request, timeout=30) as answer, path.open("wb") as file:  # noqa: S310 (likewise)
        total = int(answer.headers.get("Content-Length") or 0)
        done = 0
        with progress_bar(f"downloading {PurePosixPath(url).name}", total or 1) as advance:
            while block := answer.read(_BLOCK):
                file.write(block)
                done += len(block)
                advance(len(block))
    if total and done != total:
        raise OSError(f"{url}: the connection ended after {done:,} of {total:,} bytes")


def extract(archive: Path, folder: Path, names: Sequence[str]) -> None:
    """Take the named files, and nothing else, out of a zip.

    Members are matched by their last part and written under the names asked for: no path in the archive is followed.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            members = {PurePosixPath(info.filename).name: info for info in file.infolist() if not info.is_dir()}
            missing = [name for name in names if name not in members]
            if missing:
                raise DamagedFileError(f"{archive} does not hold {', '.join(missing)}")
            for name in names:
                info = members[name]
                if ".." in PurePosixPath(info.filename).parts or info.filename.startswith(("/", "\\")):
                    raise DamagedFileError(f"{archive}: the path {info.filename!r} leaves the archive")
                if info.file_size > _LARGEST_MEMBER:
                    raise DamagedFileError(f"{archive}: {info.filename!r} claims {info.file_size:,} bytes")
                with file.open(info) as member, atomic_path(folder / name) as path, path.open("wb") as target:
                    shutil.copyfileobj(member, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DamagedFileError(f"{archive} is damaged: {error}") from error


def _advice(source: Source, root: str | Path | None, reason: str) -> str:
    wanted = source.archive or source.files[0]
    names = ", ".join(file.name for file in source.files)
    address = wanted.url or source.home
    return (
        f"{source.folder}: {reason}. Put {names} (from {address}) into {folders(root)[0] / source.folder}, "
        "or set MAGE_DATA to a folder that holds them"
    )
