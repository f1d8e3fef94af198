import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    scope = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), scope)  # noqa: S102 (our own documentation)
    if page.name == "README.md":
        assert "proven optimal" in capsys.readouterr().out
        assert {motif.sign for motif in scope["explanation"].motifs} == {1, -1}
        assert scope["explanation"].interactions.exact


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert all((page.parent / target).exists() for target in targets if "://" not in target)
