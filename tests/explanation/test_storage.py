from dataclasses import dataclass, replace

import numpy as np
import pytest

import mage
from mage._core.archive import read_archive, write_archive
from mage._core.conversion import same, stored_as
from mage.explanation import (
    ImageSubject,
    MoleculeSubject,
    Origin,
    PlayersCap,
    SentenceSubject,
    Stage,
)
from mage.motifs import Motif
from tests.helpers.demo import demo_of_both_sides


@pytest.fixture(scope="module")
def explanation():
    return demo_of_both_sides(1)


@stored_as("tests.inner")
@dataclass(frozen=True)
class Inner:
    masking: str
    fill: float | None = None


@stored_as("tests.request")
@dataclass(frozen=True)
class Request:
    game: Inner
    nodes: tuple[int, ...]
    budget: int | None = None


def everything(explanation):
    count, edges = explanation.num_nodes, explanation.edge_index.shape[1]
    stage = Stage(((0, 1), (2,)), (0,), (Motif((0,), -1.5),), (0.5, 1.0), ((0, 1, 0.25, float("nan")),), False, "x", 7)
    return replace(
        explanation,
        subject=SentenceSubject(tuple(f"w{v}" for v in range(count)), "a text"),
        target_nodes=(3,),
        method_edge_scores=np.linspace(0, 1, edges),
        edge_std_error=np.full(edges, np.nan),
        diagnostics={"reward": 0.5},
        stages=(stage,),
        players_cap=PlayersCap(10, 5, "effect", "present", 3),
        notes=("a note",),
        origin=Origin("Set", "gin", 4, 1, ((0, 1), (2,))),
        request=Request(Inner("split"), (1, 2), 300),
    )


def test_every_field_survives_its_file(explanation, tmp_path):
    full = everything(explanation)
    full.save(tmp_path / "a.mage")
    loaded = mage.load(tmp_path / "a.mage")
    assert same(loaded, full)
    assert loaded.request == full.request
    assert loaded.stages[0].motifs == full.stages[0].motifs
    assert loaded.origin == full.origin
    assert not same(loaded, explanation)


@pytest.mark.parametrize(
    "subject",
    [MoleculeSubject("CCO"), ImageSubject.of(np.eye(4), np.arange(16).reshape(4, 4))],
    ids=["smiles", "image"],
)
def test_every_kind_of_subject_survives_its_file(explanation, tmp_path, subject):
    replace(explanation, subject=subject).save(tmp_path / "a.mage")
    assert same(mage.load(tmp_path / "a.mage").subject, subject)


def test_requests_without_a_name_are_refused_before_the_file_is_written(explanation, tmp_path):
    @dataclass(frozen=True)
    class Nameless:
        number: int = 0

    with pytest.raises(TypeError, match="request: Nameless has no name in files"):
        replace(explanation, request=Nameless()).save(tmp_path / "a.mage")
    with pytest.raises(TypeError, match="request must be a dataclass of plain values, got function"):
        replace(explanation, request=everything)
    assert not (tmp_path / "a.mage").exists()


def put(*path_and_value):
    """A change of one place in the header of a file, or of an array."""
    *path, last, value = path_and_value

    def change(header, arrays):
        place = {**header, "arrays": arrays}
        for step in path:
            place = place[step]
        if not path:
            header[last] = value
        else:
            place[last] = value(place[last]) if callable(value) else value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("motifs", "motifs", 0, "nodes", 0, 999), "motifs must hold whole numbers"),
        (put("motifs", "motifs", 0, "nodes", 0, -1), "nodes must be a whole number"),
        (put("motifs", "motifs", 0, "nodes", 0, "a"), "must be int"),
        (put("motifs", "motifs", 0, "nodes", 0, True), r"motifs.motifs\[0\].nodes\[0\] must be int"),
        (put("motifs", "motifs", 0, "nodes", []), "at least one node"),
        (put("motifs", "motifs", 0, "score", "a"), "score"),
        (put("motifs", "motifs", 0, "names", ["a"]), "names of a motif"),
        (put("motifs", "motifs", 7), "motifs.motifs must be a list"),
        (put("motifs", 7), "motifs must be a mapping"),
        (put("motifs", "num_nodes", 2), "motifs are of 2 nodes"),
        (put("motifs", "bound", "x"), "motifs.bound"),
        (put("motifs", "include", [999]), "motifs.include"),
        (put("num_nodes", 3), "0 … 2"),
        (put("num_nodes", "3"), "num_nodes"),
        (put("names", ["a"]), "names must list"),
        (put("names", 0, 5), r"names\[0\] must be str"),
        (put("players", []), "players must list"),
        (put("players", 0, [999]), "players must hold whole numbers"),
        (put("players", 0, []), "players must be lists"),
        (put("target", 99), "target must be a class"),
        (put("target", "x"), "target must be int"),
        (put("target", None), "does not fit the target"),
        (put("level", "foo"), "level must be one of"),
        (put("task", "foo"), "task must be one of"),
        (put("task", "binary"), "does not fit a prediction"),
        (put("output", 3), "output"),
        (put("seconds", "x"), "seconds"),
        (put("extra", [1]), "extra is not known"),
        (put("method_edge_scores", [1.0]), "method_edge_scores must be an array"),
        (put("class_names", ["one"]), "class_names must list 2 names"),
        (put("target_nodes", [999]), "target_nodes must hold"),
        (put("subject", "$kind", "os.system"), "there is no kind"),
        (put("subject", {}), "subject must be of a known kind"),
        (put("subject", "$kind", "tests.inner"), "there is no kind"),
        (put("origin", {"dataset": 3}), "is missing"),
        (put("return_type", "x"), "return_type must be one of"),
        (put("interactions", "baseline", "x"), "baseline"),
        (put("arrays", "prediction", lambda old: old[:0]), "prediction must hold"),
        (put("arrays", "prediction", lambda old: old.astype(str)), "prediction must hold"),
        (put("arrays", "edge_index", lambda old: old + 1000), "edge_index: nodes are"),
        (put("arrays", "edge_index", lambda old: np.zeros(3)), "edge_index must hold"),
        (put("arrays", "edge_index", lambda old: old.astype(float)), "edge_index must hold"),
        (put("arrays", "third", np.zeros(3)), "third"),
    ],
)
def test_files_that_contradict_themselves_are_refused(explanation, tmp_path, change, message):
    path = tmp_path / "why.mage"
    explanation.save(path)
    header, arrays = read_archive(path)
    change(header, arrays)
    write_archive(path, header, arrays)
    with pytest.raises(ValueError, match=message) as caught:
        mage.load(path)
    assert str(caught.value).startswith(f"{path} does not hold a saved explanation: ")
