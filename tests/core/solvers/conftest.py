import numpy as np
import pytest
from sharing import called_by_tests


@pytest.fixture
def posed(simulated, simulated_low_rank):
    """Make the problem of a kind."""

    def make(kind, **size):
        if kind == "lowrank":
            return simulated_low_rank(**size)[0]
        return simulated(**size | ({"eta": 1.0} if kind == "orthogonal" else {}))[0]

    return make


@pytest.fixture(params=["nonrigid", "lowrank"])
def problem(request, posed):
    """Return a small problem, of either kind."""
    if request.param == "nonrigid":
        return posed("nonrigid", frames=8, points=10, missing=0.2)
    return posed("lowrank", frames=6, points=12, weights=(0.0, 0.0, 0.0, 0.0, 1e-3, 2e-3), missing=0.2)


@called_by_tests
def assert_stationary(problem, point, atol):
    """Check that no direction lowers data + f at a matrix: along the kept singular vectors, and off them."""
    U, sigma, Vt = np.linalg.svd(point.X, full_matrices=False)
    kept = int(np.count_nonzero(point.sigma))
    inside = -U[:, :kept].T @ point.gradient @ Vt[:kept].T
    np.testing.assert_allclose(inside, np.diag(problem.spectral.slopes(sigma)[:kept]), atol=atol)
    rest = -point.gradient - U[:, :kept] @ inside @ Vt[:kept]
    if np.isfinite(largest := problem.spectral.slopes(np.zeros(1)).item()) and largest > 0:
        assert np.linalg.norm(rest, 2) <= largest + atol
