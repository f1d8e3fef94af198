"""The datasets by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mage._core.checks import checked_flag, checked_text, checked_whole, did_you_mean
from mage._core.files import as_path
from mage._core.optional import require
from mage.datasets.dataset_info import DataRoot, DatasetInfo
from mage.datasets.locations import find_files

if TYPE_CHECKING:
    from mage.datasets.dataset import GraphDataset

# Modules that have an INFO of their own name. A new dataset is such a module and a line here.
_MODULES = (
    "ba_2motifs",
    "ba_house_grid",
    "spmotif",
    "ba_house_and_grid",
    "ba_house_or_grid",
    "mutagenic",
    "benzene",
    "mnist75sp",
    "graph_sst2",
    "twitter",
    "fluoride_carbonyl",
    "alkane_carbonyl",
    "ba_shapes",
    "tree_cycles",
    "tree_grid",
    "rule_and",
    "rule_or",
    "rule_not",
    "rule_count",
)
DATASETS: dict[str, DatasetInfo] = {name: import_module(f"mage.datasets.{name}").INFO for name in _MODULES}


_LIMITS = {"seed": (0, 1 << 62), "count": (2, 10**6)}
"""The smallest and the largest values of options that are whole numbers."""


def names() -> list[str]:
    """Names of the datasets."""
    return list(DATASETS)


def info(name: str) -> DatasetInfo:
    """What the library knows about a dataset."""
    try:
        return DATASETS[checked_text("name", name)]
    except KeyError:
        choices = ", ".join(DATASETS)
        raise ValueError(
            f"name: there is no dataset {name!r}{did_you_mean(name, DATASETS)}; there are {choices}"
        ) from None


def load(name: str, root: str | Path | None = None, *, download: bool = True, **options: Any) -> GraphDataset:
    """A dataset by name.

    Args:
        name: One of :func:`names`.
        root: Folder that holds a folder of published files for each dataset; by default ``MAGE_DATA`` and then the
            cache (``MAGE_CACHE``, or ``~/.cache/mage``).
        download: Whether files that are not there may be downloaded from their official addresses.
        **options: ``seed`` (generated sets), ``count`` (generated sets: number of graphs), ``workers`` and ``limit``
            (MNIST75SP and text: processes that make the graphs; take only the first so many), ``encoder`` (text:
            ``"minilm"`` or a Hugging Face name).

    Raises:
        MissingDataError: If published files are neither here nor to be downloaded; it says which file to put where.
        DamagedFileError: If a file is not the published one.
    """
    entry = info(name)
    unknown = set(options) - set(entry.options)
    if unknown:
        allowed = ", ".join(entry.options) or "none"
        raise ValueError(f"{', '.join(sorted(unknown))}: not an option of {name}; its options are {allowed}")
    if root is not None and not as_path("root", root).is_dir():
        raise ValueError(f"root: the folder {root} does not exist")
    download = checked_flag("download", download)
    for option in options.keys() & _LIMITS.keys():
        least, most = _LIMITS[option]
        options[option] = checked_whole(option, options[option], least=least)
        if options[option] > most:
            raise ValueError(f"{option} must be at most {most:,}, got {options[option]:,}")
    require("torch_geometric", "pyg")
    from mage.datasets.dataset import GraphDataset

    return GraphDataset(entry, *entry.build(DataRoot(root, download), **options))


def where(name: str, root: str | Path | None = None) -> str:
    """Where a dataset is on this machine, in words."""
    entry = info(name)
    if entry.source is None:
        return "generated"
    paths = find_files(entry.source, root)
    return f"not here; {entry.when_missing}" if paths is None else str(next(iter(paths.values())).parent)
