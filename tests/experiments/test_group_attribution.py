import dataclasses

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from mage.cli import app
from mage.experiments import SerialEngine, export, paper_figures
from mage.experiments import group_attribution as study
from mage.experiments.group_attribution_table import METRICS, paired_tables, study_cells, study_tables
from mage.games import ImageGame
from mage.image.preparation import Preparation
from mage.indices import interactions
from mage.metrics import infidelity
from mage.metrics.group_attribution import group_attributions, random_groups
from mage.models.image_classifiers import ImageClassifier
from tests.helpers.data import data_path

SETTINGS = study.Settings(permutations=4, groups=12, patches=(3, 3))


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


def a_subject(count=2):
    torch.manual_seed(0)
    classifier = ImageClassifier("tiny", Network(), Preparation((9, 9), None, (0.0,), (1.0,)), (), "fingerprint")
    return study.Subject(classifier, "noise", {f"image {i}": torch.randn(1, 9, 9).double() for i in range(count)}, 0.0)


@pytest.fixture
def store(tmp_path):
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    return study.StudyStore(tmp_path)


def test_records_are_what_the_definitions_say(store):
    subject = a_subject(1)
    study.run_study([subject], SETTINGS, store, SerialEngine())
    records = {record["method"]: record for record in study.finished([subject], SETTINGS, store)}
    assert list(records) == list(study.INDICES)
    game = ImageGame(
        subject.classifier.network, subject.images["image 0"], patches=(3, 3), fill=0.0, output="probability"
    )
    for index, record in records.items():
        fresh = ImageGame(
            subject.classifier.network, subject.images["image 0"], patches=(3, 3), fill=0.0, output="probability"
        )
        before = fresh.num_queries
        found = interactions(fresh, index, method="permutation", permutations=4, seed=0)
        assert record["queries"] == fresh.num_queries - before
        for suffix, connected in (("", False), ("_connected", True)):
            groups = random_groups(game.graph, 12, connected=connected, seed=0)
            expected = infidelity(game, found, groups)
            assert record["infid_plus" + suffix] == pytest.approx(expected.present)
            assert record["infid_minus" + suffix] == pytest.approx(expected.absent)
            printed = []
            for group in groups:
                everyone = group_attributions(found, np.ones((1, 9), dtype=bool))[0]
                alone = group_attributions(found, group[None])[0]
                predicted = alone if found.order == 1 else everyone - alone
                printed.append(abs(predicted - (game.total - game.worth(~group[None])[0])))
            assert record["infid_minus_printed" + suffix] == pytest.approx(np.mean(printed))
    assert records["myerson-taylor"]["queries"] < records["shapley-taylor"]["queries"]


def test_the_printed_form_is_the_derived_one_for_first_order_indices(store):
    subject = a_subject(1)
    study.run_study([subject], SETTINGS, store, SerialEngine())
    for record in study.finished([subject], SETTINGS, store):
        same = record["infid_minus"] == pytest.approx(record["infid_minus_printed"])
        assert same == (record["method"] in ("shapley", "myerson"))


def test_finished_images_are_not_computed_again(store):
    subject = a_subject(3)
    fewer = study.Subject(subject.classifier, subject.dataset, dict(list(subject.images.items())[:2]), subject.fill)
    study.run_study([fewer], SETTINGS, store, SerialEngine())
    before = subject.classifier.network.images
    first = list(study.finished([fewer], SETTINGS, store))
    study.run_study([fewer], SETTINGS, store, SerialEngine())
    assert subject.classifier.network.images == before
    study.run_study([subject], SETTINGS, store, SerialEngine())
    assert subject.classifier.network.images > before
    records = list(study.finished([subject], SETTINGS, store))
    assert records[: len(first)] == first
    assert len(records) == 12
    assert not any(store.locks.iterdir())


def test_only_the_named_indices_are_computed(store):
    subject = a_subject(1)
    some = dataclasses.replace(SETTINGS, indices=("myerson", "myerson-taylor"))
    study.run_study([subject], some, store, SerialEngine())
    asked = subject.classifier.network.images
    assert {record["method"] for record in study.finished([subject], some, store)} == {"myerson", "myerson-taylor"}
    study.run_study([subject], SETTINGS, store, SerialEngine())
    assert subject.classifier.network.images > 2 * asked
    assert len(list(study.finished([subject], SETTINGS, store))) == 4
    # All four are what they were called before one could choose.
    assert "indices" not in SETTINGS.as_key()


def test_other_settings_weights_or_images_are_other_parts():
    subject = a_subject(1)
    keys = [study.make_jobs([subject], SETTINGS)[0].key]
    keys.append(study.make_jobs([subject], study.Settings(permutations=6, groups=12, patches=(3, 3)))[0].key)
    other = ImageClassifier("tiny", subject.classifier.network, subject.classifier.prepare, (), "other")
    keys.append(study.make_jobs([study.Subject(other, "noise", subject.images, 0.0)], SETTINGS)[0].key)
    moved = {"image 0": subject.images["image 0"] + 1}
    keys.append(study.make_jobs([study.Subject(subject.classifier, "noise", moved, 0.0)], SETTINGS)[0].key)
    keys.append(study.make_jobs([study.Subject(subject.classifier, "noise", subject.images, "mean")], SETTINGS)[0].key)
    assert len(set(keys)) == len(keys)
    with pytest.raises(ValueError, match="permutations must be a whole number"):
        study.Settings(permutations=0)


