import json

import pytest
import torch

from mage.models import GIN, CheckpointError, authors_checkpoint, load_checkpoint, save_checkpoint
from mage.models.authors import our_weights


@pytest.fixture
def saved(tmp_path):
    model = GIN(3, 2, width=4)
    save_checkpoint(tmp_path / "net.safetensors", model, {"architecture": model.architecture, "seed": 7})
    return tmp_path / "net.safetensors", model


def test_checkpoints_come_back(saved):
    path, model = saved
    torch.manual_seed(1)
    state = torch.get_rng_state()
    loaded = load_checkpoint(path)
    assert torch.equal(state, torch.get_rng_state())
    assert loaded.about["seed"] == 7
    assert not loaded.model.training
    assert all(
        torch.equal(a, b) for a, b in zip(model.state_dict().values(), loaded.model.state_dict().values(), strict=True)
    )
    assert load_checkpoint(path.with_suffix(".json")).about == loaded.about


def test_checkpoints_are_plain_files(saved):
    path, _ = saved
    assert json.loads(path.with_suffix(".json").read_text())["architecture"]["kind"] == "gin"
    assert sorted(file.name for file in path.parent.iterdir()) == ["net.json", "net.safetensors"]


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "other"])
def test_damaged_checkpoints_are_refused(saved, suffix, damage):
    path, _ = saved
    file = path.with_suffix(suffix)
    if damage == "missing":
        file.unlink()
    else:
        content = file.read_bytes()
        file.write_bytes({"empty": b"", "truncated": content[: len(content) // 2], "other": b"[1, 2]"}[damage])
    with pytest.raises(CheckpointError, match="path: "):
        load_checkpoint(path)


def test_checkpoints_of_another_network_are_refused(saved):
    path, _ = saved
    about = json.loads(path.with_suffix(".json").read_text())
    for change in ({"width": 5}, {"kind": "transformer"}, {"surprise": 1}):
        text = json.dumps({**about, "architecture": {**about["architecture"], **change}})
        path.with_suffix(".json").write_text(text)
        with pytest.raises(CheckpointError, match="is not a checkpoint of this library"):
            load_checkpoint(path)


def test_names_of_the_authors_weights():
    weights = {
        "convs.0.weight": torch.ones(3, 2),
        "convs.0.lin.weight": torch.zeros(2, 3),
        "mlps.0.bias": torch.ones(2),
    }
    renamed_weights = our_weights(weights)
    assert sorted(renamed_weights) == ["convolutions.0.lin.weight", "head.bias"]
    assert torch.equal(renamed_weights["convolutions.0.lin.weight"], torch.ones(2, 3))


def test_authors_folders_that_are_none(tmp_path):
    with pytest.raises(CheckpointError, match=r"gcn_3l_best\.pth does not exist"):
        authors_checkpoint(tmp_path, "benzene", "gcn")
    (tmp_path / "benzene").mkdir()
    (tmp_path / "benzene" / "gcn_3l_best.pth").write_bytes(b"no checkpoint")
    with pytest.raises(CheckpointError, match="is not a checkpoint of the paper's gcn"):
        authors_checkpoint(tmp_path, "benzene", "gcn")


def test_names_with_dots_do_not_meet(tmp_path):
    model = GIN(3, 2, width=4)
    about = {"architecture": model.architecture}
    paths = [save_checkpoint(tmp_path / f"gin.lr0.0{i}", model, about)[0] for i in (1, 2)]
    assert [path.name for path in paths] == ["gin.lr0.01.safetensors", "gin.lr0.02.safetensors"]
    assert load_checkpoint(tmp_path / "gin.lr0.02").about["architecture"] == model.architecture
