import random

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, global_mean_pool

import mage.datasets
from mage import explainers
from mage.explainers import MAGE, Explainer, UnsupportedError
from mage.models import GAT, GCN, GIN
from mage.testing.explainers import check_explainer

# Enough to run every line of a method, not to be good at explaining.
CHEAP = {
    "mage": {"permutations": 10},
    "gnnexplainer": {"epochs": 5},
    "pgexplainer": {"epochs": 1, "max_graphs": 8},
    "refine": {"epochs": 1, "tuning_epochs": 2},
    "subgraphx": {"rollouts": 2, "samples": 4},
    "same": {"rollouts": 2, "samples": 4, "max_seeds": 4},
    "gstarx": {"group_size": 4, "num_groups": 4},
    "edgeshaper": {"num_samples": 3},
    "edge-search": {"scores": "edgeshaper", "num_samples": 3},
}


def made(name):
    return explainers.get(name, **CHEAP.get(name, {}))


class Molecular(nn.Module):
    """A GINE network, which is given features of edges."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(GINEConv(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), edge_dim=2) for _ in range(2))
        self.head = nn.Linear(3, 2)

    def forward(self, x, edge_index, edge_attr, batch=None):
        for layer in self.layers:
            x = layer(x, edge_index, edge_attr)
        return self.head(global_mean_pool(x, batch))


def molecule(size, generator):
    """A ring of six with a chain; atoms and bonds of several kinds."""
    bonds = [(i, (i + 1) % 6) for i in range(6)] + [(i - 1, i) for i in range(6, size)]
    kinds = torch.randint(2, (len(bonds),), generator=generator)
    atoms = torch.randint(3, (size,), generator=generator)
    edges = torch.tensor(bonds).T
    return Data(
        x=nn.functional.one_hot(atoms, 3).float(),
        edge_index=torch.cat([edges, edges.flip(0)], dim=1),
        edge_attr=nn.functional.one_hot(kinds, 2).float().repeat(2, 1),
        y=torch.tensor([size % 2]),
    )


@pytest.fixture(scope="module")
def house_grid():
    return mage.datasets.load("ba_house_grid", count=40)


@pytest.fixture(scope="module")
def molecules():
    generator = torch.Generator().manual_seed(0)
    graphs = [molecule(8 + position % 4, generator) for position in range(40)]
    return mage.datasets.GraphDataset.from_graphs("rings", graphs)


MODELS = {
    "gcn": lambda width: GCN(width, 2, 8, 2),
    "gcn not normalised": lambda width: GCN(width, 2, 8, 2, normalize=False),
    "gin": lambda width: GIN(width, 2, 8, 2),
    "gat": lambda width: GAT(width, 2, 2, 4, 2, dropout=0.5),
}


@pytest.fixture(params=[*MODELS, "gine"])
def case(request, house_grid, molecules):
    if request.param == "gine":
        return request.param, Molecular(), molecules
    return request.param, MODELS[request.param](house_grid.num_node_features), house_grid


@pytest.mark.parametrize("name", explainers.names())
def test_explainers_conform(name, case):
    kind, model, dataset = case
    data = dataset[int(dataset.split.test[0])]
    explanation = check_explainer(made(name), model, data, max_nodes=5, num_motifs=2, seeds=(3,), dataset=dataset)
    if kind == "gcn":
        assert explanation is not None, "refused the plainest of models"


@pytest.mark.parametrize("name", explainers.names())
def test_a_share_of_the_nodes_and_another_masking(name, house_grid):
    model = GIN(house_grid.num_node_features, 2, 8, 2)
    data = house_grid[int(house_grid.split.test[0])]
    settings = {"max_nodes": 0.2, "masking": "split", "seeds": (0,), "dataset": house_grid}
    assert check_explainer(made(name), model, data, **settings) is not None


@pytest.mark.parametrize("name", explainers.names())
def test_graphs_without_edges_are_explained_or_refused(name, house_grid):
    model = GIN(house_grid.num_node_features, 2, 8, 2)
    data = Data(x=torch.rand(4, house_grid.num_node_features), edge_index=torch.zeros(2, 0, dtype=torch.long))
    check_explainer(made(name), model, data, max_nodes=2, seeds=(0,), dataset=house_grid)


# -- the checks themselves ----------------------------------------------------------------------------------------


class Spoiled(Explainer):
    """MAGE, and something that must not be."""

    title = "Spoiled"

    def __init__(self, spoil, **changes):
        self.spoil = spoil
        self.changes = changes
        self.calls = 0

    def compute(self, model, data, request):
        self.calls += 1
        explanation = MAGE(permutations=4, **self.changes).compute(model, data, request)
        return self.spoil(self, model, data, explanation) or explanation


def leaves_hook(explainer, model, data, explanation):
    model.head.register_forward_hook(keep_quiet)


def keep_quiet(*_):
    return None


def trains(explainer, model, data, explanation):
    model.train()


def freezes(explainer, model, data, explanation):
    list(model.parameters())[-1].requires_grad_(False)


def adds_gradients(explainer, model, data, explanation):
    model(data.x, data.edge_index).sum().backward()


def changes_weights(explainer, model, data, explanation):
    with torch.no_grad():
        model.head.bias += 1


def replaces_forward(explainer, model, data, explanation):
    model.embed = keep_quiet


def draws_from_torch(explainer, model, data, explanation):
    torch.rand(1)


def draws_from_numpy(explainer, model, data, explanation):
    np.random.rand(1)  # noqa: NPY002 (the mistake to be caught)


def draws_from_python(explainer, model, data, explanation):
    random.random()  # noqa: S311 (likewise)


def runs_uncounted(explainer, model, data, explanation):
    with torch.no_grad():
        model.eval()(data.x, data.edge_index)


def changes_data(explainer, model, data, explanation):
    data.x += 1


def refuses_silently(explainer, model, data, explanation):
    raise UnsupportedError


def forgets_seed(explainer, model, data, explanation):
    from dataclasses import replace

    return replace(explanation, diagnostics={"calls": explainer.calls})


def nothing(explainer, model, data, explanation):
    pass


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (leaves_hook, "_forward_hooks of 'head' was changed"),
        (trains, "training of"),
        (freezes, "requires_grad of head.bias was changed"),
        (adds_gradients, "gradient of"),
        (changes_weights, "weights head.bias was changed"),
        (replaces_forward, "embed of '' now"),
        (draws_from_torch, "random state of torch"),
        (draws_from_numpy, "random state of numpy"),
        (draws_from_python, "random state of random"),
        (runs_uncounted, "training of|num_queries is"),
        (changes_data, "data was changed"),
        (refuses_silently, "say why"),
        (forgets_seed, "seed 0 twice: other fields"),
    ],
)
def test_checks_catch(spoil, message, house_grid):
    model = GCN(house_grid.num_node_features, 2, 4, 2)
    with pytest.raises(AssertionError, match=message):
        check_explainer(Spoiled(spoil), model, house_grid[0], max_nodes=4)


def test_checks_catch_broken_limits(house_grid):
    model = GCN(house_grid.num_node_features, 2, 4, 2)
    check_explainer(Spoiled(nothing), model, house_grid[0], max_nodes=4)
    with pytest.raises(AssertionError, match="more than M = 3"):
        check_explainer(Spoiled(nothing, max_nodes=9), model, house_grid[0], max_nodes=3)
    with pytest.raises(AssertionError, match="is not connected"):
        check_explainer(Spoiled(nothing, connected=False), model, house_grid[0], max_nodes=9)
    check_explainer(Spoiled(nothing, connected=False), model, house_grid[0], max_nodes=9, connected=False)


def test_the_model_is_given_back_as_it_came(house_grid):
    model = GIN(house_grid.num_node_features, 2, 4, 2).eval()
    check_explainer(MAGE(permutations=4), model, house_grid[0], max_nodes=4, seeds=(0,))
    assert not any(module.training for module in model.modules())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert "forward" not in vars(model)
