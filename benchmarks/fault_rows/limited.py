"""Attempts in a process of its own, whose memory and work are watched."""

from __future__ import annotations

import importlib
import multiprocessing
import resource
from pathlib import Path
from typing import Any

from machines import cpu_seconds

CAP = 1_500_000_000
"""Bytes that an attempt may add to what the process had before."""

MOST_WORK = 120.0
"""Seconds of CPU time for one input. A busy machine does not change them."""

_BLOCKED = 120  # looks, a second apart, at a process that waits for something and does nothing


def attempt(function: str, *arguments: Any) -> tuple[str, int]:
    """Run ``module:name`` in a process of its own; what went wrong, in words, or nothing, and its memory in bytes.

    Args:
        function: Its first argument is a function to call after each input; it returns what went wrong, or nothing.
        arguments: Its other arguments.
    """
    context = multiprocessing.get_context("fork")  # everything is imported
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(send, function, arguments))
    process.start()
    send.close()
    pid, before, last, blocked = process.pid or 0, 0.0, 0.0, 0
    try:
        while True:
            if receive.poll(1.0):
                if (answer := receive.recv()) is not None:
                    text, memory = answer
                    return text or ("" if memory <= CAP else f"{memory / 1e9:.1f} GB of memory"), memory
                before, blocked = cpu_seconds(pid), 0
                continue
            seconds = cpu_seconds(pid)
            blocked = blocked + 1 if seconds == last and _waits(pid) else 0
            last = seconds
            if seconds - before > MOST_WORK:
                return f"no answer after {MOST_WORK:.0f} s of CPU time", 0
            if blocked > _BLOCKED:
                return "it waits for something that never comes", 0
    except EOFError:
        process.join()
        return f"the process died ({process.exitcode})", 0
    finally:
        process.kill()
        process.join()


def _run(send: Any, function: str, arguments: tuple[Any, ...]) -> None:
    module, _, name = function.partition(":")
    before = _memory()
    try:
        text = getattr(importlib.import_module(module), name)(lambda: send.send(None), *arguments)
    except BaseException as error:  # whatever it is, it was not caught
        text = f"uncaught {type(error).__name__}: {error!r:.200}"
    send.send((text.encode(errors="backslashreplace").decode(), _memory() - before))
    send.close()


def _memory() -> int:
    """The most bytes that this process ever had at once."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _waits(process: int) -> bool:
    """Whether a process waits for something other than its turn on the processor."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "SD"
    except OSError:
        return False
