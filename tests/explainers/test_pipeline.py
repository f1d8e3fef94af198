import csv

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.datasets import ExplainerDataset
from torch_geometric.datasets.graph_generator import BAGraph
from torch_geometric.nn import SAGEConv, global_add_pool
from torch_geometric.utils import subgraph

import mage
from mage.cli.demo import demo_explanation
from mage.explainers import graphs as graphs_module
from mage.explainers.graphs import explain_graph
from mage.explanation import MoleculeSubject
from mage.models import demo_graph, load_demo_model
from tests.helpers.data import cora, data_path
from tests.helpers.graph_models import Net, NodeNet, graph, molecule
from tests.helpers.precision import rounding


def trained(model, data, epochs=60):
    torch.manual_seed(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(data.x, data.edge_index), data.y).backward()
        optimiser.step()
    return model.eval()


def test_defaults_need_no_touch():
    data = graph()
    explanation = mage.explain(Net(), data)
    assert explanation.interactions.exact
    assert explanation.motifs.optimal
    assert explanation.interactions.order == 3
    assert (explanation.output, explanation.masking) == ("probability", "split")
    # The size was chosen among all that explain something, and both sides were looked at.
    assert explanation.motifs.max_nodes in {step.max_nodes for step in explanation.motifs.path} == set(range(1, 7))
    assert len(explanation.motifs) <= 3
    assert explanation.motifs.against is not None
    assert not set(explanation.motifs.nodes) & {v for motif in explanation.against for v in motif.nodes}
    assert explanation.target == int(np.argmax(explanation.prediction))
    assert explanation.node_mask.shape == (12,)
    assert explanation.edge_mask.shape == (data.num_edges,)
    assert explanation.node_mask.sum() == len(explanation.motifs.nodes)
    # The graph itself, its halves alone and all three together, to see that batches do not mix, and no node at all,
    # which decides the unit of the output.
    queries = explanation.interactions.num_queries + explanation.consequences.num_queries
    # Random coalitions show whether the probability saturates.
    assert explanation.num_queries == queries + 1 + 5 + 1 + 32
    assert explanation.seconds > 0


def test_node_scores_are_the_myerson_value():
    data, model = graph(), Net().eval()
    explanation = mage.explain(model, data)
    value = mage.interactions(mage.games.ModelGame(model, data), "myerson", method="exact")
    np.testing.assert_allclose(explanation.node_scores, value.values, atol=rounding())
    total = explanation.interactions.group(range(12))
    assert explanation.node_scores.sum() == pytest.approx(total, abs=rounding())


