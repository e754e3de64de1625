import numpy as np
import pytest

from core import InputError
from core.foundation import procrustes, rotation_from_vector
from core.foundation.linalg import (
    cross_matrix,
    levenberg_marquardt,
    nearest_rotation,
    rotation_angle,
    rotation_onto_axis,
    rq,
)

QUARTER_TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # about z
CORNERS = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 3.0]])


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("reflection", [True, False])
def test_no_nearby_similarity_is_better_than_procrustes(scale, reflection):
    rng = np.random.default_rng(1)
    source, target = rng.normal(size=(2, 3, 9))
    found = procrustes(source, target, scale=scale, reflection=reflection)
    least = np.linalg.norm(found.apply(source) - target)
    for _ in range(300):
        turn = rotation_from_vector(0.1 * rng.normal(size=3)) @ found.rotation
        factor = found.scale * (1.0 + 0.1 * rng.normal()) if scale else 1.0
        moved = factor * turn @ source
        moved += (target - moved).mean(axis=1, keepdims=True)
        assert np.linalg.norm(moved - target) >= least
    assert scale or found.scale == 1.0


def test_a_batch_equals_its_members_one_by_one():
    rng = np.random.default_rng(2)
    source, target = rng.normal(size=(2, 5, 3, 7))
    target[3, 0, 1] = np.nan
    together = procrustes(source, target)
    for f in range(5):
        alone = procrustes(source[f], target[f])
        np.testing.assert_allclose(together.scale[f], alone.scale, rtol=1e-13)
        np.testing.assert_allclose(together.rotation[f], alone.rotation, atol=1e-13)
        np.testing.assert_allclose(together.translation[f], alone.translation, atol=1e-13)
    inverse = together.inverse().apply(together.apply(source))
    np.testing.assert_allclose(inverse, source, atol=1e-12)


def test_nothing_known_in_common_leaves_the_identity():
    found = procrustes(CORNERS, np.full((3, 4), np.nan))
    np.testing.assert_array_equal(found.apply(CORNERS), CORNERS)


def test_point_sets_of_different_shapes_are_refused():
    with pytest.raises(InputError, match=r"\(3, 4\) and \(3, 5\)"):
        procrustes(np.zeros((3, 4)), np.zeros((3, 5)))


def test_no_rotation_is_nearer_than_the_nearest():
    np.testing.assert_allclose(nearest_rotation(3.0 * QUARTER_TURN), QUARTER_TURN, atol=1e-15)
    rng = np.random.default_rng(3)
    matrices = rng.normal(size=(6, 3, 3))
    rotations = nearest_rotation(matrices)
    np.testing.assert_allclose(np.linalg.det(rotations), 1.0, rtol=1e-13)
    np.testing.assert_allclose(
        rotations @ rotations.transpose(0, 2, 1), np.tile(np.eye(3), (6, 1, 1)), atol=1e-13
    )
    others = rotation_from_vector(2.0 * rng.normal(size=(4000, 3)))
    for matrix, rotation in zip(matrices, rotations, strict=True):
        least = np.linalg.norm(rotation - matrix)
        assert (np.linalg.norm(others - matrix, axis=(1, 2)) >= least).all()


def test_a_rotation_vector_of_a_quarter_turn_about_z():
    np.testing.assert_allclose(rotation_from_vector(np.array([0, 0, np.pi / 2])), QUARTER_TURN, atol=1e-15)
    np.testing.assert_array_equal(rotation_from_vector(np.zeros(3)), np.eye(3))


def test_the_cross_matrix_is_the_cross_product():
    rng = np.random.default_rng(4)
    u, v = rng.normal(size=(2, 5, 3))
    np.testing.assert_allclose(np.einsum("nab,nb->na", cross_matrix(u), v), np.cross(u, v), atol=1e-15)


def test_the_angle_of_a_rotation_in_degrees():
    vectors = np.radians([[0, 0, 90.0], [0, 30.0, 0], [0, 0, 0], [1e-7, 0, 0], [180.0, 0, 0]])
    angles = rotation_angle(rotation_from_vector(vectors))
    np.testing.assert_allclose(angles, [90.0, 30.0, 0.0, 1e-7, 180.0], rtol=1e-9, atol=1e-12)


def test_a_direction_is_turned_onto_the_axis_by_the_angle_between_them():
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(20, 3)) + np.array([0, 0, 3.0])
    R = rotation_onto_axis(directions)
    turned = np.einsum("nab,nb->na", R, directions)
    length = np.linalg.norm(directions, axis=1)
    np.testing.assert_allclose(turned[:, :2], 0.0, atol=1e-14)
    np.testing.assert_allclose(turned[:, 2], length, rtol=1e-14)
    np.testing.assert_allclose(rotation_angle(R), np.degrees(np.arccos(directions[:, 2] / length)), rtol=1e-7)


def test_rq_splits_a_camera_matrix_into_intrinsics_and_rotation():
    K = np.array([[1400.0, 3.0, 640.0], [0.0, 1390.0, 480.0], [0.0, 0.0, 1.0]])
    T, Q = rq(K @ QUARTER_TURN)
    np.testing.assert_allclose(T, K, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(Q, QUARTER_TURN, atol=1e-12)


def test_levenberg_marquardt_crosses_the_banana_valley():
    def rosenbrock(x):
        return np.array([1.0 - x[0], 10.0 * (x[1] - x[0] ** 2)]), np.array(
            [[-1.0, 0.0], [-20.0 * x[0], 10.0]]
        )

    best = levenberg_marquardt(rosenbrock, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(best.x, [1.0, 1.0], rtol=1e-8)
    assert best.cost < 1e-16
