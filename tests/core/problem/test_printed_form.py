import numpy as np
import pytest

from core import Factors
from core.problem import closed_form_structure, reference_singular_values
from core.problem import printed_form as residuals
from core.problem.closed_form import best_offsets


def test_pack_and_unpack_are_inverse_and_in_the_order_of_the_paper(simulated, random_factors):
    problem, _ = simulated(frames=5, points=7)
    factors = random_factors(problem)
    z = residuals.pack(problem, factors)
    C = factors.C.reshape(2, 21).T
    t = np.einsum("fab,fb->fa", problem.rotations, factors.s)
    expected = np.concatenate(
        (factors.B.ravel(order="F"), C.T.ravel(order="F"), t.ravel())  # vec stacks columns
    )
    np.testing.assert_array_equal(z, expected)
    again = residuals.unpack(problem, z)
    np.testing.assert_array_equal(again.B, factors.B)
    np.testing.assert_array_equal(again.C, factors.C)
    np.testing.assert_allclose(again.s, factors.s, atol=1e-14)


@pytest.mark.parametrize("eta", [0.05, 0.95, 1.0, None])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_jacobian_and_gradient_match_differences(simulated, simulated_low_rank, random_factors, eta, missing):
    """Where there is no eta the problem is the low-rank one."""
    size = {"frames": 4, "points": 5, "weights": (0.1, 0.2, 0.4), "missing": missing}
    problem, _ = simulated(**size, eta=eta) if eta else simulated_low_rank(**size)
    z = residuals.pack(problem, random_factors(problem))

    def residual(at):
        return residuals.residual_vector(problem, residuals.unpack(problem, at))

    J = residuals.jacobian(problem, residuals.unpack(problem, z))
    observations = int(problem.visible.sum())
    rows, columns = problem.shape
    unknowns = 3 * (rows + 3 * columns)
    assert J.shape == (4 * observations + unknowns, unknowns + 3 * rows * problem.offsets)
    assert J.shape == (residual(z).size, z.size)
    steps = 1e-4 * np.eye(len(z))  # the residual is quadratic in z: differences are exact up to rounding
    numeric = np.column_stack([(residual(z + step) - residual(z - step)) / 2e-4 for step in steps])
    np.testing.assert_allclose(J.toarray(), numeric, atol=1e-10)
    gradient = residuals.gradient(problem, residuals.unpack(problem, z))
    np.testing.assert_allclose(gradient, 2 * J.T @ residual(z), atol=1e-10)


@pytest.mark.parametrize("eta", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_four_row_loss_equals_the_3x3_loss(simulated, random_factors, eta, missing):
    problem, true = simulated(frames=9, points=11, eta=eta, missing=missing)
    for factors in (true, random_factors(problem)):
        assert residuals.loss(problem, factors) == pytest.approx(problem.loss(factors), rel=1e-12)


def test_relative_gradient_vanishes_only_at_a_stationary_point(simulated):
    problem, _ = simulated(missing=0.2)
    start = problem.closed_form()
    assert 1e-3 < residuals.relative_gradient(problem, start) <= 1
    # B = C = 0 with the best offsets is stationary, although far from a minimum.
    zero = Factors(0 * start.B, 0 * start.C, best_offsets(problem.data, 0 * start.shapes()))
    assert residuals.relative_gradient(problem, zero) < 1e-13
    moved = Factors(zero.B, zero.C, zero.s + 0.01)
    assert residuals.relative_gradient(problem, moved) > 1e-3


@pytest.mark.parametrize("eta", [0.05, 1.0])
def test_closed_form_structure_is_the_minimum_norm_minimizer_without_translation(simulated, eta):
    problem, _ = simulated(frames=5, points=6, eta=eta, missing=0.3)
    X = closed_form_structure(problem.data).reshape(5, 3, 6)
    H = problem.data.H.reshape(5, 6, 6)
    table = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
    for frame in range(5):
        for point in range(6):
            block = H[frame, table, point]
            seen = problem.visible[frame, point]
            m = np.append(problem.tracks[frame, :, point], 0.0)
            right = problem.eta * problem.rotations[frame].T @ m * seen
            expected = np.linalg.pinv(block, rcond=1e-10, hermitian=True) @ right
            np.testing.assert_allclose(X[frame, :, point], expected, atol=1e-9)


def test_svd_start_is_the_best_cut_and_at_full_rank_the_closed_form_itself(simulated):
    problem, _ = simulated(missing=0.2)
    X = closed_form_structure(problem.data)
    sigma = reference_singular_values(problem.data)
    np.testing.assert_allclose(sigma, np.linalg.svd(X, compute_uv=False), atol=1e-7)
    start = problem.closed_form()
    assert np.linalg.norm(start.shapes().reshape(10, -1) - X) == pytest.approx(np.linalg.norm(sigma[2:]))
    np.testing.assert_allclose(start.gamma(), sigma[:2], rtol=1e-12)  # balanced
    np.testing.assert_allclose(problem.closed_form(rank=10).shapes().reshape(10, -1), X, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_blocks_of_observations_are_those_of_all(simulated, random_factors, monkeypatch, weighted):
    problem, _ = simulated(frames=6, points=9, missing=0.3)
    if weighted:
        problem = problem.with_observation_weights(np.random.default_rng(0).random((6, 9)))
    factors = random_factors(problem)
    J, r = residuals.jacobian(problem, factors).toarray(), residuals.residual_vector(problem, factors)
    cosines = np.abs(J.T @ r) / (np.linalg.norm(J, axis=0) * np.linalg.norm(r))
    monkeypatch.setattr(residuals, "BLOCK", 7)
    assert residuals.relative_gradient(problem, factors) == pytest.approx(cosines.max(), rel=1e-12)
    assert residuals.loss(problem, factors) == pytest.approx(r @ r, rel=1e-13)
