"""Why this item for this user? ``python examples/recommendation.py [page.html]``.

Users buy items of the kinds that they like, and a few others. A graph network with an embedding per user and per item
learns to distinguish purchases from other pairs. It recommends an item that the user does not have yet. The
explanation shows the users and items that led to the recommendation, as paths between the user and the item.
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import HeteroData
from torch_geometric.nn import SAGEConv, to_hetero

import mage

USERS, ITEMS, KINDS, PURCHASES = 24, 18, 3, 5
BUYS, BOUGHT_BY = ("user", "buys", "item"), ("item", "bought_by", "user")


def shop(seed: int = 0) -> HeteroData:
    """Users and items of three kinds; four of five purchases are of the kind that the user likes."""
    generator = torch.Generator().manual_seed(seed)
    pairs = set()
    for user in range(USERS):
        while sum(first == user for first, _ in pairs) < PURCHASES:
            liked = torch.rand(1, generator=generator) < 0.8
            kind = user % KINDS if liked else int(torch.randint(KINDS, (1,), generator=generator))
            row = int(torch.randint(ITEMS // KINDS, (1,), generator=generator))
            pairs.add((user, kind + KINDS * row))
    data = HeteroData()
    data["user"].num_nodes, data["item"].num_nodes = USERS, ITEMS
    data["item"].names = [f"{('book', 'film', 'game')[item % KINDS]} {item // KINDS}" for item in range(ITEMS)]
    data[BUYS].edge_index = torch.tensor(sorted(pairs)).T
    data[BOUGHT_BY].edge_index = data[BUYS].edge_index.flip(0)
    return data


class Encoder(nn.Module):
    """Two layers of GraphSAGE; `to_hetero` gives each relation its own weights."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(width, width), SAGEConv(width, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """States of the nodes."""
        out: Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        return out


class Recommender(nn.Module):
    """How likely a user buys an item: a logit per pair."""

    def __init__(self, data: HeteroData, width: int = 12) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(USERS, width), nn.Embedding(ITEMS, width)
        self.encoder = to_hetero(Encoder(width), data.metadata())

    def forward(self, edge_index_dict: dict[tuple[str, str, str], Tensor], edge_label_index: Tensor) -> Tensor:
        """Scores of pairs of a user and an item."""
        states = self.encoder({"user": self.users.weight, "item": self.items.weight}, edge_index_dict)
        return (states["user"][edge_label_index[0]] * states["item"][edge_label_index[1]]).sum(dim=1)


def train(data: HeteroData, epochs: int = 120, seed: int = 0) -> Recommender:
    """A recommender that distinguishes purchases from other pairs; it predicts purchases that are hidden."""
    torch.manual_seed(seed)
    model, edges = Recommender(data), data[BUYS].edge_index
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-3)
    bought = torch.zeros(USERS, ITEMS, dtype=torch.bool)
    bought[edges[0], edges[1]] = True
    for _ in range(epochs):
        hidden = torch.rand(edges.size(1)) < 0.3
        messages = edges[:, ~hidden]
        others = torch.nonzero(~bought)
        others = others[torch.randperm(len(others))[: int(hidden.sum())]].T
        pairs = torch.cat([edges[:, hidden], others], dim=1)
        labels = torch.cat([torch.ones(int(hidden.sum())), torch.zeros(others.size(1))])
        optimizer.zero_grad()
        scores = model({BUYS: messages, BOUGHT_BY: messages.flip(0)}, pairs)
        functional.binary_cross_entropy_with_logits(scores, labels).backward()
        optimizer.step()
    return model.eval()


def recommended(model: Recommender, data: HeteroData, user: int) -> int:
    """The item with the highest score among those that the user does not have."""
    with torch.no_grad():
        pairs = torch.stack([torch.full((ITEMS,), user), torch.arange(ITEMS)])
        scores = model(data.edge_index_dict, pairs)
    edges = data[BUYS].edge_index
    scores[edges[1][edges[0] == user]] = -torch.inf
    return int(scores.argmax())


def explained(user: int = 4, page: str | None = None) -> mage.Explanation:
    """Train, recommend an item to a user, and explain it."""
    data = shop()
    model = train(data)
    item = recommended(model, data, user)
    explanation = mage.explain(
        model, data, edge=(("user", user), ("item", item)), target=1, num_motifs=2, max_nodes=6, order=2, seed=0
    )
    if page is not None:
        explanation.save_html(page, f"Why {data['item'].names[item]} for user {user}?")
    return explanation


if __name__ == "__main__":
    print(explained(page=sys.argv[1] if len(sys.argv) > 1 else None))
