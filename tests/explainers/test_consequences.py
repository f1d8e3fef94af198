import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

import mage
from mage._core.conversion import same
from mage.explainers import ExplainRequest
from mage.explanation import crop
from mage.games import GraphRequest, ModelGame
from mage.report.consequences_card import waterfall
from tests.helpers.explanations import made_up, ordered
from tests.helpers.graph_models import Net, NodeNet, graph
from tests.helpers.precision import rounding

OUTPUTS = ("logit", "probability", "log-probability", "log-odds")


def explained(model, data, **fields):
    return mage.explain(model, data, **{"tau": 0.5, "num_motifs": 2, "max_nodes": 6, "progress": False, **fields})


def coalitions(explanation):
    """Nobody, each motif alone and without it, all of them alone and without them."""
    count = explanation.num_nodes
    groups = [set(motif.nodes) for motif in explanation.motifs]
    groups.append(set().union(*groups))
    masks = [np.isin(np.arange(count), sorted(group)) for group in groups]
    return np.array([np.zeros(count, dtype=bool), *(mask for one in masks for mask in (one, ~one))])


def outcomes(consequences):
    effects = [*consequences.motifs, consequences.together]
    return [consequences.baseline, *(outcome for effect in effects for outcome in (effect.alone, effect.without))]


@pytest.mark.parametrize("masking", ["remove", "split"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_what_follows_is_what_the_model_says(output, masking):
    torch.manual_seed(0)
    model, data = Net().eval(), graph()
    explanation = explained(model, data, output=output, masking=masking)
    masks, records = coalitions(explanation), outcomes(explanation.consequences)
    for unit, attribute in ((output, "value"), ("probability", "probability")):
        game = ModelGame(model, data, output=unit, masking=masking, target=explanation.target)
        expected = game.baseline + game.worth(masks)
        np.testing.assert_allclose([getattr(one, attribute) for one in records], expected, rtol=0, atol=rounding(10))
    full = explanation.consequences.prediction
    assert full.probability == pytest.approx(explanation.probabilities[explanation.target], abs=rounding())
    if output == "logit":
        assert full.value == explanation.prediction[explanation.target]


@pytest.mark.parametrize("masking", ["remove", "split"])
def test_without_its_target_a_node_has_the_baseline(masking):
    torch.manual_seed(0)
    model, data = NodeNet(4, 3).eval(), graph()
    explanation = explained(model, data, node=3, masking=masking, num_motifs=1, output="logit")
    consequences = explanation.consequences
    assert 3 in explanation.motifs[0].nodes
    assert consequences.motifs[0].without == consequences.baseline
    assert consequences.motifs[0] == consequences.together
    game = ModelGame(model, data, node=3, masking=masking, output="logit")
    players = [
        player for player, nodes in enumerate(game.player_nodes) if set(nodes) <= set(explanation.motifs[0].nodes)
    ]
    expected = game.baseline + game.worth([players])[0]
    assert consequences.motifs[0].alone.value == pytest.approx(expected, abs=rounding(10))
    assert 0 < consequences.motifs[0].alone.probability < 1


def test_queries_are_counted_once_each_and_add_up():
    torch.manual_seed(0)
    model, data = Net().eval(), graph(nodes=25)
    explanation = explained(model, data, method="permutation", budget=300, output="log-odds")
    assert explanation.interactions.num_queries <= 300
    assert 0 < explanation.consequences.num_queries <= 2 * 3
    others = explanation.num_queries - explanation.interactions.num_queries - explanation.consequences.num_queries
    assert others == 1 + 5  # the graph itself; its halves alone and all three together, to see that batches do not mix
    text = repr(explanation)
    assert f"{explanation.num_queries:,} queries ({explanation.interactions.num_queries:,} for the index)" in text
    values = explanation.to_dict()
    assert values["num_queries"] == explanation.num_queries
    assert values["index_queries"] == explanation.interactions.num_queries


def test_a_plain_game_has_values_and_no_probabilities():
    game = mage.Game(lambda masks: 2.0 + 3.0 * masks[:, :2].all(axis=1) - masks[:, 3], 4, [(0, 1), (1, 2), (2, 3)])
    request = ExplainRequest.of(GraphRequest, tau=0.5, num_motifs=2, max_nodes=3)
    explanation = mage.explain_game(game, request)
    assert [motif.nodes for motif in explanation.motifs] == [(0, 1), (3,)]
    consequences = explanation.consequences
    assert [outcome.value for outcome in outcomes(consequences)] == [2.0, 5.0, 1.0, 1.0, 5.0, 4.0, 2.0]
    assert consequences.prediction.value == 4.0
    assert {outcome.probability for outcome in outcomes(consequences)} == {None}
    assert consequences.num_queries <= 6
    assert "alone 5, without it 1" in repr(explanation)
    assert explanation.saturation == ""
    steps = waterfall(consequences)
    assert [step.end - step.start for step in steps[1:-1]] == [3.0, -1.0, 0.0]
    assert (steps[0].end, steps[-1].end) == (2.0, 4.0)


def test_sentences_and_images_have_consequences():
    def classify(texts):
        return np.array([[0.0, 2.0 * ("good" in text) - 3.0 * ("dull" in text)] for text in texts])

    words = ["good", "and", "dull"]
    explanation = mage.explain_text(
        classify, words, edges=[(0, 1), (1, 2)], target=1, tau=0.5, num_motifs=2, output="logit"
    )
    effects = {
        motif.names: effect for motif, effect in zip(explanation.motifs, explanation.consequences.motifs, strict=True)
    }
    assert effects[("good",)].alone.value == 2.0
    assert effects[("good",)].alone.probability == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert effects[("dull",)].without.value == 2.0
    torch.manual_seed(0)
    image = torch.rand(1, 4, 4)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    picture = mage.explain_image(model, image, patches=(2, 2), num_motifs=1, max_nodes=2)
    effect, nodes = picture.consequences.motifs[0], list(picture.motifs[0].nodes)
    game = mage.games.ImageGame(model, image, picture.request.model)
    rows = model(game.masked(np.isin(np.arange(4), nodes)[None])).softmax(1)
    assert effect.alone.probability == pytest.approx(float(rows[0, picture.target]), abs=rounding())


def test_consequences_are_kept_and_cropped(tmp_path):
    torch.manual_seed(0)
    explanation = explained(Net().eval(), graph())
    explanation.save(tmp_path / "kept.mage")
    loaded = mage.load(tmp_path / "kept.mage")
    assert loaded.consequences == explanation.consequences
    assert same(loaded.consequences, explanation.consequences)
    assert crop(explanation, 8).consequences == explanation.consequences
    assert json.loads(json.dumps(explanation.to_dict()))["consequences"]["together"]["alone"]["value"] == (
        explanation.consequences.together.alone.value
    )
    with pytest.raises(ValueError, match="motifs, there are 0"):
        replace(explanation, motifs=replace(explanation.motifs, motifs=()))


# -- models that say it anyway ------------------------------------------------------------------------------------


class Anyway(nn.Module):
    """Class 1 whatever the graph; nodes only speak against it."""

    def forward(self, x, edge_index, batch):
        against = global_add_pool(x[:, :1].abs(), batch)
        return torch.cat([against, torch.full_like(against, 30.0)], dim=1)


class AnywayNode(nn.Module):
    def forward(self, x, edge_index):
        against = x[:, :1].abs()
        return torch.cat([against, torch.full_like(against, 30.0)], dim=1)


SENTENCE = "the model gives class 1 a probability of 1.000 with every node absent, so no group of nodes can add to it"


@pytest.mark.parametrize(("model", "fields"), [(Anyway(), {}), (AnywayNode(), {"node": 3, "num_hops": 1})])
@pytest.mark.parametrize("output", ["logit", "probability", "log-odds"])
def test_a_saturated_prediction_explains_itself(model, fields, output):
    explanation = explained(model, graph(), tau=1.0, output=output, masking="zero", **fields)
    assert not any(motif.sign > 0 for motif in explanation.motifs)
    assert explanation.saturation == SENTENCE
    assert SENTENCE in repr(explanation)
    assert explanation.to_dict()["saturation"] == SENTENCE
    assert "proven optimal" not in repr(explanation)
    page = mage.report.explanation_page(explanation)
    before_script = page.partition("<script")[0]
    assert SENTENCE[1:] in before_script.partition("<noscript>")[0]
    assert SENTENCE[1:] in re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]
    assert "proven optimal" not in before_script
    assert SENTENCE[1:] in explanation._repr_html_()


def test_the_table_of_a_terminal_says_it(capsys):
    from rich.console import Console

    explanation = explained(Anyway(), graph(), tau=1.0, masking="zero")
    Console(width=300).print(explanation)
    printed = capsys.readouterr().out
    assert SENTENCE in " ".join(printed.split())
    assert "no motif found" in printed


def test_little_room_is_said_with_its_size():
    class Nearly(nn.Module):
        def forward(self, x, edge_index, batch):
            adds = global_add_pool(x[:, :1].abs(), batch)
            return torch.cat([torch.zeros_like(adds), 5.0 + adds], dim=1)

    explanation = explained(Nearly(), graph(), tau=1.0, output="probability", masking="zero")
    assert explanation.motifs[0].sign > 0
    room = 1 / (1 + np.exp(5.0))
    assert explanation.saturation == (
        f"the model gives class 1 a probability of 0.993 with every node absent, so groups of nodes can add at most "
        f"{room:.2g} to it"
    )
    # Log-odds have room.
    assert explained(Nearly(), graph(), tau=1.0, output="log-odds", masking="zero").saturation == ""


def test_a_model_that_does_not_look_says_so():
    def constant(x, edge_index, batch):
        return torch.tensor([[0.0, 1.0]]).repeat(int(batch.max()) + 1, 1)

    explanation = explained(constant, graph(), tau=1.0, masking="zero")
    assert explanation.saturation.endswith(
        "with every node absent, as with all of them, and no group of nodes adds to it"
    )


# -- what is proven -----------------------------------------------------------------------------------------------


def test_estimates_are_never_called_proven():
    import networkx as nx

    tree = ordered(nx.path_graph(8))
    exact, estimate = made_up(tree), made_up(tree, exact=False)
    assert exact.motifs.proof == "proven optimal"
    assert estimate.motifs.optimal
    assert estimate.motifs.proof == "best for these estimates"
    assert "best for these estimates" in repr(estimate)
    assert "proven optimal" not in mage.report.explanation_page(estimate).partition("<script")[0]


def test_nothing_is_proven_of_nothing():
    nothing = mage.find_motifs(np.zeros((3, 3)), [(0, 1), (1, 2)])
    assert nothing.proof == "none found"
    assert "proven" not in repr(nothing)


def test_other_methods_have_no_consequences():
    data = Data(x=torch.ones(3, 4), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    explanation = mage.explainers.get("random").explain(Net().eval(), data)
    assert explanation.consequences is None
    assert explanation.to_dict()["consequences"] is None
    assert "alone" not in repr(explanation)


def test_probabilities_that_hardly_change_point_to_the_scores():
    class Sure(nn.Module):
        def forward(self, x, edge_index, batch):
            adds = global_add_pool(x[:, :1].abs(), batch)
            return torch.cat([torch.zeros_like(adds), 20.0 + adds], dim=1)

    explanation = explained(Sure(), graph(), tau=1.0, output="logit", masking="zero")
    assert any(motif.sign > 0 for motif in explanation.motifs)
    assert explanation.saturation.endswith("; probabilities hardly change, so compare the scores, which are in logits")
    assert explanation.saturation in repr(explanation)
