import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

import mage
from mage.explanation.crop import crop
from tests.helpers.graph_models import Net, NodeNet, graph


def long_ring(nodes=2000):
    columns = torch.tensor([(i, (i + 1) % nodes) for i in range(nodes)]).T
    x = torch.randn(nodes, 4, generator=torch.Generator().manual_seed(0))
    return Data(x=x, edge_index=torch.cat([columns, columns.flip(0)], dim=1))


def test_a_node_of_a_large_graph_is_shown_with_its_surroundings():
    names = [f"node {i}" for i in range(2000)]
    explanation = mage.explain(NodeNet(4, 3, SAGEConv), long_ring(), node=700, names=names, tau=0.5)
    part = crop(explanation, most_nodes=21)
    assert part.num_nodes == len(part.names) == 21
    assert part.part_of == 2000
    # Ten on each side of the node, in a row.
    assert set(part.names) == {f"node {i}" for i in range(690, 711)}
    assert part.edge_index.shape == (2, 40)
    network = nx.Graph([(part.names[i], part.names[j]) for i, j in part.edge_index.T.tolist()])
    whole = nx.Graph([(names[i], names[j]) for i, j in explanation.edge_index.T.tolist()])
    assert nx.utils.graphs_equal(network, nx.Graph(whole.subgraph(part.names)))
    assert [m.score for m in part.motifs] == [m.score for m in explanation.motifs]
    for small, large in zip(part.motifs, explanation.motifs, strict=True):
        assert [part.names[v] for v in small.nodes] == [names[v] for v in large.nodes]
    nodes = [int(name.split()[1]) for name in part.names]
    np.testing.assert_array_equal(part.node_mask, explanation.node_mask[nodes])
    np.testing.assert_allclose(part.node_scores, explanation.node_scores[nodes])
    assert part.headline == explanation.headline
    assert part.plot() is not None


def test_players_and_motifs_stay_however_small_the_part():
    explanation = mage.explain(Net(), graph(nodes=30), groups=np.arange(30) // 3, tau=0.5)
    part = crop(explanation, most_nodes=2)
    assert all(len(nodes) >= 1 for nodes in part.players)
    motif_nodes = {v for motif in explanation.motifs for v in motif.nodes}
    assert {part.names[v] for motif in part.motifs for v in motif.nodes} == {str(v) for v in motif_nodes}
    assert np.isfinite(part.node_scores).all()
    assert crop(explanation) is explanation
    with pytest.raises(ValueError, match="most_nodes"):
        crop(explanation, most_nodes=0)
