import json
import re

import numpy as np
import pytest

import mage
from mage._core.archive import read_archive, write_archive
from mage.cli.demo import demo_explanation
from mage.testing import random_game


@pytest.fixture(scope="module", params=["explanation", "interactions"])
def content(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "whole.mage"
    index = mage.interactions(random_game(5), method="permutation", permutations=8)
    (demo_explanation(1) if request.param == "explanation" else index).save(path)
    return path.read_bytes()


def refusal(path):
    """What is said of a file that is not read; its name where it is."""
    try:
        mage.load(path)
    except ValueError as error:
        return str(error)
    return str(path)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_damage_is_always_refused_by_name(content, tmp_path, step):
    path = tmp_path / "damaged.mage"
    # What the zip says of its members is not covered by any checksum.
    near = [place for match in re.finditer(b"PK", content) for place in range(match.start(), match.start() + 60)]
    places = np.random.default_rng(0).integers(len(content), size=150).tolist()
    for place in sorted({place for place in near + places if place < len(content)})[::step]:
        for value in {content[place] ^ 1, content[place] ^ 8, 0, 255} - {content[place]}:
            path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
            assert str(path) in refusal(path)


def test_deep_headers_are_refused(tmp_path):
    path = tmp_path / "deep.mage"
    text = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with path.open("wb") as file:
        np.savez_compressed(file, header=np.frombuffer(text, dtype=np.uint8))
    with pytest.raises(ValueError, match=r"deep\.mage was not written by mage"):
        mage.load(path)


def test_other_files_are_called_what_they_are(tmp_path):
    path = tmp_path / "text.mage"
    path.write_text("hello")
    with pytest.raises(ValueError, match=r"text\.mage was not written by mage: it is not a zip archive") as caught:
        mage.load(path)
    assert "pickle" not in str(caught.value)
    np.savez(tmp_path / "other.npz", values=np.zeros(3))
    with pytest.raises(ValueError, match="it has no header"):
        mage.load(tmp_path / "other.npz")


def rewritten(path, header, arrays):
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, header=text, **arrays)


def test_lost_and_foreign_arrays_are_refused(tmp_path):
    path = tmp_path / "archive.mage"
    arrays = {"first": np.arange(3), "second": np.ones(2)}
    write_archive(path, {"format": "x"}, arrays)
    header, arrays_read = read_archive(path)
    assert header == {"format": "x"}
    assert arrays_read.keys() == arrays.keys()
    header_with_two = {"format": "x", "arrays": ["first", "second"]}
    for wrong in ({"first": arrays["first"]}, {**arrays, "third": np.ones(1)}, {"first": np.ones(1), "secand": 1.0}):
        rewritten(path, header_with_two, wrong)
        with pytest.raises(ValueError, match="holds the arrays"):
            read_archive(path)


def test_no_array_of_an_index_is_dropped_in_silence(tmp_path):
    path = tmp_path / "index.mage"
    mage.interactions(random_game(5), method="permutation", permutations=8).save(path)
    header, arrays = read_archive(path)
    assert "error_parts" in arrays
    listed = {**header, "arrays": sorted(arrays)}
    arrays["error_pbrts"] = arrays.pop("error_parts")
    rewritten(path, listed, arrays)
    with pytest.raises(ValueError, match="error_pbrts"):
        mage.load(path)
    rewritten(path, header, arrays)
    with pytest.raises(ValueError, match="arrays"):
        mage.load(path)
