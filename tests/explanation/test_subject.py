from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from mage.explanation import GraphSubject, ImageSubject, MoleculeSubject, SentenceSubject, subject_of

GREY = np.array([[0, 0.5, 1], [0.25, 0.75, 1]])
SEGMENTS = np.array([[0, 0, 1], [-1, 1, 1]])


@pytest.mark.parametrize(
    "image",
    [
        GREY,
        torch.tensor(GREY),
        np.round(255 * GREY).astype(np.int32),
        GREY[:, :, None],
        Image.fromarray(np.round(255 * GREY).astype(np.uint8)),
    ],
    ids=["floats", "tensor", "bytes", "one channel", "pillow"],
)
def test_images_of_any_form_are_kept(image):
    subject = ImageSubject.of(image, torch.tensor(SEGMENTS))
    np.testing.assert_array_equal(subject.pixels, np.round(255 * GREY))
    np.testing.assert_array_equal(subject.segments, SEGMENTS)


def test_large_images_are_reduced_with_their_labels():
    labels = np.arange(4).reshape(2, 2).repeat(700, 0).repeat(601, 1)
    subject = ImageSubject.of(labels / 3, labels)
    assert max(subject.segments.shape) <= 512
    assert subject.pixels.shape == subject.segments.shape
    assert np.mean(subject.pixels == np.round(255 * subject.segments / 3)) > 0.99


@pytest.mark.parametrize(
    ("image", "segments", "message"),
    [
        (np.zeros((2, 2)), np.zeros((2, 3), dtype=int), "image's shape"),
        (np.zeros((2, 2)), np.full((2, 2), 9), "nodes 0 … 3"),
        (np.zeros((2, 2)), np.zeros((2, 2)), "whole numbers"),
        (np.full((2, 2), 2.0), np.zeros((2, 2), dtype=int), "floats must lie"),
        (np.full((2, 2), 300), np.zeros((2, 2), dtype=int), "0 … 255"),
        (np.zeros(4), np.zeros((2, 2), dtype=int), "must have shape"),
    ],
)
def test_images_that_do_not_fit_are_refused(image, segments, message):
    with pytest.raises(ValueError, match=message):
        ImageSubject.of(image, segments).check(4, 0)


def test_subjects_that_do_not_fit_their_graph_are_refused():
    with pytest.raises(ValueError, match="words must list 3 values, one per node, got 2"):
        SentenceSubject(("two", "words")).check(3, 0)
    with pytest.raises(ValueError, match="elements must list 3"):
        MoleculeSubject(elements=("C", "O")).check(3, 4)
    with pytest.raises(ValueError, match="bond_orders must list 4"):
        MoleculeSubject(bond_orders=(1,)).check(3, 4)
    MoleculeSubject("CCO").check(3, 4)


def test_a_part_keeps_what_belongs_to_its_nodes():
    nodes, columns = np.array([1, 3]), np.array([0, 2])
    assert SentenceSubject(("a", "b", "c", "d"), "a b c d").part(nodes, columns) == SentenceSubject(("b", "d"))
    molecule = MoleculeSubject("CNOS", ("C", "N", "O", "S"), (1, 2, 3))
    assert molecule.part(nodes, columns) == MoleculeSubject("", ("N", "S"), (1, 3))
    picture = ImageSubject.of(np.zeros((2, 3)), np.array([[0, 1, 2], [3, 3, -1]]))
    np.testing.assert_array_equal(picture.part(nodes, columns).segments, [[-1, 0, -1], [1, 1, -1]])


def test_the_subject_of_a_graph_follows_from_what_it_carries():
    assert subject_of(SimpleNamespace()) == GraphSubject()
    assert subject_of(SimpleNamespace(smiles="CO")) == MoleculeSubject("CO")
    atoms = SimpleNamespace(names=("C", "O"), bond=torch.tensor([1, 1]))
    assert subject_of(atoms) == MoleculeSubject("", ("C", "O"), (2, 2))
    assert subject_of(SimpleNamespace(names=("grid 0", "C"), bond=torch.tensor([0]))) == GraphSubject()
    assert subject_of(SimpleNamespace(names=("C", "O"))) == GraphSubject()
