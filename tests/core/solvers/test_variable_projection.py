import numpy as np
import pytest

from core import Factors, Status, solve
from core.problem import printed_form as residuals
from core.problem import rigid_start, with_rank
from core.solvers import reduced_hessian
from core.solvers import variable_projection as vp

RANKS = [(0.2,), (0.1, 0.3), (0.05, 0.1, 0.2, 0.4)]


@pytest.fixture(params=[reduced_hessian.PRODUCT_RANK, 0], ids=["one product", "three steps"])
def product_form(request, monkeypatch):
    """Run a test with both forms of the product with the reduced Hessian."""
    monkeypatch.setattr(reduced_hessian, "PRODUCT_RANK", request.param)


def state_at(problem, factors, *, newton):
    """Return the state at a point, with or without what a Newton step needs."""
    algorithm = vp.VariableProjection()
    state = algorithm.init(problem, factors)
    if newton:
        pretended = vp.replace(state, loss=state.loss * (1 + 1e-9))
        state = vp._eliminate_C(problem, state.factors, 1e-3, pretended)
        assert state.He is not None
    return state


def hessian(problem, state, damping, *, exact):
    """Return what multiplies with the reduced Hessian at a state."""
    at = state.factors, state.system, state.blocks
    return reduced_hessian.reduced_hessian(problem.data, *at, damping, state.He if exact else None)


def reduced_loss(problem, B, s):
    """Return phi(B, s): the objective with C eliminated, evaluated by the four-row form."""
    C = problem.data.best_C(B, s, problem.weights).C
    return residuals.loss(problem, Factors(B, C, s))


@pytest.mark.parametrize("weights", RANKS)
@pytest.mark.parametrize("newton", [False, True])
def test_gradient_matches_finite_differences_of_the_reduced_loss(simulated, random_factors, weights, newton):
    problem, _ = simulated(frames=7, points=8, weights=weights, missing=0.2)
    state = state_at(problem, random_factors(problem), newton=newton)
    B, s = state.factors.B, state.factors.s
    rank, step = B.shape[1], 1e-5
    for f in (0, 3):
        for q in range(rank + 3):
            moved = []
            for sign in (1, -1):
                B_new, s_new = B.copy(), s.copy()
                if q < rank:
                    B_new[f, q] += sign * step
                else:
                    s_new[f, q - rank] += sign * step
                moved.append(reduced_loss(problem, B_new, s_new))
            numeric = (moved[0] - moved[1]) / (4 * step)  # half of the derivative
            assert state.gradient[q, f] == pytest.approx(numeric, rel=1e-5, abs=1e-7)


@pytest.mark.usefixtures("product_form")
@pytest.mark.parametrize("weights", RANKS)
@pytest.mark.parametrize("eta", [0.05, 1.0])
def test_exact_curvature_matches_finite_differences_of_the_gradient(simulated, random_factors, weights, eta):
    problem, _ = simulated(frames=6, points=8, weights=weights, eta=eta, missing=0.2)
    state = state_at(problem, random_factors(problem), newton=True)
    curvature = hessian(problem, state, 0.0, exact=True)
    rank, frames = state.factors.rank, len(state.factors.B)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rank + 3, frames))
    if problem.affine:  # the depth of t is pinned: no such direction is ever taken
        depth = np.einsum("fa,af->f", problem.rotations[:, 2], x[rank:])
        x[rank:] -= problem.rotations[:, 2].T * depth
    step = 1e-5

    def gradient(sign):
        B = state.factors.B + sign * step * x[:rank].T
        s = state.factors.s + sign * step * x[rank:].T
        C = problem.data.best_C(B, s, problem.weights).C
        full = residuals.unpack(problem, residuals.gradient(problem, Factors(B, C, s)))
        return np.concatenate((full.B, full.s), axis=1).T / 2

    numeric = (gradient(1) - gradient(-1)) / (2 * step)
    np.testing.assert_allclose(curvature.times(x)[0], numeric, rtol=1e-5, atol=1e-6 * np.abs(numeric).max())


@pytest.mark.usefixtures("product_form")
@pytest.mark.parametrize("weights", RANKS)
def test_gauss_newton_curvature_is_the_schur_complement_of_the_jacobian(simulated, random_factors, weights):
    problem, _ = simulated(frames=6, points=7, weights=weights, missing=0.1)
    state = state_at(problem, random_factors(problem), newton=False)
    curvature = hessian(problem, state, 0.25, exact=False)
    rank, frames = state.factors.rank, len(state.factors.B)
    J = residuals.jacobian(problem, state.factors).toarray()
    A = J.T @ J
    points = np.arange(rank * frames, rank * frames + 3 * 7 * rank)
    others = np.setdiff1d(np.arange(len(A)), points)
    eliminated = np.linalg.solve(A[np.ix_(points, points)], A[np.ix_(points, others)])
    schur = A[np.ix_(others, others)] - A[np.ix_(others, points)] @ eliminated
    x = np.random.default_rng(2).normal(size=(rank + 3, frames))
    t = np.einsum("fab,bf->fa", problem.rotations, x[rank:])
    packed = schur @ np.concatenate((x[:rank].ravel(), t.ravel()))
    of_B, of_t = packed[: rank * frames].reshape(rank, frames), packed[rank * frames :].reshape(frames, 3)
    image = np.concatenate((of_B, np.einsum("fba,fb->af", problem.rotations, of_t)))
    np.testing.assert_allclose(curvature.times(x)[0], image + 0.25 * x, atol=1e-10)


@pytest.mark.usefixtures("product_form")
@pytest.mark.parametrize("eta", [0.05, 1.0])
@pytest.mark.parametrize("weights", RANKS)
def test_solution_is_a_stationary_point_of_the_four_row_form(simulated, weights, eta):
    problem, _ = simulated(frames=20, points=15, weights=weights, eta=eta, missing=0.1)
    factors = rigid_start(problem)
    factors = with_rank(factors, problem.rank, np.random.default_rng(0))
    last = solve(problem, vp.VariableProjection(), factors)
    assert last.status is Status.CONVERGED
    end = last.state.factors
    assert last.progress.loss == pytest.approx(residuals.loss(problem, end), rel=1e-10)
    gradient = residuals.gradient(problem, end)
    assert np.linalg.norm(gradient) < 1e-6 * last.progress.loss
    sigma = np.linalg.svd(end.shapes().reshape(20, -1), compute_uv=False)
    assert end.gamma() == pytest.approx(sigma[: problem.rank], rel=1e-6)


@pytest.mark.parametrize(
    ("eta", "scale", "weights"),
    [(0.05, 1.0, (0.0, 0.0)), (1.0, 1.0, (0.0, 0.0)), (0.05, 1e-6, (0.01, 0.02)), (0.05, 1e3, (0.01, 0.02))],
)
def test_neither_points_seen_once_nor_the_scale_of_the_tracks_spoil_the_loss(simulated, eta, scale, weights):
    problem, _ = simulated(frames=12, points=15, weights=weights, eta=eta)
    visible = problem.visible.copy()
    visible[1:, 3] = weights[0] > 0
    problem = type(problem)(scale * problem.tracks, visible, problem.rotations, eta, problem.weights)
    start = with_rank(rigid_start(problem), 2, np.random.default_rng(0))
    last = solve(problem, vp.VariableProjection(max_iterations=40), start)
    assert 0 < last.progress.loss < problem.with_weights([0.0]).loss(rigid_start(problem))
    for loss in (last.progress.loss, problem.loss(last.state.factors)):
        assert loss == pytest.approx(residuals.loss(problem, last.state.factors), rel=1e-9)
