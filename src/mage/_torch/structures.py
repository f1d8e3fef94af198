"""Structure besides ``edge_index``: further edges, faces, hyperedges and sparse adjacency matrices, cut like edges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


@dataclass(frozen=True)
class Structure:
    """Columns of numbers, each of which is gone when a node that it names is.

    Attributes:
        ends: Numbers [r, k].
        of_nodes: For each row, whether it holds nodes; the others hold something else, such as hyperedges.
        num_others: How many of these others there are.
        attributes: What belongs to the columns, a row each, by name.
        layout: That of the sparse matrix [n, n] whose rows and columns these are; None for plain numbers.
        dim: Dimensions of the tensor that it was.
    """

    ends: Tensor
    of_nodes: tuple[bool, ...] = (True, True)
    num_others: int = 0
    attributes: dict[str, Tensor] = field(default_factory=dict)
    layout: torch.layout | None = None
    dim: int = 2

    @classmethod
    def of(cls, key: str, value: Any, num_nodes: int) -> Structure | None:
        """What a graph's value is by PyG's convention (names with ``index``, and ``face``); None for other values."""
        if not isinstance(value, Tensor):
            return None
        if value.layout in _SPARSE:
            if tuple(value.shape) != (num_nodes, num_nodes):
                return None
            entries = value.to_sparse(layout=torch.sparse_coo).coalesce()
            return cls(entries.indices(), attributes={"": entries.values()}, layout=value.layout)
        plain = value.dim() in (1, 2) and not value.is_floating_point() and value.dtype != torch.bool
        if not plain or not ("index" in key or key == "face"):
            return None
        ends = value.reshape(-1, value.size(-1)).long()
        of_nodes = (True,) * len(ends)
        if "hyperedge" in key and len(ends) == 2:
            of_nodes = (True, False)
        nodes = ends[: sum(of_nodes)]
        if nodes.numel() and (int(nodes.min()) < 0 or int(nodes.max()) >= num_nodes):
            raise ValueError(f"data: {key} names nodes outside 0 … {num_nodes - 1}")
        others = int(ends[1].max()) + 1 if not all(of_nodes) and ends.numel() else 0
        return cls(ends, of_nodes, others, dim=value.dim())

    @property
    def pairs(self) -> Tensor:
        """Pairs of nodes [2, m] that it joins: those of one column, or those that share a hyperedge."""
        if not all(self.of_nodes):
            node, other = self.ends
            member = torch.zeros(self.num_others, int(node.max()) + 1 if len(node) else 0, device=node.device)
            member[other, node] = 1
            return torch.nonzero(member.T @ member).T
        rows = self.ends.unbind()
        joined = [torch.stack(pair) for pair in combinations(rows, 2)]
        return torch.cat(joined, dim=1) if joined else self.ends.new_empty(2, 0)

    def renumbered(self, position: Tensor) -> Structure:
        """Only the columns whose nodes have a new number: ``position`` [n], −1 for nodes that are gone."""
        of_nodes = torch.tensor(self.of_nodes, device=self.ends.device)
        ends = self.ends.clone()
        ends[of_nodes] = position[self.ends[of_nodes]]
        inner = (ends >= 0).all(dim=0)
        rows = {key: value[inner] for key, value in self.attributes.items()}
        return replace(self, ends=ends[:, inner], attributes=rows)

    def masked(self, masks: Tensor, place: Tensor, num_rows: int) -> dict[str, Tensor]:
        """Its tensors in a union of masked copies, by name; its own has the name ``""``.

        Args:
            masks: Nodes whose columns stay [q, n].
            place: The row of the union that each node of each copy has [q, n].
            num_rows: Rows of the union.
        """
        of_nodes = torch.tensor(self.of_nodes, device=self.ends.device)
        nodes = self.ends[of_nodes]
        copy, column = torch.nonzero(masks[:, nodes].all(dim=1), as_tuple=True)
        ends = self.ends[:, column]
        ends = torch.where(of_nodes[:, None], place[copy[None], ends.clamp(max=place.size(1) - 1)], ends)
        ends[~of_nodes] += copy * self.num_others
        rows = {key: value[column] for key, value in self.attributes.items()}
        if self.layout is not None:
            shape = (num_rows, num_rows)
            matrix = torch.sparse_coo_tensor(ends, rows.pop(""), shape).coalesce()
            rows[""] = matrix if self.layout == torch.sparse_coo else matrix.to_sparse(layout=self.layout)
        else:
            rows[""] = ends.reshape(-1) if self.dim == 1 else ends
        return rows
