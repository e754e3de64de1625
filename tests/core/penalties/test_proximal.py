"""Proximal operators against brute force: a dense grid, refined around its best points."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from core import MCP, PENALTIES, SCAD, CappedNorm, LogPenalty, RankPenalty, SchattenNorm
from core.penalties import LinearPenalty
from core.penalties.concave import ConcavePenalty
from core.penalties.proximal import soft_threshold

GRID = 800
# Name, a random penalty of it from (mu, scale, share); the scale is that of the singular values.
KINDS = {
    "schatten": lambda mu, scale, share: SchattenNorm(mu, p=max(share, 0.02), epsilon=0.1 * scale),
    "schatten, sharp": lambda mu, scale, share: SchattenNorm(mu, p=share, epsilon=1e-6 * scale),
    "log": lambda mu, scale, share: LogPenalty(mu, epsilon=scale * share),
    "log, sharp": lambda mu, scale, share: LogPenalty(mu, epsilon=1e-7 * scale),
    "capped": lambda mu, scale, share: CappedNorm(mu, theta=2 * scale * share),
    "mcp": lambda mu, scale, share: MCP(mu, theta=2 * scale * share),
    "scad": lambda mu, scale, share: SCAD(mu, theta=2 * scale * share),
    "rank": lambda mu, scale, share: RankPenalty(mu * scale),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def test_the_penalties_tried_are_all_concave_ones():
    tried = {type(make(1.0, 1.0, 0.5)) for make in KINDS.values()}
    assert tried == {kind for kind in PENALTIES.values() if issubclass(kind, ConcavePenalty)}


def cost(penalty, z, s, rho):
    """The objective of one entry, with g(z) from the penalty's own value."""
    g = np.array([penalty.value(np.array([entry])) for entry in np.atleast_1d(z)])
    return g + 0.5 * rho * (np.atleast_1d(z) - s) ** 2


