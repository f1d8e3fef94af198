"""Downloads of published files: whole and checked, or not at all."""

from __future__ import annotations

import http.client
import shutil
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mage._core.files import atomic_path
from mage._core.progress import progress_bar
from mage.datasets.pickles import DamagedFileError
from mage.datasets.published_files import PublishedFile, PublishedFiles, verify

_ATTEMPTS = 3
_BLOCK = 1 << 20
_LARGEST_MEMBER = 1 << 31


def download_files(source: PublishedFiles, folder: Path) -> None:
    """Download the files of a dataset into a folder; an :class:`OSError` says why that is not possible."""
    files: Sequence[PublishedFile] = (source.archive,) if source.archive else source.files
    if any(file.url is None for file in files):
        raise OSError("it has no public address")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        is_new = [_bring(file, folder) for file in files]
        if source.archive is not None:
            _unpack(source, source.archive, folder)
            if all(is_new):  # an archive that was there before is the user's
                (folder / source.archive.name).unlink()


def _bring(file: PublishedFile, folder: Path) -> bool:
    """Make sure that a file is there and whole; whether it had to be downloaded."""
    zipped = str(file.url).endswith(".gz") and not file.name.endswith(".gz")
    target = folder / (file.name + (".gz" if zipped else ""))
    if target.is_file():
        verify(target, file.checksum)
        return False
    _download_one(str(file.url), target, file.checksum)
    return True


def _unpack(source: PublishedFiles, archive: PublishedFile, folder: Path) -> None:
    """Take the files out of the archive, all of them checked before the first appears."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as place:
        names = [file.name for file in source.files]
        extract(folder / archive.name, Path(place), names)
        for file in source.files:
            verify(Path(place) / file.name, file.checksum)
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
                with_suffix = unfinished.with_name(unfinished.name + target.suffix)
                try:
                    _stream(url, with_suffix)
                    verify(with_suffix, checksum)
                    with_suffix.replace(unfinished)
                finally:
                    with_suffix.unlink(missing_ok=True)
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
        size = 0
        with progress_bar(f"downloading {PurePosixPath(url).name}", total or 1) as advance:
            while block := answer.read(_BLOCK):
                file.write(block)
                size += len(block)
                advance(len(block))
    if total and size != total:
        raise OSError(f"{url}: the connection ended after {size:,} of {total:,} bytes")


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
