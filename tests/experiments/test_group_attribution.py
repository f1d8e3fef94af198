from dataclasses import replace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from mage.cli import app
from mage.experiments import (
    Column,
    Inputs,
    Plan,
    SerialEngine,
    Store,
    cells,
    export,
    load_experiment,
    make_plan,
    paper_figures,
    rich_tables,
    run_plan,
)
from mage.experiments.procedures import group_attribution as procedure
from mage.games import ImageGame
from mage.image.preparation import Preparation
from mage.indices import interactions
from mage.metrics import group_attributions, infidelity, random_groups
from mage.models.image_classifiers import ImageClassifier
from tests.helpers.data import data_path

INDICES = ("shapley", "myerson", "shapley-taylor", "myerson-taylor")
METRICS = (
    *("infid_plus", "infid_minus", "infid_minus_printed", "queries"),
    *("infid_plus_connected", "infid_minus_connected", "infid_minus_printed_connected"),
)


class Network(torch.nn.Module):
    """A few convolutions, in double precision: enough for interactions of second order and more."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3, stride=2), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.LazyLinear(3)
        )
        self.layers(torch.zeros(1, 1, 9, 9))
        self.double()
        self.images = 0

    def forward(self, images):
        self.images += len(images)
        return 3 * self.layers(images)


def classifier_of(network, fingerprint="fingerprint"):
    return ImageClassifier("tiny", network, Preparation((9, 9), None, (0.0,), (1.0,)), (), fingerprint)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network()


@pytest.fixture
def images():
    """Three images of noise; a test that takes fewer takes the first."""
    torch.manual_seed(1)
    return {f"image {i}": torch.randn(1, 9, 9).double() for i in range(3)}


@pytest.fixture
def planned(network, images, monkeypatch):
    """Makes the plan of an experiment on noise, with some images and with changes to the classifier."""

    def plan(limit=3, *, pictures=images, model=network, fingerprint="fingerprint", fill=0.0, methods=None, **settings):
        def load_images(_classifier, _root, count):
            return dict(list(pictures.items())[:count])

        classifier = classifier_of(model, fingerprint)
        monkeypatch.setattr(classifier.__class__, "through_onnx", lambda self: self)
        monkeypatch.setattr(procedure, "load_image_classifier", lambda _name: classifier)
        monkeypatch.setitem(procedure._SETS, "noise", (load_images, fill))
        experiment = load_experiment("group-attribution").restricted(methods=methods)
        options = {"permutations": 4, "groups": 12, "patches": [3, 3], **settings}
        return make_plan(
            replace(experiment, columns=(Column("noise", "tiny", METRICS),), settings=options), limit=limit
        )

    return plan


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def records_of(plan, store):
    run_plan(plan, store, SerialEngine())
    return plan.records(store)


def test_records_are_what_the_definitions_say(store, planned, network, images):
    records = {record["method"]: record for record in records_of(planned(1), store)}
    assert list(records) == list(INDICES)

    def fresh_game():
        return ImageGame(network, images["image 0"], patches=(3, 3), fill=0.0, output="probability")

    game = fresh_game()
    for index, record in records.items():
        fresh = fresh_game()
        before = fresh.num_queries
        values_of_index = interactions(fresh, index, method="permutation", permutations=4, seed=0)
        assert record["queries"] == fresh.num_queries - before
        for suffix, connected in (("", False), ("_connected", True)):
            groups = random_groups(game.graph, 12, connected=connected, seed=0)
            expected = infidelity(game, values_of_index, groups)
            assert record["infid_plus" + suffix] == pytest.approx(expected.present)
            assert record["infid_minus" + suffix] == pytest.approx(expected.absent)
            printed = []
            for group in groups:
                everyone = group_attributions(values_of_index, np.ones((1, 9), dtype=bool))[0]
                alone = group_attributions(values_of_index, group[None])[0]
                predicted = alone if values_of_index.order == 1 else everyone - alone
                printed.append(abs(predicted - (game.total - game.worth(~group[None])[0])))
            assert record["infid_minus_printed" + suffix] == pytest.approx(np.mean(printed))
    assert records["myerson-taylor"]["queries"] < records["shapley-taylor"]["queries"]


def test_the_printed_form_is_the_derived_one_for_first_order_indices(store, planned):
    for record in records_of(planned(1), store):
        same = record["infid_minus"] == pytest.approx(record["infid_minus_printed"])
        assert same == (record["method"] in ("shapley", "myerson"))


def test_finished_images_are_not_computed_again(store, planned, network):
    first = records_of(planned(2), store)
    before = network.images
    records_of(planned(2), store)
    assert network.images == before
    records = records_of(planned(3), store)
    assert network.images > before
    assert records[: len(first)] == first
    assert len(records) == 12
    assert not any(store.locks.folder.iterdir())


def test_only_the_named_indices_are_computed(store, planned, network):
    records = records_of(planned(1, methods=["myerson", "myerson-taylor"]), store)
    assert {record["method"] for record in records} == {"myerson", "myerson-taylor"}
    cost = network.images
    assert len(records_of(planned(1), store)) == 4
    assert network.images > 2 * cost


def test_other_settings_weights_or_images_are_other_parts(planned, images):
    plans = [
        planned(1),
        planned(1, permutations=6),
        planned(1, groups=10),
        planned(1, fingerprint="other"),
        planned(1, pictures={"image 0": images["image 0"] + 1}),
        planned(1, fill="mean"),
        planned(1, methods=["myerson"]),
    ]
    assert len({plan.batches[0].key for plan in plans}) == len(plans)


def test_wrong_settings_are_refused(planned, tmp_path):
    with pytest.raises(ValueError, match="permutations must be a whole number"):
        planned(1, permutations=0)
    with pytest.raises(ValueError, match="settings: unknown surprise; there are permutations, groups"):
        planned(1, surprise=1)
    with pytest.raises(ValueError, match="group-attribution is about images"):
        make_plan(load_experiment("group-attribution"), Inputs(checkpoints=tmp_path))
    experiment = load_experiment("group-attribution")
    with pytest.raises(ValueError, match="metrics: 'f1' is not measured here; choose of infid_plus"):
        make_plan(replace(experiment, columns=(Column("mnist", "mnist-vit", ("f1",)),)))


def test_tables_of_graphs_and_images_share_a_folder_of_graph_networks(tmp_path):
    inputs = Inputs(root=tmp_path, checkpoints=tmp_path, zoo_where_missing=True)
    images = procedure.GroupAttribution(load_experiment("group-attribution"), inputs)
    assert images.settings.permutations > 0


def test_an_image_that_fails_is_recorded_for_all_its_indices(store, planned):
    def broken(_images):
        raise RuntimeError("out of memory")

    records = records_of(planned(2, model=broken), store)
    assert [(record["image"], record["method"]) for record in records] == [
        (image, index) for image in ("image 0", "image 1") for index in INDICES
    ]
    assert all(record["failure"] == "error" and "out of memory" in record["error"] for record in records)
    plan = planned(2)
    run_plan(plan, store, SerialEngine(), retry_failed=True)
    assert plan.failures(store) == []
    assert len(plan.records(store)) == 8


def test_the_table_has_errors_over_images_and_the_papers_figures(store, planned):
    plan = planned(3)
    records = records_of(plan, store)
    table = cells(plan, store)
    first = table[0]
    values = [record["infid_plus"] for record in records if record["method"] == "shapley"]
    assert (first.method.name, first.metric) == ("shapley", "infid_plus")
    assert first.ours.mean == pytest.approx(np.mean(values))
    assert first.ours.std_error == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))
    assert (first.results, first.expected) == (3, 3)
    # Ours, and the paper's on its own two networks.
    assert [table.title.partition(":")[0] for table in rich_tables(table)] == [
        "noise, tiny",
        "imagenet50, resnet50",
        "imagenet50, vit_b16",
    ]
    assert "infid_plus" in export(table, "csv")


def test_networks_of_the_paper_have_its_figures_beside_them(store):
    name = "microsoft/resnet-50"
    experiment = load_experiment("group-attribution").restricted(models=[name])
    assert [column.model for column in experiment.columns] == [name]
    plan = Plan(experiment, procedure.GroupAttribution(experiment, Inputs()))
    table = cells(plan, store)
    assert {cell.column.model for cell in table} == {name}
    assert {cell.paper for cell in table if cell.metric == "infid_plus"} == {0.083, 0.06, 0.056}


def test_orders_are_compared_image_by_image(store, planned, images):
    plan = planned(3)
    records = records_of(plan, store)
    (table,) = plan.procedure.comparisons(records)
    values = {(record["image"], record["method"]): record["infid_minus"] for record in records}
    differences = [values[image, "myerson-taylor"] - values[image, "myerson"] for image in images]
    expected = f"{np.mean(differences):+.3f} ± {np.std(differences, ddof=1) / np.sqrt(3):.3f}"
    assert list(table.columns[2].cells)[1] == f"{expected}, lower on {sum(d < 0 for d in differences)} of 3"
    worth = {(record["image"], record["method"]): record["infid_plus"] for record in records}
    best = min(images, key=lambda image: worth[image, "myerson-taylor"] - worth[image, "myerson"])
    assert f"{best} {worth[best, 'myerson-taylor']:.3f} against {worth[best, 'myerson']:.3f}" in table.caption
    assert list(plan.procedure.comparisons([record for record in records if record["method"] == "myerson"])) == []


def test_the_papers_table_9():
    figures = {key[2:]: value for key, value in paper_figures().items() if key[0] == 9}
    assert len(figures) == 24
    assert figures["resnet50", "myerson-taylor", "infid_plus"] == 0.056
    assert figures["vit_b16", "shapley-taylor", "infid_minus"] == 0.105
    assert figures["resnet50", "shapley-taylor", "queries"] == 57000


# -- the command ----------------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["benchmark", *arguments], env={"COLUMNS": "200"})


@pytest.mark.long
def test_the_command_lists_runs_and_resumes(tmp_path):
    data_path("mnist")
    options = ["group-attribution", "--models", "mnist-vit", "--graphs", "2", "--permutations", "2"]
    machine = ["--engine", "serial", "--store", str(tmp_path / "store")]
    listing = run(*options, "--list")
    assert listing.exit_code == 0
    assert "digit 0" in listing.output
    assert "7" in listing.output
    status = run(*options, *machine, "--status")
    assert "0 of 2 images" in status.output
    ran = run(*options, *machine, "--export", str(tmp_path / "table.md"))
    assert ran.exit_code == 0, ran.output
    assert "Myerson-Taylor, order 2" in ran.output
    assert "0.056" in ran.output  # the paper's, beside
    assert "infid_minus" in (tmp_path / "table.md").read_text()
    assert "2 of 2 images" in run(*options, *machine, "--status").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["group-attribution", "--methods", "banzhaf"], "it has myerson, myerson-taylor, shapley, shapley-taylor"),
        (["group-attribution", "--graphs", "0"], "must be at least 1"),
        (["group-attribution", "--datasets", "mutagenic"], "it has imagenet50, mnist"),
        (["group-attribution", "--seeds", "a"], "--seeds must be whole numbers"),
        (["group-attribution", "--export", "table.xls"], "must end in"),
        (["group-attribution", "--permutations", "0", "--models", "mnist-vit"], "permutations must be"),
        (["group-attribution", "--checkpoints", "."], "is about images"),
        (["single-motif", "--permutations", "5"], "parameters of explainers are set for each method"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_images_that_are_not_there_are_a_gap_with_advice(tmp_path, network, monkeypatch):
    assert "group-attribution" in run().output
    monkeypatch.setattr(procedure, "load_image_classifier", lambda _name: classifier_of(network))
    missing = run("group-attribution", "--models", "mine", "--root", str(tmp_path), "--status")
    assert missing.exit_code == 0
    assert "imagenet50 mine shapley: imagenet50: the images are not on this machine; put the .jpg" in missing.output