def brute_force(penalty, s, rho):
    """The least cost of one entry over z >= 0, and where it is."""
    end = s * (1 + 1e-9) + 1e-300  # g never falls, so that nothing beyond s is better
    grid = np.unique(np.concatenate((np.linspace(0, end, GRID), end * np.logspace(-9, 0, GRID // 4), [s])))
    # Not through `cost`, which is slow: the value of many entries is the sum over them.
    values = cost(penalty, grid, s, rho)
    best, least = grid[values.argmin()], values.min()
    for k in np.argsort(values)[:3]:
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
        if high > low:
            within = {"bounds": (low, high), "method": "bounded", "options": {"xatol": 1e-12 * end}}
            found = minimize_scalar(lambda z: cost(penalty, z, s, rho)[0], **within)
            if found.fun < least:
                best, least = found.x, found.fun
    return best, least


@pytest.mark.slow
@kinds
def test_no_point_of_a_dense_grid_is_better_than_the_proximal_point(kind):
    random = np.random.default_rng(3)
    zeros = kept = 0
    for _ in range(30):
        scale = 10.0 ** random.uniform(-2, 2)
        rho = 10.0 ** random.uniform(-3, 3)
        mu = rho * scale * 10.0 ** random.uniform(-2, 1.5)  # so that both outcomes, 0 and not, occur
        penalty = KINDS[kind](mu, scale, random.uniform(0.01, 0.99))
        s = scale * random.uniform(0, 3)
        z = float(penalty.prox(np.array([s]), rho)[0])
        best, least = brute_force(penalty, s, rho)
        size = 0.5 * rho * s * s
        assert cost(penalty, z, s, rho)[0] <= least + 1e-12 * size
        at_zero = cost(penalty, 0.0, s, rho)[0]
        if abs(at_zero - least) > 1e-6 * size:  # no tie: the minimizer itself is determined
            assert z == pytest.approx(best, abs=1e-5 * s)
        zeros += z == 0
        kept += z > 0
    assert zeros > 3
    assert kept > 3


@kinds
@pytest.mark.parametrize("rho", [1e-12, 1.0, 1e12])
def test_extreme_steps_ties_and_zeros_are_handled(kind, rho):
    penalty = KINDS[kind](0.3, 1.0, 0.5)
    s = np.array([5.0, 2.0, 2.0, 1.0, 1.0, 1e-3, 1e-300, 0.0, 0.0])
    z = penalty.prox(s, rho)
    assert z.shape == s.shape
    assert np.isfinite(z).all()
    assert (z >= 0).all()
    assert (z <= s).all()
    assert (np.diff(z) <= 0).all()
    assert (z[1], z[3]) == (z[2], z[4])
    assert (z[s == 0] == 0).all()
    if rho == 1e12:  # nothing can be moved
        np.testing.assert_allclose(z[:5], s[:5], rtol=1e-8)
    if rho == 1e-12 and "sharp" not in kind:  # the penalty alone; what is above theta costs as much as theta
        np.testing.assert_array_equal(z, 0)


@kinds
def test_the_order_is_kept_across_the_threshold(kind):
    random = np.random.default_rng(4)
    for _ in range(30):
        penalty = KINDS[kind](10.0 ** random.uniform(-1, 1), 1.0, random.uniform(0.05, 0.95))
        s = np.linspace(6, 0, 3001)
        z = penalty.prox(s, 10.0 ** random.uniform(-1, 1))
        assert (np.diff(z) <= 0).all()


@pytest.mark.parametrize("kind", [MCP, SCAD, CappedNorm])
def test_below_its_curvature_the_step_is_a_hard_threshold(kind):
    penalty = kind(mu=1.0, theta=2.0)
    s = np.linspace(8, 0, 801)
    z = penalty.prox(s, 0.2)  # mu / theta = 0.5, more for SCAD; mu / rho > 2 theta for the capped one
    jump = s[z > 0].min()
    assert jump > penalty.theta
    np.testing.assert_array_equal(z, np.where(s >= jump, s, 0.0))


@pytest.mark.parametrize(
    ("penalty", "s", "expected"),
    [
        (MCP(mu=1.0, theta=2.0), [3.0, 2.0, 1.5, 1.0, 0.5], [3.0, 2.0, 1.0, 0.0, 0.0]),  # firm shrinkage
        (RankPenalty(mu=2.0), [3.0, 2.001, 2.0, 1.0], [3.0, 2.001, 0.0, 0.0]),
    ],
)
def test_the_step_is_the_one_that_is_known(penalty, s, expected):
    np.testing.assert_allclose(penalty.prox(np.array(s), 1.0), expected, atol=1e-15)


def test_linear_weights_shrink_and_stay_ordered():
    random = np.random.default_rng(5)
    for _ in range(50):
        s = np.sort(random.random(6))[::-1]
        weights = np.sort(random.random(6) * random.integers(0, 2, 6))
        rho = 10.0 ** random.uniform(-2, 2)
        z = LinearPenalty(weights).prox(s, rho)
        np.testing.assert_array_equal(z, soft_threshold(s, weights, rho))
        assert (np.diff(z) <= 0).all()
        least = weights @ z + 0.5 * rho * np.sum((z - s) ** 2)
        for _ in range(50):  # descending points at all distances
            other = np.sort(np.abs(z + 10.0 ** random.uniform(-6, 0) * random.standard_normal(6)))[::-1]
            assert weights @ other + 0.5 * rho * np.sum((other - s) ** 2) >= least * (1 - 1e-12)


@kinds
def test_the_operator_on_a_matrix_beats_all_matrices_near_it_and_other_cuts(kind):
    random = np.random.default_rng(6)
    M = random.standard_normal((5, 7))
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    for _ in range(5):
        penalty = KINDS[kind](10.0 ** random.uniform(-1, 1), 1.0, random.uniform(0.2, 0.9))
        rho = 10.0 ** random.uniform(-0.5, 0.5)

        def objective(X, penalty=penalty, rho=rho):
            sigma = np.linalg.svd(X, compute_uv=False)
            return penalty.value(sigma) + 0.5 * rho * np.sum((X - M) ** 2)

        X = (U * penalty.prox(s, rho)) @ Vt
        least = objective(X)
        for rank in range(6):
            assert objective((U * np.where(np.arange(5) < rank, s, 0)) @ Vt) >= least * (1 - 1e-12)
        for _ in range(40):
            step = 10.0 ** random.uniform(-5, 1) * random.standard_normal(M.shape)
            assert objective(X + step) >= least * (1 - 1e-12)
