import numpy as np
import pytest

from core import ADMM, BMM, RBMM, InputError, Status, iterate, solve
from core.problem import closed_form_structure, full_rank_start

ROUNDING = 1e-12


@pytest.fixture
def orthogonal(simulated):
    return simulated(frames=9, points=11, weights=(1e-3, 4e-3), eta=1.0)[0]


def blocks(problem, X):
    """The rows 1 and 2 of R_f S_f, and the centered tracks, both (F, 2, P)."""
    shapes = X.reshape(problem.data.y.shape)
    W = problem.tracks - problem.tracks.mean(axis=2, keepdims=True)
    return problem.rotations[:, :2] @ shapes, W


def test_a_step_of_bmm_is_that_of_the_paper_on_centered_tracks(orthogonal):
    method = BMM(mu=0.1, tau=0.2)
    state = method.init(orthogonal, full_rank_start(orthogonal))
    X0 = closed_form_structure(orthogonal.data).reshape(9, 3, 11)
    centered = (X0 - X0.mean(axis=2, keepdims=True)).reshape(9, -1)
    U, sigma, Vt = np.linalg.svd(centered, full_matrices=False)
    X = (U[:, :2] * sigma[:2]) @ Vt[:2]  # R^+ W of the centered tracks, cut to rank K
    np.testing.assert_allclose(state.X, X, atol=1e-12)
    for _ in range(3):
        projected, W = blocks(orthogonal, X)
        gradient = orthogonal.rotations[:, :2].transpose(0, 2, 1) @ (projected - W)
        U, sigma, Vt = np.linalg.svd(X - 0.2 * gradient.reshape(9, -1), full_matrices=False)
        X = (U * np.maximum(sigma - 0.2 * 0.1, 0)) @ Vt
        state = method.step(orthogonal, state)
        np.testing.assert_allclose(state.X, X, atol=1e-12)
        projected, W = blocks(orthogonal, X)
        sigma = np.linalg.svd(X, compute_uv=False)
        assert state.loss == pytest.approx(2 * 0.1 * sigma.sum() + np.sum((projected - W) ** 2), rel=1e-10)


def test_bmm_never_raises_its_objective_through_all_mu(simulated):
    problem, _ = simulated(frames=9, points=11, eta=1.0, missing=0.2)
    states = [snapshot.state for snapshot in iterate(problem, BMM(tolerance=1e-3), full_rank_start(problem))]
    losses = np.array([state.loss for state in states])
    assert (np.diff(losses) <= ROUNDING * losses[:-1]).all()
    levels = sorted({state.mu for state in states}, reverse=True)
    np.testing.assert_allclose(levels, [*(4 * 0.25 ** np.arange(18)), 1e-10], rtol=1e-12)
    assert states[-1].change <= 1e-3


@pytest.mark.slow
def test_bmm_ends_at_the_least_nuclear_norm_that_reproduces_the_tracks(orthogonal):
    end = solve(orthogonal, BMM(tolerance=1e-7, tau=1.0, last_mu=1e-3), full_rank_start(orthogonal))
    assert end.status is Status.CONVERGED
    projected, W = blocks(orthogonal, end.state.X)
    np.testing.assert_allclose(projected, W, atol=2e-3)
    # A subgradient of the norm that no change of depths (the null space of the data) can go along.
    U, sigma, Vt = np.linalg.svd(end.state.X, full_matrices=False)
    kept = sigma > 1e-4 * sigma[0]
    dual = -end.state.force / end.state.mu  # at the fixed point, in the subdifferential of |X|_*
    np.testing.assert_allclose(U[:, kept].T @ dual @ Vt[kept].T, np.eye(kept.sum()), atol=1e-2)
    assert np.linalg.norm(dual, 2) <= 1 + 1e-2
    along_depth = np.einsum("fa,fap->fp", orthogonal.rotations[:, 2], dual.reshape(9, 3, 11))
    np.testing.assert_allclose(along_depth, 0, atol=1e-6)


def test_rbmm_minimizes_the_augmented_lagrangian_over_each_copy(orthogonal):
    method = RBMM(rho=0.7, growth=1.2)
    state = method.step(orthogonal, method.init(orthogonal, full_rank_start(orthogonal)))
    after = method.step(orthogonal, state)
    assert after.rho == pytest.approx(0.7 * 1.2**2)
    rho, V = state.rho, state.point.X - state.dual

    def in_X(X):
        projected, W = blocks(orthogonal, X)
        centered = projected - projected.mean(axis=2, keepdims=True)  # what the best t leaves
        return np.sum((centered - W) ** 2) + 0.5 * rho * np.sum((X - V) ** 2)

    random = np.random.default_rng(5)
    for _ in range(20):
        D, step = random.standard_normal(after.X.shape), 1e-5
        assert abs(in_X(after.X + step * D) - in_X(after.X - step * D)) / (2 * step) < 1e-8
    U, sigma, Vt = np.linalg.svd(after.X + state.dual, full_matrices=False)
    shrunk = np.maximum(sigma - orthogonal.all_weights / rho, 0)
    np.testing.assert_allclose(after.point.X, (U * shrunk) @ Vt, atol=1e-10)
    np.testing.assert_allclose(after.dual * 1.2, after.X + state.dual - after.point.X, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rbmm_with_equal_weights_and_slow_growth_reaches_the_convex_optimum(simulated, missing):
    problem, _ = simulated(frames=8, points=10, weights=np.full(8, 0.05), eta=1.0, missing=missing)
    start = full_rank_start(problem)
    optimum = solve(problem, ADMM(tolerance=1e-9), start).progress.loss
    end = solve(problem, RBMM(rho=0.05, growth=1.002, max_iterations=10_000), start)
    assert end.status is Status.CONVERGED
    assert end.progress.loss == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize(("method", "name"), [(BMM(), "BMM"), (RBMM(), "R-BMM")])
def test_perspective_cameras_and_the_low_rank_problem_are_refused(posed, method, name):
    cameras = f"^{name} is for orthogonal cameras .*eta is 0.05$"
    for kind, sentence in (("nonrigid", cameras), ("lowrank", "the problem is the low-rank one")):
        problem = posed(kind, eta=0.05)
        with pytest.raises(InputError, match=sentence):
            method.init(problem, problem.closed_form())