def test_seeds_repeat_and_differ():
    data, model = graph(nodes=25), Net().eval()
    runs = [mage.explain(model, data, permutations=20, seed=seed) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(runs[0].interactions.values, runs[1].interactions.values)
    assert not np.array_equal(runs[0].interactions.values, runs[2].interactions.values)
    assert runs[0].motif_error(runs[0].motifs[0]) > 0
    assert "±" in repr(runs[0])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_five_cycle_speaks_against_the_grid(seed):
    data = demo_graph(seed)
    grid, cycle = (tuple(sorted(data[key].tolist())) for key in ("grid_nodes", "cycle_nodes"))
    positive = mage.explain(
        load_demo_model(), data, num_motifs=1, max_nodes=9, tau=1.0, masking="split", budget=300_000
    )
    assert positive.target == 1
    assert [motif.nodes for motif in positive.motifs] == [grid]
    explanation = mage.explain(
        load_demo_model(), data, num_motifs=2, max_nodes=14, tau=0.5, output="logit", order=2, objective="paper"
    )
    assert {motif.nodes: motif.sign for motif in explanation.motifs} == {grid: 1, cycle: -1}
    plain = demo_explanation(seed)
    assert [motif.nodes for motif in plain.motifs] == [grid]
    assert set(cycle) <= {v for motif in plain.against for v in motif.nodes}
    assert plain.motifs.optimal
    assert plain.interactions.exact


def test_cora_nodes_are_explained_by_their_neighbourhood():
    data = cora()
    assert (data.num_nodes, data.num_edges) == (2708, 10556)
    model = trained(NodeNet(data.num_features, 7), data, epochs=20)
    degree = torch.bincount(data.edge_index[0])
    for node in torch.nonzero(degree == 3).flatten()[:3].tolist():
        explanation = mage.explain(model, data, node=node, permutations=20, max_nodes=5)
        assert explanation.level == "node"
        assert explanation.num_nodes == 2708
        with torch.no_grad():
            expected = model(data.x, data.edge_index)[node]
        np.testing.assert_allclose(explanation.prediction, expected, atol=1e-4)
        reach = {v for player in explanation.players for v in player}
        assert set(explanation.motifs.nodes) <= reach
        # Same-class citation networks: what speaks for a class is near the node, the node first of all.
        assert node in explanation.motifs.nodes


def check_node_worths(model, data, node):
    """Worths of random coalitions against the whole graph with the absent nodes cut off by PyG's ``subgraph``."""
    game = mage.games.ModelGame(model, data, node=node, masking="split", target=1, output="logit")
    players = np.concatenate(game.player_nodes)
    masks = np.random.default_rng(0).random((8, game.num_players)) < 0.7
    masks[:, players.tolist().index(node)] = True
    for mask, worth in zip(masks, game.worth(masks), strict=True):
        present = torch.ones(data.num_nodes, dtype=torch.bool)
        present[torch.from_numpy(players[~mask])] = False
        edge_index, _ = subgraph(present, data.edge_index, num_nodes=data.num_nodes)
        with torch.no_grad():
            expected = float(model(data.x, edge_index)[node, 1])
        assert worth + game.baseline == pytest.approx(expected, abs=1e-5)


def test_cora_worths_equal_those_on_the_whole_graph():
    data = cora()
    torch.manual_seed(0)
    model = NodeNet(data.num_features, 7).eval()
    degree = torch.bincount(data.edge_index[0])
    for node in torch.nonzero(degree == 4).flatten()[:2].tolist():
        check_node_worths(model, data, node)


def test_ba_shapes_worths_equal_those_on_the_whole_graph():
    torch.manual_seed(1)
    data = ExplainerDataset(BAGraph(40, 2), motif_generator="house", num_motifs=6)[0]
    data = Data(x=torch.rand(data.num_nodes, 4), edge_index=data.edge_index)
    check_node_worths(NodeNet(4, 3, SAGEConv).eval(), data, 44)


def test_ba_shapes_node_in_a_house():
    torch.manual_seed(1)
    dataset = ExplainerDataset(BAGraph(60, 2), motif_generator="house", num_motifs=12)
    data = dataset[0]
    data.x = torch.ones(data.num_nodes, 4)
    data.y = data.y.long()
    model = trained(NodeNet(4, int(data.y.max()) + 1, SAGEConv), data, epochs=120)
    node = int(torch.nonzero(data.node_mask > 0)[0])
    explanation = mage.explain(model, data, num_motifs=1, max_nodes=5, node=node, masking="split", permutations=50)
    assert len(explanation.motifs.nodes) <= 5
    assert len(explanation.players) < data.num_nodes


class LinkNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = SAGEConv(4, 8)

    def forward(self, x, edge_index, edge_label_index):
        z = self.conv(x, edge_index).tanh()
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=1)


def test_links_are_explained_by_both_neighbourhoods():
    data = graph(nodes=20)
    u, v = data.edge_index[:, 0].tolist()
    explanation = mage.explain(LinkNet(), data, edge=(u, v), task="binary", tau=0.5)
    assert explanation.level == "edge"
    near = {u, v} | {j for i, j in data.edge_index.T.tolist() if i in (u, v)}
    assert {node for player in explanation.players for node in player} == near


