"""Jobs and models that go wrong, importable by workers."""

import ctypes
import os
import signal
import sys
import time

import torch

from mage.models import load_demo_model


class TwoPartError(Exception):
    """An exception that pickle cannot make again: it stores one argument and needs two."""

    def __init__(self, code, reason):
        super().__init__(f"{reason} ({code})")


class Unloadable:
    """Something that can be sent but not received."""

    def __reduce__(self):
        return int, ("not a number",)


def double(shared, job):
    """The well-behaved job."""
    return 2 * job


def worker_of(shared, job):
    """The process that did it."""
    return os.getpid()


def hold_interpreter(seconds):
    """Sleep as compiled code computes: no other thread of the process gets a turn."""
    ctypes.PyDLL(None).sleep(seconds)


def hold_on_job(shared, job):
    """The process that did it; on the job that ``shared`` says, nothing else happens there for a long time."""
    number, _ = job
    if number == shared:
        hold_interpreter(600)
    return os.getpid()


def misbehave(shared, job):
    """Double a number, except on those that ``shared`` names a misdeed for."""
    misdeed = shared.get(job)
    if misdeed == "two arguments":
        raise TwoPartError(7, "no such weights")
    if misdeed == "long message":
        raise ValueError("first line\n" + "x" * 10_000)
    if misdeed == "leave":
        sys.exit(3)
    if misdeed == "abort":
        os.abort()
    if misdeed == "sleep":
        time.sleep(600)
    if misdeed == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if misdeed == "not to be packed":
        return lambda: job
    return 2 * job


class Fragile(torch.nn.Module):
    """A network that cannot stand graphs of one size with most edges gone, which only explaining shows to it.

    Args:
        size: Number of nodes of graphs that it cannot stand.
        marker: A file; when it is there, the network has been mended.
    """

    def __init__(self, size=29, marker="mended"):
        super().__init__()
        self.network = load_demo_model()
        self.size = size
        self.marker = str(marker)

    def forward(self, x, edge_index, batch=None):
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        nodes = torch.bincount(batch)
        edges = torch.bincount(batch[edge_index[0]], minlength=len(nodes))
        if bool(((nodes == self.size) & (edges < self.size / 2)).any()) and not os.path.exists(self.marker):
            raise TwoPartError(self.size, "this graph is too much")
        return self.network(x[:, :1], edge_index, batch)
