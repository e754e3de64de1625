import numpy as np

from core.canonical import canonical, turns_to_mean
from core.factors import Factors
from core.linalg import nearest_rotation, rotation_angle, rotation_from_vector

FRAMES, POINTS = 12, 15


def rng_shapes(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return deforming shapes whose best turns are the identity nearly, and rotations to turn them by."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(3, POINTS))
    mean -= mean.mean(axis=1, keepdims=True)
    return mean, rotation_from_vector(0.8 * rng.normal(size=(FRAMES, 3)))


def factors_of(shapes: np.ndarray, rank: int, s: np.ndarray) -> Factors:
    U, sigma, Vt = np.linalg.svd(shapes.reshape(len(shapes), -1), full_matrices=False)
    return Factors(U[:, :rank] * sigma[:rank], Vt[:rank].reshape(rank, 3, -1), s)


def test_a_turning_rigid_shape_is_turned_back_and_becomes_rank_one():
    mean, turns = rng_shapes()
    shapes = turns.transpose(0, 2, 1) @ mean
    A = turns_to_mean(shapes)
    relative = A @ turns.transpose(0, 2, 1)  # one common rotation
    common = nearest_rotation(relative.sum(axis=0))
    assert rotation_angle(common.T @ relative).max() < 1e-5
    turned = (A @ shapes).reshape(FRAMES, -1)
    sigma = np.linalg.svd(turned, compute_uv=False)
    assert sigma[1] < 1e-6 * sigma[0]


def test_no_other_turn_of_a_frame_brings_it_nearer_to_the_mean():
    rng = np.random.default_rng(1)
    mean, turns = rng_shapes(1)
    shapes = turns @ (mean + 0.2 * rng.normal(size=(FRAMES, 3, POINTS)))
    A = turns_to_mean(shapes)
    centered = shapes - shapes.mean(axis=2, keepdims=True)
    turned = A @ centered
    average = turned.mean(axis=0)
    least = np.linalg.norm(turned - average, axis=(1, 2))
    for _ in range(100):
        other = rotation_from_vector(0.05 * rng.normal(size=(FRAMES, 3))) @ turned
        assert (np.linalg.norm(other - average, axis=(1, 2)) >= least - 1e-6).all()


def test_the_canonical_form_explains_the_same_tracks():
    mean, turns = rng_shapes(2)
    rng = np.random.default_rng(3)
    shapes = turns.transpose(0, 2, 1) @ mean
    s = rng.normal(size=(FRAMES, 3))
    R = rotation_from_vector(rng.normal(size=(FRAMES, 3)))
    factors = factors_of(shapes, FRAMES, s)
    new_R, new = canonical(R, factors)
    np.testing.assert_allclose(
        new_R @ new_R.transpose(0, 2, 1), np.tile(np.eye(3), (FRAMES, 1, 1)), atol=1e-12
    )
    before = R @ (factors.shapes() + s[:, :, None])
    after = new_R @ (new.shapes() + new.s[:, :, None])
    np.testing.assert_allclose(after, before, atol=1e-9)
    assert new.rank == factors.rank and np.linalg.norm(new.B[:, 1]) < 1e-3 * np.linalg.norm(new.B[:, 0])


def test_shapes_that_do_not_turn_stay_as_they_are():
    mean, _ = rng_shapes(4)
    size = np.linspace(0.5, 1.5, FRAMES)[:, None, None]
    A = turns_to_mean(size * mean)
    np.testing.assert_allclose(A, np.tile(np.eye(3), (FRAMES, 1, 1)), atol=1e-12)
