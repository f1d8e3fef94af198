"""Another process that holds the lock of a store; it imports as little as it can."""

import signal

from mage.experiments.store import Store


def hold(folder, key, ready):
    """Claim a part, say so, and wait for the end."""
    claim = Store(folder).claim(key)
    assert claim is not None
    ready.set()
    signal.pause()