def test_solubility_is_explained_as_a_regression():
    with data_path("moleculenet", "esol.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    column = next(key for key in rows[0] if "smiles" in key.lower())
    molecules = [molecule(row[column]) for row in rows[:40]]
    model = Net(8, 1, global_add_pool).eval()
    data = next(m for m in molecules if 8 <= m.num_nodes <= 14)
    explanation = mage.explain(model, data, tau=0.5, masking="split")
    assert (explanation.task, explanation.target) == ("regression", None)
    with torch.no_grad():
        expected = float(model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long)))
    assert explanation.prediction[0] == pytest.approx(expected, abs=1e-5)
    assert "prediction" in explanation.headline
    game = mage.games.ModelGame(model, data, masking="remove", output="logit")
    masks = np.random.default_rng(0).random((10, data.num_nodes)) < 0.6
    for mask, worth in zip(masks, game.worth(masks), strict=True):
        presence = torch.from_numpy(mask)
        edge_index, _ = subgraph(presence, data.edge_index, relabel_nodes=True, num_nodes=data.num_nodes)
        with torch.no_grad():
            alone = float(model(data.x[presence], edge_index, torch.zeros(int(presence.sum()), dtype=torch.long)))
        assert worth + game.baseline == pytest.approx(alone, abs=1e-5)
    assert explanation.subject == MoleculeSubject(data.smiles)


def test_groups_come_back_as_nodes():
    data = graph()
    groups = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    explanation = mage.explain(Net(), data, groups=groups, num_motifs=1, max_nodes=1, tau=0.5)
    assert len(explanation.players) == 3
    (motif,) = explanation.motifs
    assert list(motif.nodes) in groups
    assert explanation.node_mask.sum() == 4


def test_many_graphs_in_order_and_resumed(tmp_path, monkeypatch):
    graphs, model = [graph(seed) for seed in range(4)], Net().eval()
    first = list(mage.explain_many(model, graphs, folder=tmp_path, tau=0.5))
    assert len(list(tmp_path.iterdir())) == 4
    calls = []
    monkeypatch.setattr(graphs_module, "explain_graph", lambda *a, **k: calls.append(1) or explain_graph(*a, **k))
    again = list(mage.explain_many(model, graphs, folder=tmp_path, tau=0.5))
    assert calls == []
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.interactions.values, b.interactions.values)
        assert a.motifs == b.motifs
    next(iter(tmp_path.iterdir())).unlink()
    list(mage.explain_many(model, graphs, folder=tmp_path, tau=0.5))
    assert len(calls) == 1
    list(mage.explain_many(model, graphs, folder=tmp_path, tau=0.4))
    assert len(calls) == 5
    with torch.no_grad():
        model.head.bias += 1
    list(mage.explain_many(model, (g for g in graphs), folder=tmp_path, tau=0.5))
    assert len(calls) == 9


def test_other_models_are_not_mistaken_for_each_other(tmp_path):
    first, second = Net(), Net(pool=global_add_pool)
    second.load_state_dict(first.state_dict())
    Other = type("Other", (Net,), {})
    third = Other(pool=global_add_pool)
    third.load_state_dict(first.state_dict())
    one, two = (next(mage.explain_many(model, [graph()], folder=tmp_path)) for model in (first, third))
    assert not np.array_equal(one.prediction, two.prediction)
    with pytest.raises(ValueError, match="folder"):
        next(mage.explain_many(lambda x, edge_index, batch: x, [graph()], folder=tmp_path))


