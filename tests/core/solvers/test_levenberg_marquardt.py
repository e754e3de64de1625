import numpy as np
import pytest

from core import LevenbergMarquardt, Status, VariableProjection, iterate, solve
from core.problem import printed_form as residuals
from core.problem import rigid_start, with_rank
from core.solvers.levenberg_marquardt import damped_step, exact_gauge, normal_equations


def dense_step(problem, factors, damping):
    """Solve (J'J + lambda I) dz = -J'r on the four-row form, and return the point at its end."""
    J = residuals.jacobian(problem, factors).toarray()
    r = residuals.residual_vector(problem, factors)
    normal = J.T @ J + damping * np.eye(J.shape[1])
    dz = np.linalg.solve(normal, -(J.T @ r))
    promised = r @ r - np.sum((r + J @ dz) ** 2)
    return residuals.unpack(problem, residuals.pack(problem, factors) + dz), promised


@pytest.mark.parametrize(("frames", "points"), [(5, 9), (14, 4)])  # frames kept, points kept
@pytest.mark.parametrize("kind", ["nonrigid", "orthogonal", "lowrank"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_step_equals_that_of_dense_normal_equations(posed, random_factors, frames, points, kind, missing):
    problem = posed(kind, frames=frames, points=points, weights=(0.1, 0.2, 0.3), missing=missing)
    factors = random_factors(problem)
    expected, promised = dense_step(problem, factors, 0.07)
    step = damped_step(normal_equations(problem, factors), 0.07)
    found = step.from_point(factors)
    np.testing.assert_allclose(found.B, expected.B, atol=1e-9)
    np.testing.assert_allclose(found.C, expected.C, atol=1e-9)
    depth = problem.rotations[:, 2] if problem.affine else np.zeros_like(found.s)
    moved = found.s - factors.s
    np.testing.assert_allclose(np.einsum("fa,fa->f", depth, moved), 0, atol=1e-12)
    np.testing.assert_allclose(found.s, expected.s, atol=1e-9)
    assert step.predicted == pytest.approx(promised, rel=1e-9)


@pytest.mark.parametrize(("frames", "points"), [(5, 9), (14, 4)])
def test_an_exact_step_solves_with_a_hessian_of_finite_differences(simulated, random_factors, frames, points):
    problem, _ = simulated(frames=frames, points=points, weights=(0.1, 0.2, 0.3), missing=0.2)
    factors = random_factors(problem)
    z, h = residuals.pack(problem, factors), 1e-6
    half = np.empty((len(z), len(z)))
    for column in range(len(z)):
        ends = []
        for sign in (1, -1):
            moved = z.copy()
            moved[column] += sign * h
            ends.append(0.5 * residuals.gradient(problem, residuals.unpack(problem, moved)))
        half[:, column] = (ends[0] - ends[1]) / (2 * h)
    damping = 1.0 + np.abs(np.linalg.eigvalsh(half)).max()  # positive definite
    dz = -np.linalg.solve(half + damping * np.eye(len(z)), 0.5 * residuals.gradient(problem, factors))
    step = damped_step(normal_equations(problem, factors), damping, exact=True)
    found = residuals.pack(problem, step.from_point(factors)) - z
    np.testing.assert_allclose(found, dz, atol=1e-6 * np.abs(dz).max())


@pytest.mark.parametrize(
    ("frames", "points", "eta", "missing"), [(12, 25, 0.05, 0.2), (40, 6, 0.05, 0.0), (12, 25, 1.0, 0.2)]
)
def test_it_reaches_the_optimum_of_variable_projection_by_points_that_are_balanced_and_centered(
    simulated, frames, points, eta, missing
):
    problem, true = simulated(frames=frames, points=points, eta=eta, missing=missing)
    for end in iterate(problem, LevenbergMarquardt(), true):
        factors = end.state.factors
        flat = factors.C.reshape(2, -1)
        sigma = np.linalg.svd(factors.shapes().reshape(frames, -1), compute_uv=False)[:2]
        np.testing.assert_allclose(factors.B.T @ factors.B, np.diag(sigma), atol=1e-10)
        np.testing.assert_allclose(flat @ flat.T, np.diag(sigma), atol=1e-10)
        np.testing.assert_allclose(factors.C.mean(axis=2), 0, atol=1e-12)
        assert end.progress.loss == problem.loss(factors)
    assert end.status is Status.CONVERGED
    other = solve(problem, VariableProjection(), true)
    assert end.progress.loss == pytest.approx(other.progress.loss, rel=1e-11)
    assert residuals.relative_gradient(problem, factors) < 1e-7
    assert end.progress.loss == pytest.approx(residuals.loss(problem, factors), rel=1e-10)


def test_the_gauge_keeps_shapes_and_the_depth_of_an_orthogonal_camera_at_zero(simulated, random_factors):
    problem, _ = simulated(eta=1.0)
    factors = random_factors(problem)
    fixed = exact_gauge(problem, factors)
    np.testing.assert_allclose(np.einsum("fa,fa->f", problem.rotations[:, 2], fixed.s), 0, atol=1e-12)
    images = [(problem.rotations @ (each.shapes() + each.s[:, :, None]))[:, :2] for each in (fixed, factors)]
    np.testing.assert_allclose(*images, atol=1e-12)
    assert problem.loss(fixed) < problem.loss(factors)


def test_a_new_column_whose_shape_is_still_zero_gets_a_shape(simulated):
    problem, _ = simulated(missing=0.1)
    rigid = solve(problem.with_weights(problem.weights[:1]), LevenbergMarquardt(), rigid_start(problem))
    assert rigid.state.factors.gamma() > 0.1
    start = with_rank(rigid.state.factors, 2, np.random.default_rng(0))
    assert not start.C[1].any()
    end = solve(problem, LevenbergMarquardt(), start)
    other = solve(problem, VariableProjection(), start)
    assert end.progress.loss == pytest.approx(other.progress.loss, rel=1e-10)
    assert end.progress.loss < 0.9 * rigid.progress.loss
