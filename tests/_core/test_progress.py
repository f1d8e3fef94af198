import sys

from mage._core.progress import progress_bar


def test_nothing_is_shown_where_nobody_looks(capsys):
    with progress_bar("working", 3) as tick:
        tick(1)
    assert capsys.readouterr().err == ""


def test_bars_can_be_forced(capsys):
    with progress_bar("working hard", 3, enabled=True) as tick:
        tick(3)
    assert "working hard" in capsys.readouterr().err


def test_quiet_work_does_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # an import would fail
    with progress_bar("working", 3, enabled=False) as tick:
        assert tick(2) is None
