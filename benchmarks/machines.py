"""Processes and clusters on this machine, for the benchmarks that watch or disturb them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def family(process: int) -> set[int]:
    """A process and all that descend from it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    members = {process}
    while children := {child for child, parent in parents.items() if parent in members} - members:
        members |= children
    return members


def is_running(process: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def memory(process: int) -> int:
    """Bytes of memory of a process; what several share is divided between them (PSS)."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return 0


def cpu_seconds(process: int) -> float:
    """CPU time that a process has taken so far, in user and system mode."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


@contextlib.contextmanager
def two_ray_nodes() -> Iterator[tuple[Any, Any]]:
    """A Ray cluster of two nodes with one core each on this machine, connected to; and its second node."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # a busy machine starts slowly
    os.environ.setdefault("RAY_worker_niceness", "0")  # and would give workers of a lower priority no turn
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    path = os.pathsep.join([*os.environ.get("PYTHONPATH", "").split(os.pathsep), str(Path(__file__).parent)])
    ray.init(address=cluster.address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Ray tells of dead workers among what a benchmark prints
            yield cluster, node
    finally:
        ray.shutdown()
        cluster.shutdown()
