"""Published files: their names, checksums and addresses, and how their content is read."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mage.datasets.pickles import DamagedFileError

_BLOCK = 1 << 20


@dataclass(frozen=True)
class PublishedFile:
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
class PublishedFiles:
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
    files: tuple[PublishedFile, ...]
    archive: PublishedFile | None = None
    alternatives: tuple[tuple[PublishedFile, ...], ...] = ()
    home: str = ""
    licence: str = ""


def files_at(address: str, digests: Mapping[str, str], ending: str = "") -> tuple[PublishedFile, ...]:
    """Files at one address by their names, each with the SHA-256 of its content.

    Args:
        address: Address of the folder.
        digests: The hash of each file by its name.
        ending: What the addresses of the files have after their names.
    """
    return tuple(
        PublishedFile(name, f"sha256:{digest}", f"{address}/{name}{ending}") for name, digest in digests.items()
    )


def verify(path: Path, checksum: str) -> None:
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
