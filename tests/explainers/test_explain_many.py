import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

import mage
from tests.helpers.precision import rounding


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.scale = torch.ones(())
        self.last = None

    def forward(self, x, edge_index, batch):
        self.last = self.scale * self.head(global_add_pool(x, batch))
        return self.last


def graphs(count=3):
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return [
        Data(x=torch.rand(3, 2, generator=torch.Generator().manual_seed(seed)), edge_index=edge_index)
        for seed in range(count)
    ]


def network():
    torch.manual_seed(0)
    return Net()


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run(model, folder, **options):
    return list(mage.explain_many(model, graphs(), folder=folder, target=0, **options))


def test_what_a_pass_leaves_behind_does_not_hinder_resuming(tmp_path):
    run(network(), tmp_path)
    seen = files(tmp_path)
    min(tmp_path.iterdir()).unlink()
    run(network(), tmp_path)
    again = files(tmp_path)
    assert again.keys() == seen.keys()
    assert [name for name in sorted(seen) if again[name] == seen[name]] == sorted(seen)[1:]


def test_a_changed_tensor_is_another_model(tmp_path):
    first, second = network(), network()
    second.scale = torch.tensor(5.0)
    before, after = run(first, tmp_path), run(second, tmp_path)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(other.interactions.values, 5 * one.interactions.values, rtol=1e-5, atol=rounding())


def test_forward_functions_that_differ_are_not_mixed_up(tmp_path):
    def scaled(factor):
        return lambda model, data: factor * model(data.x, data.edge_index, data.batch)

    once, thrice = (run(network(), tmp_path, forward=scaled(factor)) for factor in (1, 3))
    np.testing.assert_allclose(thrice[0].prediction, 3 * once[0].prediction, rtol=1e-5)


def interactions_only(path):
    mage.load(path).interactions.save(path)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.write_text("hello"), "not a zip archive"),
        (lambda path: path.write_bytes(b""), "not a zip archive"),
        (lambda path: path.write_bytes(path.read_bytes()[:-30]), "cut off"),
        (interactions_only, "format"),
    ],
)
def test_a_damaged_file_is_made_again(tmp_path, damage, reason):
    expected = run(network(), tmp_path)
    path = sorted(tmp_path.iterdir())[1]
    damage(path)
    with pytest.warns(UserWarning, match=f"{path.name} does not hold a saved explanation: .*{reason}") as caught:
        again = run(network(), tmp_path)
    assert len(caught) == 1
    assert "pickle" not in str(caught[0].message)
    for one, other in zip(expected, again, strict=True):
        np.testing.assert_array_equal(one.interactions.values, other.interactions.values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(network(), tmp_path)


def test_one_node_of_a_high_order_is_kept(tmp_path):
    alone = Data(x=torch.ones(1, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))
    for _ in range(2):
        (explanation,) = mage.explain_many(network(), [alone], folder=tmp_path, target=0, order=3)
        assert explanation.interactions.order == 3
    assert mage.load(next(tmp_path.iterdir())).interactions.order == 3
