import numpy as np
import pytest
import torch

import mage
from mage.datasets import load
from mage.datasets.planted_rules import RULES
from mage.games import ModelGame
from mage.metrics import signed_f1
from mage.models import accuracy, rule_network
from mage.models.rules import SCALE


@pytest.mark.parametrize("name", RULES)
def test_the_network_computes_the_label_of_every_graph(name):
    dataset = load(name, count=200)
    assert accuracy(rule_network(name), dataset, np.arange(200)) == 1.0


@pytest.mark.parametrize("name", RULES)
def test_a_coalition_is_worth_its_complete_patterns(name):
    """What the ground truth says about the network is true of all coalitions, not only of the whole graph."""
    dataset, network, rule = load(name, count=30), rule_network(name), RULES[name]
    generator = np.random.default_rng(0)
    for data in dataset:
        game = ModelGame(network, data, target=1, output="logit", masking="remove")
        masks = generator.random((40, data.num_nodes)) < 0.8
        numbers = data.node_motif.numpy()
        expected = np.zeros(len(masks))
        for motif in range(numbers.max() + 1):
            nodes = np.flatnonzero(numbers == motif)
            weight = rule.weights[len(nodes) == 4]
            expected += SCALE / 2 * weight * masks[:, nodes].all(axis=1)
        assert np.allclose(game.worth(masks), expected, atol=1e-5)


def mean_score(name, sizes_known):
    dataset, network = load(name), rule_network(name)
    scores = []
    for position in dataset.explained(network, limit=8).tolist():
        data, settings = dataset[position], dataset.settings(position)
        sizes = {key: settings[key] for key in ("num_motifs", "max_nodes")} if sizes_known else {}
        explanation = mage.explain(network, data, output="logit", masking="remove", progress=False, **sizes)
        against = [node for motif in explanation.against for node in motif.nodes]
        scores.append(signed_f1(explanation.motifs.nodes, against, data.node_sign))
    return np.mean(scores)


@pytest.mark.parametrize("name", sorted(set(RULES) - {"rule_not"}))
def test_mage_finds_the_patterns_of_the_rule(name):
    assert mean_score(name, sizes_known=True) >= 0.98


@pytest.mark.parametrize("name", RULES)
def test_mage_finds_the_patterns_with_their_signs_without_their_sizes(name):
    assert mean_score(name, sizes_known=False) >= 0.98


def test_unknown_rules_are_refused():
    with pytest.raises(ValueError, match="'benzene' has no rule; those with one are rule_and, rule_or"):
        rule_network("benzene")


def test_weights_are_plain_numbers_and_the_network_is_in_evaluation_mode():
    network = rule_network("rule_not")
    assert not network.training
    assert SCALE == 4.0
    weights = torch.cat([parameter.detach().flatten() for parameter in network.parameters()])
    assert set(weights.tolist()) == {0.0, 1.0, -1.0, 2.0, -2.0, -3.0}
