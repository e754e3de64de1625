"""What the tests of the depth refinement share."""

from __future__ import annotations

import numpy as np
import pytest

from core.foundation import procrustes


@pytest.fixture(scope="session")
def error():
    """Return the mean distance of two points' shapes after a similarity for each frame, over their size."""

    def measure(problem, point, truth):
        source, target = problem.shapes(point), problem.shapes(truth)
        apart = np.linalg.norm(procrustes(source, target).apply(source) - target, axis=1)
        return float(apart.mean() / np.linalg.norm(target, axis=1).mean())

    return measure
