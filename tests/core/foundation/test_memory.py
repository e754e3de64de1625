"""The memory of a process."""

import numpy as np
import pytest

from core.foundation.memory import PeakMemory


def test_the_peak_of_memory_is_seen_after_it_is_given_back():
    memory = PeakMemory()
    if memory.rise() is None:
        pytest.skip("this system does not tell")
    block = np.ones(10_000_000)
    del block
    assert 75 < memory.rise() < 120
