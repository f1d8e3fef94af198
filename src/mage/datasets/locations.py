"""Where published files are on this machine: a folder of the user's, the cache, or downloaded into it."""

from __future__ import annotations

import os
from pathlib import Path

from mage._core.files import as_path
from mage.datasets.downloads import download_files
from mage.datasets.published_files import PublishedFiles, verify


class MissingDataError(FileNotFoundError):
    """A dataset is neither on this machine nor to be downloaded."""


def cache_folder() -> Path:
    """Where downloads and preprocessed graphs are kept: ``MAGE_CACHE``, or the user's cache folder."""
    if setting := os.environ.get("MAGE_CACHE"):
        return Path(setting)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mage"


def data_folders(root: str | Path | None) -> list[Path]:
    """Where files are looked for, first to last: ``root`` alone if it is given, else ``MAGE_DATA`` and the cache."""
    if root is not None:
        return [as_path("root", root)]
    setting = os.environ.get("MAGE_DATA")
    return [*([Path(setting)] if setting else []), cache_folder()]


def find_files(source: PublishedFiles, root: str | Path | None = None) -> dict[str, Path] | None:
    """The files of a dataset that are on this machine, unchecked; None if they are not all there."""
    for base in data_folders(root):
        for files in (source.files, *source.alternatives):
            places = {file.name: _present(base / source.folder / file.name) for file in files}
            paths = {name: path for name, path in places.items() if path is not None}
            if len(paths) == len(files):
                return paths
    return None


def locate_files(source: PublishedFiles, root: str | Path | None = None, *, download: bool = True) -> dict[str, Path]:
    """The files of a dataset by name, checked; downloaded if they are not on this machine.

    Raises:
        MissingDataError: If they are not here and cannot be downloaded; it says which file to put where.
        DamagedFileError: If a file here is not the published one.
    """
    paths = find_files(source, root) or _downloaded(source, root, download)
    checksums = {file.name: file.checksum for files in (source.files, *source.alternatives) for file in files}
    for name, path in paths.items():
        verify(path, checksums[name])
    return paths


def _downloaded(source: PublishedFiles, root: str | Path | None, allowed: bool) -> dict[str, Path]:
    if not allowed:
        raise MissingDataError(_advice(source, root, "downloading is switched off"))
    try:
        download_files(source, data_folders(root)[-1] / source.folder)
    except OSError as error:
        raise MissingDataError(_advice(source, root, str(error))) from error
    paths = find_files(source, root)
    if paths is None:
        raise MissingDataError(_advice(source, root, "the download did not bring them"))
    return paths


def _present(path: Path) -> Path | None:
    zipped = path.with_name(path.name + ".gz")
    return path if path.is_file() else zipped if zipped.is_file() else None


def _advice(source: PublishedFiles, root: str | Path | None, reason: str) -> str:
    download = source.archive or source.files[0]
    names = ", ".join(file.name for file in source.files)
    address = download.url or source.home
    return (
        f"{source.folder}: {reason}. Put {names} (from {address}) into {data_folders(root)[0] / source.folder}, "
        "or set MAGE_DATA to a folder that holds them"
    )