def test_an_interrupted_run_keeps_what_is_done(tmp_path):
    class Stops(Net):
        def forward(self, x, edge_index, batch):
            if len(x) and x[0, 0] > 100:
                raise KeyboardInterrupt
            return super().forward(x, edge_index, batch)

    graphs = [graph(seed) for seed in range(3)]
    graphs[2].x[0, 0] = 1000.0
    with pytest.raises(KeyboardInterrupt):
        list(mage.explain_many(Stops(), graphs, folder=tmp_path))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "names must list 12"),
        ({"names": ["\ud800"] * 12}, r"names: '\\ud800' has half of a character"),
        ({"tau": 2}, "tau"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"index": "banzaf"}, "index"),
        ({"order": 4}, "order 4"),
        ({"order": "two"}, "order"),
        ({"num_motifs": 0}, "num_motifs"),
        ({"max_nodes": 2.7}, "max_nodes"),
        ({"solver": "mosek"}, "solver"),
        ({"noise_floor": -1}, "noise_floor"),
    ],
)
def test_bad_arguments_are_refused_before_the_model_is_asked(options, message):
    def model(x, edge_index, batch):
        pytest.fail("the model was asked")

    with pytest.raises(ValueError, match=message):
        mage.explain(model, graph(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"include": 3}, "include must be a list of nodes, got 3"),
        ({"include": ["a"]}, "include: nodes are whole numbers, got 'a'"),
        ({"include": torch.ones(12, dtype=torch.bool)}, "include: nodes are whole numbers"),
        ({"exclude": [12]}, "exclude: node 12 is not a player"),
        ({"edge": "ab"}, "edge must be a pair of nodes, got 'ab'"),
        ({"edge": 3}, "edge must be a pair of nodes, got 3"),
        ({"edge": (1, 2, 3)}, "edge must be a pair of nodes"),
        ({"node": 1.5}, "node: nodes are whole numbers, got 1.5"),
        ({"groups": [["a"]]}, "groups: nodes are whole numbers"),
    ],
)
def test_nodes_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        mage.explain(Net(), graph(), **options)


def test_nodes_may_be_tensors():
    data, model = graph(), Net().eval()
    expected = mage.explain(model, data, include=[1], exclude=[2])
    for wrap in (torch.tensor, np.int64):
        explanation = mage.explain(model, data, include=[wrap(1)], exclude=[wrap(2)])
        assert explanation.motifs == expected.motifs
    assert 1 in expected.motifs.nodes
    link = mage.explain(LinkNet(), data, edge=torch.tensor([0, 1]), task="binary")
    assert link.level == "edge"


def test_shares_of_a_link_round_as_those_of_a_graph():
    torch.manual_seed(0)
    star = torch.stack([torch.zeros(49, dtype=torch.long), torch.arange(1, 50)])
    data = Data(x=torch.randn(50, 4), edge_index=torch.cat([star, star.flip(0)], dim=1))
    explanation = {
        share: mage.explain(LinkNet(), data, edge=(0, 1), task="binary", max_nodes=share, permutations=2).motifs
        for share in (0.58, 0.01)
    }
    assert len(explanation[0.58].labels) == 50
    assert explanation[0.58].max_nodes == mage.find_motifs(np.eye(50), data.edge_index, max_nodes=0.58).max_nodes == 29
    assert explanation[0.01].max_nodes == 2  # nothing below two ends explains a link


@pytest.mark.parametrize("offset", [-14.0, 14.0])
@pytest.mark.parametrize("output", ["probability", "log-probability", "log-odds"])
def test_small_changes_of_a_probability_are_no_rounding(output, offset):
    """Near 0 and near 1 a probability moves little, and its rounding less: the same motif as for log-odds."""
    edges = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]])
    data = Data(x=torch.ones(5, 1), edge_index=edges)

    def pairs(x, edge_index, batch):
        # Two numbers that only differ by what nodes 1 and 2 do together.
        marked = (edge_index[0] % 5 == 1) & (edge_index[1] % 5 == 2)
        counts = torch.zeros(int(batch.max()) + 1).index_add_(0, batch[edge_index[0]], marked.float())
        return torch.stack([torch.zeros_like(counts), offset + counts], dim=1)

    explanation = mage.explain(
        pairs, data, target=1, masking="split", output=output, num_motifs=1, max_nodes=2, order=2, tau=1.0
    )
    assert [motif.nodes for motif in explanation.motifs] == [(1, 2)]


def test_rounding_is_no_motif():
    """Without edges nothing changes under "split" but the last digits."""
    for seed in range(4):
        torch.manual_seed(seed)
        data = Data(x=torch.randn(5, 3), edge_index=torch.zeros(2, 0, dtype=torch.long))
        model = mage.models.GIN(3, 2, 8, num_layers=2).eval()
        explanation = mage.explain(model, data, masking="split", tau=0.5, num_motifs=2, batch_size=2)
        assert len(explanation.motifs) == 0
