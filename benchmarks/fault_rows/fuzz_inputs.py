"""What is made of random inputs, and what is wrong with the answers."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import mage
from mage._core.archive import archive_bytes, read_archive
from mage.cli.demo import demo_explanation
from mage.experiments import Store

Report = Callable[[], None]
"""Called after each input."""

_NUMBERS = st.one_of(
    st.integers(-3, 40), st.sampled_from([2**31, 2**63, -(2**63), 10**30]), st.floats(), st.booleans(), st.none()
)
_VALUES = st.recursive(
    st.one_of(_NUMBERS, st.text(max_size=8), st.sampled_from(["$array", "\ud800", "\x1b[2J", "[/]", "graph request"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=4), st.sampled_from(["$kind", "$array"])), inner, max_size=3),
    ),
    max_leaves=6,
)
_DTYPES = st.sampled_from(["f8", "f4", "i8", "i4", "u1", "?", "c16", "U3", "S3", "M8[s]"])
_SHAPES = st.lists(st.integers(0, 5), max_size=3)


def _check(
    strategy: st.SearchStrategy[Any], look: Callable[[Any], None], count: int, number: int, report: Report
) -> str:
    """Look at so many random inputs; the first uncaught exceptions, in words."""
    failures: list[str] = []
    tried = 0

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(given_input: Any) -> None:
        nonlocal tried
        tried += 1
        try:
            look(given_input)
        except BaseException as error:  # whatever it is, it was not caught
            where = traceback.extract_tb(error.__traceback__)[-1]
            failures.append(
                f"{type(error).__name__} {str(error)[:100]!r} at {Path(where.filename).name}:{where.lineno} for "
                f"{ascii(given_input)[:200]}"
            )
        report()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
    # Small sets of inputs are exhausted before the count is reached; that would be seen here.
    if tried < count:
        failures.append(f"only {tried} of {count} inputs")
    return f"{len(failures)} of {count}: {failures[0]}" if failures else ""


def _changes(size: int) -> st.SearchStrategy[Any]:
    """Changes of a file: bytes at places, and where it ends."""
    change = st.tuples(st.integers(0, size - 1), st.binary(min_size=1, max_size=6))
    return st.tuples(st.just("bytes"), st.lists(change, max_size=4), st.integers(0, size), st.booleans())


def _changed(content: bytes, change: Any) -> bytes:
    _, places, end, cut = change
    changed = bytearray(content)
    for place, replacement in places:
        changed[place : place + len(replacement)] = replacement
    return bytes(changed[:end] if cut else changed)


def _replace(node: Any, path: list[int], value: Any) -> None:
    """Put a value somewhere into nested lists and mappings; the path is taken modulo what is there."""
    for depth, step in enumerate(path):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = keys[step % len(keys)]
        if depth == len(path) - 1 or not isinstance(node[key], dict | list) or not node[key]:
            node[key] = value
            return
        node = node[key]


def load(report: Report, folder: str, count: int, number: int) -> str:
    """Files for ``mage.load``: random, damaged, and sound ones with other contents."""
    path = Path(folder) / "input.mage"
    explanation = demo_explanation(1)
    sources = []
    for source in (explanation, explanation.interactions):
        source.save(path)
        sources.append((path.read_bytes(), *read_archive(path)))

    def look(case: Any) -> None:
        number, change = case
        content, header, arrays = sources[number]
        kind = change[0]
        if kind == "random":
            content = change[1]
        elif kind == "bytes":
            content = _changed(content, change)
        else:
            content = _rewritten(header, arrays, change)
        path.write_bytes(content)
        try:
            result = mage.load(path)
        except ValueError:
            return
        repr(result).encode()
        json.dumps(result.to_dict() if isinstance(result, mage.Explanation) else len(result)).encode()
        result._repr_html_().encode()

    shortest = min(len(content) for content, _, _ in sources)
    random = st.tuples(st.just("random"), st.binary(max_size=200).map(lambda tail: b"PK\x03\x04" + tail))
    header = st.tuples(st.just("header"), st.lists(st.integers(0, 60), min_size=1, max_size=5), _VALUES)
    array = st.tuples(st.just("array"), st.integers(0, 5), _DTYPES, _SHAPES, st.integers(0, 255))
    strategy = st.tuples(st.integers(0, 1), st.one_of(random, _changes(shortest), header, header, array))
    return _check(strategy, look, count, number, report)


def _rewritten(header: dict[str, Any], arrays: dict[str, Any], change: Any) -> bytes:
    """A sound file with one value of its header, or one array, replaced."""
    header, arrays = copy.deepcopy(header), dict(arrays)
    if change[0] == "header":
        _replace(header, *change[1:])
    else:
        _, number, dtype, shape, byte = change
        name = sorted(arrays)[number % len(arrays)]
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(bytes([byte]) * size, dtype=dtype).reshape(shape)
    try:
        return archive_bytes(header, arrays)
    except (ValueError, TypeError):
        return b""  # what cannot be written need not be read


def store(report: Report, folder: str, count: int, number: int) -> str:
    """Parts of a store: random, damaged, and sound ones with other records."""
    import pyarrow
    from pyarrow import parquet

    from mage.experiments import records as storage

    results = Store(folder)
    keys = [f"{letter}" * 32 for letter in "abc"]
    record = {"position": 0, "dataset": "x", "model": "gin", "method": "mage", "graph": 3, "num_nodes": 5}
    for key in keys:
        results.write(key, [record])
    sound = results.path(keys[1]).read_bytes()

    def look(case: Any) -> None:
        change, is_packed = case
        path = results.path(keys[1])
        if is_packed:  # the same bytes as a file of many parts
            path.unlink(missing_ok=True)
            path = results.packs.folder / "x.parquet"
            path.parent.mkdir(exist_ok=True)
        if change[0] == "bytes":
            path.write_bytes(_changed(sound, change))
        elif change[0] == "random":
            path.write_bytes(change[1])
        else:
            columns = {**{name: [value] for name, value in record.items()}, "part": [keys[1]], **change[1]}
            with contextlib.suppress(pyarrow.ArrowException, OverflowError, UnicodeError, TypeError, ValueError):
                table = pyarrow.table(columns)
                digest = {b"mage.digest": storage._digest(table)}
                parquet.write_table(table.replace_schema_metadata(digest), path)
        others = results.read([keys[0], keys[2]])
        assert len(others) == 2, "other parts are lost"
        rows = results.query("SELECT count(*) AS n, min(dataset) AS d FROM records")
        assert rows[0]["n"] >= 2, "a query does not see the others"
        if not results.has(keys[1]):
            results.write(keys[1], [record])
        assert len(results.read(keys)) == 3, "the part was not made again"

    names = st.one_of(st.sampled_from([*record, "part", "error", "seed"]), st.text(max_size=6))
    columns = st.tuples(st.just("records"), st.dictionaries(names, _VALUES.map(lambda value: [value]), max_size=3))
    random = st.tuples(st.just("random"), st.binary(max_size=300).map(lambda tail: b"PAR1" + tail + b"PAR1"))
    strategy = st.tuples(st.one_of(_changes(len(sound)), columns, random), st.booleans())
    return _check(strategy, look, count, number, report)


_OPTIONS = (
    *("--model", "--weights", "--data", "--dataset", "--graph", "--target", "--node", "--masking", "--tolerance"),
    *("--until", "--groups", "--max-players", "--which", "--folder", "--graphs", "--engine", "--timeout"),
    *("--order", "--method", "--budget", "--permutations", "--seed", "--num-motifs", "--max-nodes", "--tau", "--like"),
    *("--save", "--picture", "--page", "--json", "--output", "--list", "--status", "--title", "--help"),
)
_WORDS = st.one_of(
    st.sampled_from(
        ["demo", "graph.npz", "input.mage", "input", "nothing:here", "../..", "ba_2motifs", "gin", "", "-"]
    ),
    st.sampled_from(["\x1b[2J", "\ud800", "[/]", "0", "-1", "nan", "1e999", "9" * 30, "exact", "local", "no\x00name"]),
    st.integers(-5, 30).map(str),
    st.text(max_size=6),
)


def command_line(report: Report, folder: str, count: int, number: int) -> str:
    """Arguments of commands, and files that they name."""
    from typer.testing import CliRunner

    from mage.cli import app

    os.chdir(folder)
    os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is asked for outside
    np.savez("graph.npz", x=np.ones((4, 1), np.float32), edge_index=np.array([[0, 1, 2, 3], [1, 2, 3, 0]]))
    good = Path("graph.npz").read_bytes()
    demo_explanation(1).save("input.mage")
    saved = Path("input.mage").read_bytes()
    runner = CliRunner()
    commands = st.sampled_from(["explain", "report", "benchmark", "datasets", "", "explain-image", "nonsense"])
    option = st.one_of(st.sampled_from(_OPTIONS), _WORDS)
    arguments = st.lists(st.one_of(option, st.tuples(st.sampled_from(_OPTIONS), _WORDS)), max_size=5)

    def look(case: Any) -> None:
        command, given_arguments, change, in_graph = case
        Path("graph.npz").write_bytes(_changed(good, change) if in_graph else good)
        Path("input.mage").write_bytes(saved if in_graph else _changed(saved, change))
        flat = [
            part for given_one in given_arguments for part in (given_one if type(given_one) is tuple else [given_one])
        ]
        # Workers and trained networks are not what is tried here.
        flat = [part for part in flat if part not in ("--all", "ba_2motifs")]
        with contextlib.redirect_stderr(io.StringIO()):
            result = runner.invoke(app, [command, *flat] if command else flat)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code in (0, 1, 2, 3), f"exit code {result.exit_code}"
        assert "Traceback" not in result.output, "a traceback"
        assert "\x1b[2J" not in result.output, "the terminal is steered"

    strategy = st.tuples(commands, arguments, _changes(min(len(good), len(saved))), st.booleans())
    return _check(strategy, look, count, number, report)