def test_a_failure_gives_the_locks_back(store):
    subject = a_subject(2)

    def broken(_images):
        raise RuntimeError("out of memory")

    failing = ImageClassifier("tiny", broken, subject.classifier.prepare, (), "fingerprint")
    with pytest.raises(ValueError, match="out of memory"):
        study.run_study([study.Subject(failing, "noise", subject.images, 0.0)], SETTINGS, store, SerialEngine())
    study.run_study([subject], SETTINGS, store, SerialEngine())
    assert len(list(study.finished([subject], SETTINGS, store))) == 8


def test_the_table_has_errors_over_images_and_the_papers_figures(store):
    subject = a_subject(3)
    study.run_study([subject], SETTINGS, store, SerialEngine())
    records = list(study.finished([subject], SETTINGS, store))
    made = study_cells(records, [("noise", "tiny", 4)])
    assert len(made) == 4 * len(METRICS)
    first = made[0]
    values = [record["infid_plus"] for record in records if record["method"] == "shapley"]
    assert first.ours.mean == pytest.approx(np.mean(values))
    assert first.ours.std_error == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))
    assert (first.graphs, first.expected) == (3, 4)
    assert len(study_tables(made)) == 2  # ours, and the paper's on other networks
    assert "infid_plus" in export(made, "csv")
    beside = study_cells(
        [{**record, "dataset": "imagenet50", "model": "microsoft/resnet-50"} for record in records],
        [("imagenet50", "microsoft/resnet-50", 3)],
    )
    assert {cell.paper for cell in beside if cell.metric == "infid_plus"} == {0.083, 0.06, 0.056}
    assert len(study_tables([cell for cell in beside if cell.metric == "infid_plus"])) == 1


def test_orders_are_compared_image_by_image(store):
    subject = a_subject(3)
    study.run_study([subject], SETTINGS, store, SerialEngine())
    records = list(study.finished([subject], SETTINGS, store))
    (table,) = paired_tables(records)
    values = {(record["image"], record["method"]): record["infid_minus"] for record in records}
    differences = [values[image, "myerson-taylor"] - values[image, "myerson"] for image in subject.images]
    expected = f"{np.mean(differences):+.3f} ± {np.std(differences, ddof=1) / np.sqrt(3):.3f}"
    assert list(table.columns[2].cells)[1] == f"{expected}, lower on {sum(d < 0 for d in differences)} of 3"
    worth = {(record["image"], record["method"]): record["infid_plus"] for record in records}
    best = min(subject.images, key=lambda image: worth[image, "myerson-taylor"] - worth[image, "myerson"])
    assert f"{best} {worth[best, 'myerson-taylor']:.3f} against {worth[best, 'myerson']:.3f}" in table.caption
    assert paired_tables([record for record in records if record["method"] == "myerson"]) == []


def test_the_papers_table_9():
    figures = {key[2:]: value for key, value in paper_figures().items() if key[0] == 9}
    assert len(figures) == 24
    assert figures["resnet50", "myerson-taylor", "infid_plus"] == 0.056
    assert figures["vit_b16", "shapley-taylor", "infid_minus"] == 0.105
    assert figures["resnet50", "shapley-taylor", "queries"] == 57000


# -- the command ----------------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["benchmark", *arguments], env={"COLUMNS": "200"})


def test_the_command_lists_runs_and_resumes(tmp_path):
    data_path("mnist")
    options = ["group-attribution", "--models", "mnist-vit", "--graphs", "2", "--permutations", "2"]
    machine = ["--engine", "serial", "--store", str(tmp_path / "store")]
    listed = run(*options, "--list")
    assert listed.exit_code == 0
    assert "digit 0" in listed.output
    assert "7" in listed.output
    status = run(*options, *machine, "--status")
    assert "0 of 2 images" in status.output
    ran = run(*options, *machine, "--export", str(tmp_path / "table.md"))
    assert ran.exit_code == 0, ran.output
    assert "Myerson-Taylor, order 2" in ran.output
    assert "0.056" in ran.output  # the paper's, beside
    assert "infid_minus" in (tmp_path / "table.md").read_text()
    assert "2 of 2 images" in run(*options, *machine, "--status").output


def test_the_command_refuses_what_it_cannot_do(tmp_path, monkeypatch):
    assert "group-attribution" in run().output
    for arguments, message in (
        (["group-attribution", "--methods", "banzhaf"], "none of shapley, myerson"),
        (["group-attribution", "--graphs", "0"], "must be at least 1"),
        (["group-attribution", "--datasets", "mnist"], "is for experiments on graphs"),
        (["group-attribution", "--seeds", "0,1"], "takes one seed"),
        (["group-attribution", "--export", "table.xls"], "must end in"),
        (["group-attribution", "--permutations", "0", "--models", "mnist-vit"], "permutations must be"),
        (["single-motif", "--permutations", "5"], "go with group-attribution"),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 2
        assert message in refused.output
    monkeypatch.setattr(study, "load_image_classifier", lambda _name: a_subject().classifier)
    missing = run("group-attribution", "--models", "mine", "--root", str(tmp_path))
    assert missing.exit_code == 1
    assert "imagenet50" in missing.output
