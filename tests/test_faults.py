"""The short form of ``benchmarks/faults.py``: each fault a few times, nothing lost."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "faults.py"


def rows(*options):
    """Tries and losses by fault, as the script prints them."""
    command = [sys.executable, str(SCRIPT), "--short", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    matches = re.findall(r"^\| ([^|]+) \| [^|]+ \| (\d+) \| (\d+) \| \d+ \|$", ran.stdout, flags=re.MULTILINE)
    assert ran.returncode == 0, ran.stderr
    return {name: (int(tried), int(lost)) for name, tried, lost in matches}


@pytest.mark.long
def test_files_that_are_cut_off():
    table = rows("--only", "cut off")
    assert len(table) == 2
    assert all(tried >= 6 and lost == 0 for tried, lost in table.values())


@pytest.mark.long
def test_files_that_are_made_to_harm():
    ((tried, lost),) = rows("--only", "harm").values()
    assert tried >= 40
    assert lost == 0


@pytest.mark.long
def test_random_inputs():
    table = rows("--only", "fuzz")
    assert len(table) == 3
    assert all(tried >= 50 and lost == 0 for tried, lost in table.values())


@pytest.mark.long
def test_all_faults_that_need_no_cluster():
    table = rows("--without", "Ray")
    assert len(table) >= 21
    assert all(tried >= 2 and lost == 0 for tried, lost in table.values())


@pytest.mark.ray
def test_faults_of_a_cluster():
    table = rows("--only", "Ray")
    assert len(table) == 2
    assert all(tried >= 1 and lost == 0 for tried, lost in table.values())
