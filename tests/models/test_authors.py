import pytest

from mage.datasets import load
from mage.models import accuracy, authors_checkpoint, authors_datasets
from tests.helpers.data import data_path


@pytest.mark.parametrize(
    ("dataset", "folder", "kind", "expected"),
    [
        ("ba_2motifs", "ba_2motifs", "gcn", 0.97),
        ("ba_2motifs", "ba_2motifs", "gin", 1.00),
        ("mutagenic", "mutagenicity", "gcn", 0.89865),
        ("mutagenic", "mutagenicity", "gin", 0.91554),
        ("mutagenic", "mutagenicity", "gat", 0.92568),
    ],
)
def test_the_authors_networks_reach_their_accuracy_on_our_split(dataset, folder, kind, expected):
    data_path(folder)
    graphs = load(dataset)
    model = authors_checkpoint(data_path("authors_checkpoints"), dataset, kind)
    assert accuracy(model, graphs, graphs.split.test) == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize(
    ("dataset", "kind", "expected"),
    [
        *(("ba_house_grid", "gcn", 0.99), ("ba_house_grid", "gin", 0.99), ("ba_house_and_grid", "gcn", 0.97)),
        *(("ba_house_or_grid", "gin", 0.99), ("spmotif", "gcn", 0.8), ("spmotif", "gin", 0.92)),
    ],
)
def test_generated_graphs_are_those_the_authors_trained_on(dataset, kind, expected):
    # Their networks know the recipe: shapes, sizes, and where motifs are joined to the base.
    model = authors_checkpoint(data_path("authors_checkpoints"), dataset, kind)
    graphs = load(dataset, count=900)
    assert accuracy(model, graphs, range(len(graphs))) >= expected


def test_datasets_that_a_folder_has_networks_for(tmp_path):
    assert authors_datasets(tmp_path) == []
    for folder in ("mutag0", "ba_2motifs", "twitter"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mutag0" / "gcn_3l_best.pth").touch()
    (tmp_path / "ba_2motifs" / "gin_3l_best.pth").touch()
    assert authors_datasets(tmp_path) == ["ba_2motifs", "mutagenic"]
