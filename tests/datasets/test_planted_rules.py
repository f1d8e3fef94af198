import numpy as np
import pytest
import torch

from mage.datasets import load, motifs_of
from mage.datasets.planted_rules import PATTERNS, RULES
from mage.models import rule_network


def copies_in(data):
    """Numbers of complete copies of each pattern, counted by hand."""
    colours = data.x.argmax(dim=1).numpy()
    neighbours = [set() for _ in colours]
    for first, second in data.edge_index.T.tolist():
        neighbours[first].add(second)
    counts = []
    for pattern in PATTERNS:
        centres = [node for node, colour in enumerate(colours) if colour == pattern.centre]
        counts.append(sum({colours[i] for i in neighbours[node]} >= set(pattern.leaves) for node in centres))
    return counts


@pytest.mark.parametrize("name", RULES)
def test_the_label_is_the_rule(name):
    dataset, rule = load(name, count=60), RULES[name]
    for data in dataset:
        counts = copies_in(data)
        expected = {
            "rule_and": counts[0] >= 1 and counts[1] >= 1,
            "rule_or": counts[0] + counts[1] >= 1,
            "rule_not": counts[0] >= 1 and counts[1] == 0,
            "rule_count": counts[0] >= 2,
        }[name]
        assert int(data.y) == expected == rule.label_of(counts)
    assert np.bincount(dataset.labels).tolist() == [30, 30]


@pytest.mark.parametrize("name", RULES)
def test_the_truth_is_the_patterns_that_count(name):
    signed = set()
    for data in load(name, count=60):
        counts, weights = copies_in(data), RULES[name].weights
        sizes = [len(motif) for motif in motifs_of(data)]
        for pattern, count, weight in zip(PATTERNS, counts, weights, strict=True):
            assert sizes.count(len(pattern.colours)) == (count if weight else 0)
        assert torch.equal(data.node_motif >= 0, data.node_sign != 0)
        colours = data.x.argmax(dim=1)
        for pattern, weight in zip(PATTERNS, weights, strict=True):
            signs = data.node_sign[(colours == pattern.centre) & (data.node_motif >= 0)]
            assert (signs == np.sign(weight) * (1 if int(data.y) == 1 else -1)).all()
        signed |= set(data.node_sign.tolist())
    # Without any pattern a graph of the other class has nothing that speaks against it.
    assert signed == ({0, 1} if name == "rule_or" else {-1, 0, 1})


def test_decoys_are_not_rare():
    colours = {pattern.centre for pattern in PATTERNS}
    decoys = [
        node
        for data in load("rule_and", count=60)
        for node, colour in enumerate(data.x.argmax(dim=1).tolist())
        if colour in colours and int(data.node_motif[node]) < 0
    ]
    assert len(decoys) > 20


def test_the_same_seed_gives_the_same_graphs():
    first, second, other = (load("rule_not", count=20, seed=seed) for seed in (4, 4, 5))
    assert first.columns.fingerprint() == second.columns.fingerprint() != other.columns.fingerprint()


@pytest.mark.parametrize("name", RULES)
def test_settings_follow_the_truth(name):
    dataset = load(name, count=100)
    for position in dataset.explained(rule_network(name), limit=5).tolist():
        settings, motifs = dataset.settings(position), dataset.motifs(position)
        assert settings["num_motifs"] == len(motifs)
        assert settings["max_nodes"] == sum(map(len, motifs))
