"""Real data for tests, where ``MAGE_DATA`` points to it."""

import io
import os
import pickle
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch_geometric.data import Data


def data_path(*parts):
    """A file or folder of real data, or a skip that says what is missing."""
    folder = os.environ.get("MAGE_DATA")
    if not folder:
        pytest.skip("MAGE_DATA is not set")
    path = Path(folder).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path.name} is not in MAGE_DATA")
    return path


class _Restricted(pickle.Unpickler):
    """Reads arrays and plain containers, nothing that runs code."""

    allowed: ClassVar = {
        ("__builtin__", "list"),
        ("collections", "defaultdict"),
        ("builtins", "list"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("scipy.sparse.csr", "csr_matrix"),
        ("_codecs", "encode"),
    }

    def find_class(self, module, name):
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"{module}.{name} is not plain data")
        return super().find_class(module, name)


def cora():
    """Cora as published, in PyG's form."""
    parts = {}
    for name in ("x", "tx", "allx", "y", "ty", "ally", "graph"):
        raw = data_path("planetoid", f"ind.cora.{name}").read_bytes()
        parts[name] = _Restricted(io.BytesIO(raw), encoding="latin1").load()
    order = np.loadtxt(data_path("planetoid", "ind.cora.test.index"), dtype=np.int64)
    x = np.concatenate([parts["allx"].toarray(), parts["tx"].toarray()])
    y = np.concatenate([parts["ally"], parts["ty"]]).argmax(axis=1)
    spread = np.sort(order)
    x[order], y[order] = x[spread], y[spread]
    pairs = {(i, j) for i, near in parts["graph"].items() for j in near if i != j}
    pairs |= {(j, i) for i, j in pairs}
    edge_index = torch.tensor(sorted(pairs)).T
    return Data(x=torch.from_numpy(x).float(), edge_index=edge_index, y=torch.from_numpy(y))
