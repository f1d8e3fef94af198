import csv
import io
from importlib import resources

import pytest

from mage.experiments import experiment_names, load_experiment, paper_figures
from mage.metrics import find_metric

FIGURES_OF_TABLES = {1: 144, 2: 28, 3: 16, 6: 72, 7: 72, 8: 36, 9: 24, 10: 50, 11: 16, 12: 40, 13: 40}


def test_every_table_of_the_paper_is_an_experiment():
    tables = {table for name in experiment_names() for table in load_experiment(name).tables}
    assert tables == {1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13}


# The paper's image classifiers are not among ours; tests/experiments/test_group_attribution.py has their figures.
@pytest.mark.parametrize(
    "name",
    [name for name in experiment_names() if load_experiment(name).tables and name != "group-attribution"],
)
def test_the_papers_figures_belong_to_cells_of_the_experiment(name):
    experiment = load_experiment(name)
    cells = {
        (column.dataset, column.model, method.name, find_metric(metric).paper_name or metric)
        for column in experiment.columns
        for method in experiment.methods
        for metric in column.metrics
    }
    figures = [key[1:] for key in paper_figures() if key[0] in experiment.tables]
    # Table 1 is shared by two experiments: one with one motif a graph, one with several.
    keys = [key for key in figures if key[0] in {column.dataset for column in experiment.columns}]
    assert keys
    assert set(keys) <= cells


def test_the_papers_figures_are_all_there():
    text = resources.files("mage.experiments").joinpath("paper.csv").read_text()
    tables = [int(row["table"]) for row in csv.DictReader(io.StringIO(text))]
    assert {table: tables.count(table) for table in set(tables)} == FIGURES_OF_TABLES
    figures = paper_figures()
    assert len(figures) == len(tables)
    assert figures[1, "ba_2motifs", "gcn", "mage", "f1"] == 0.858
    assert figures[1, "mutagenic", "gin", "subgraphx", "ami"] == 0.595
    assert figures[2, "twitter", "gcn", "gstarx", "queries"] == 20000
    assert figures[8, "twitter", "gat", "mage", "fid"] == 0.176
    assert figures[11, "ba_2motifs", "gcn", "mage-3", "seconds"] == 56.8
    assert figures[13, "mnist75sp", "gcn", "mage", "queries"] == 128000


def test_any_subset_can_be_chosen():
    experiment = load_experiment("single-motif").restricted(["spmotif"], ["gin"], ["mage"], [3, 4])
    assert [(column.dataset, column.model) for column in experiment.columns] == [("spmotif", "gin")]
    assert [method.name for method in experiment.methods] == ["mage"]
    assert experiment.seeds == (3, 4)
    for wrong in ({"datasets": ["x"]}, {"models": ["x"]}, {"methods": ["x"]}):
        with pytest.raises(ValueError, match="'x' is not part of this experiment"):
            load_experiment("single-motif").restricted(**wrong)
    with pytest.raises(ValueError, match="no column for both"):
        load_experiment("edge-scores").restricted(["mutagenic"], ["gcn"])


OWN = """
title = "My own"

[[columns]]
datasets = ["my_module:graphs"]
models = ["my_module:network"]
metrics = ["f1"]

[methods.mage]

[methods.fast]
explainer = "mage"
permutations = 10
"""


def test_files_of_ones_own(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    experiment = load_experiment(str(path))
    assert experiment.name == "own"
    assert experiment.methods[1].parameters == {"permutations": 10}
    assert experiment.methods[0].explainer == "mage"
    assert experiment.seeds == (0,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ("title = 'x'", "has no columns"),
        (OWN.replace('"f1"', '"f2"'), "metrics: 'f2' is none of f1, ami"),
        (OWN.replace("datasets =", "datset ="), "has lists datasets, models and metrics"),
        (OWN.replace('title = "My own"', 'title = "x"\nsurprise = 1'), "unknown entries: surprise"),
    ],
)
def test_wrong_files_are_refused(tmp_path, text, message):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_experiment(str(path))


def test_unknown_experiments_are_refused():
    with pytest.raises(ValueError, match="'none' is none of ablation, "):
        load_experiment("none")
    with pytest.raises(ValueError, match=r"the file nowhere\.toml does not exist"):
        load_experiment("nowhere.toml")


def test_columns_of_one_dataset_and_model_are_one(tmp_path):
    path = tmp_path / "own.toml"
    again = '[[columns]]\ndatasets = ["my_module:graphs"]\nmodels = ["my_module:network"]\nmetrics = ["fid", "f1"]\n'
    path.write_text(OWN + again)
    (column,) = load_experiment(str(path)).columns
    assert column.metrics == ("f1", "fid")
