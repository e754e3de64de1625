from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.io
from sharing import called_by_tests

from core import InputError, read_sequence
from core.cameras import MetricUpgrade, metric_upgrade
from core.cameras.absolute_quadric import _calibrated, _linear, _root, constraint_residuals
from core.foundation import procrustes, rotation_from_vector
from core.foundation.linalg import rotation_angle

CENTER = (640.0, 480.0)


@dataclass
class Scene:
    """True cameras and points, their picture, and a projective copy of them."""

    rotations: np.ndarray
    translations: np.ndarray
    intrinsics: np.ndarray
    points: np.ndarray

    def pictured(self) -> np.ndarray:
        X = self.rotations @ self.points + self.translations[:, :, None]
        X = self.intrinsics @ X
        return X[:, :2] / X[:, 2:]

    def projective(self, seed: int, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return cameras and points in a random frame, every one scaled and signed at random."""
        random = np.random.default_rng(seed)
        H = random.standard_normal((4, 4))
        P = self.intrinsics @ np.concatenate((self.rotations, self.translations[:, :, None]), axis=2)
        P = P * (1 + noise * random.standard_normal(P.shape))
        U = np.vstack((self.points, np.ones(self.points.shape[1])))
        sizes = np.exp(random.standard_normal(len(P))) * random.choice([-1, 1], len(P))
        lengths = np.exp(random.standard_normal(U.shape[1])) * random.choice([-1, 1], U.shape[1])
        return P @ H * sizes[:, None, None], np.linalg.solve(H, U) * lengths

    def upgraded(self, *, known: bool, seed: int = 1, noise: float = 0.0) -> MetricUpgrade:
        tracks = self.pictured()
        half = np.random.default_rng(seed).random(((len(tracks) + 1) // 2, tracks.shape[2])) < 0.8
        visible = np.concatenate((half, half))[: len(tracks)]
        P, U = self.projective(seed, noise)
        K, tracks = self.intrinsics if known else None, np.where(visible[:, None], tracks, np.nan)
        return metric_upgrade(P, U, tracks=tracks, visible=visible, intrinsics=K)

    def distance(self, upgrade: MetricUpgrade) -> float:
        """Return the largest distance of a point from the truth after a similarity without reflection."""
        moved = procrustes(upgrade.points, self.points).apply(upgrade.points)
        return float(np.linalg.norm(moved - self.points, axis=0).max())


@called_by_tests
def scene(views: int = 7, points: int = 40, focal: float = 1300.0, seed: int = 0) -> Scene:
    random = np.random.default_rng(seed)
    R = rotation_from_vector(random.standard_normal((views, 3)) * [0.4, 0.8, 0.3])
    t = np.column_stack((0.3 * random.standard_normal((views, 2)), 6 + 2 * random.random(views)))
    roll = np.diag([-1.0, -1.0, 1.0])  # every view upside down, too: the principal point is in the middle
    R, t = np.concatenate((R, roll @ R)), np.concatenate((t, t @ roll))
    K = np.array([[focal, 0, CENTER[0]], [0, focal, CENTER[1]], [0, 0, 1]])
    return Scene(R, t, K, random.standard_normal((3, points)))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_a_projective_copy_of_a_scene_is_recovered_up_to_a_similarity(scene, seed, known):
    truth = scene(seed=seed, focal=700.0 * (seed + 1))
    found = truth.upgraded(known=known, seed=seed)
    assert truth.distance(found) < 1e-9
    assert found.intrinsics == pytest.approx(truth.intrinsics, rel=1e-8)
    assert found.in_front == 1.0
    assert found.constraint_rms < 1e-10
    assert found.metric_rms < 1e-7
    # The frame is that of the first camera, and the points have unit spread.
    assert found.rotations[0] == pytest.approx(np.eye(3), abs=1e-12)
    assert found.points.mean(axis=1) == pytest.approx(np.zeros(3), abs=1e-9)
    assert np.mean(np.sum(found.points**2, axis=0)) == pytest.approx(1.0)
    # Rotations between views do not depend on the object frame.
    turned = found.rotations @ found.rotations[0].T
    true = truth.rotations @ truth.rotations[0].T
    assert rotation_angle(turned.transpose(0, 2, 1) @ true).max() < 1e-6


def test_the_returned_matrix_is_the_upgrade(scene):
    truth = scene()
    P, U = truth.projective(seed=1)
    found = truth.upgraded(known=True, seed=1)
    M = np.linalg.inv(truth.intrinsics) @ P @ found.upgrade
    Rt = np.concatenate((found.rotations, found.translations[:, :, None]), axis=2)
    scale = np.einsum("fab,fab->f", M, Rt) / np.einsum("fab,fab->f", Rt, Rt)
    assert pytest.approx(scale[:, None, None] * Rt, abs=1e-10 * np.abs(M).max()) == M
    S = np.linalg.solve(found.upgrade, U)
    assert S[:3] / S[3] == pytest.approx(found.points, abs=1e-9)


def test_constraints_have_the_derivatives_of_finite_differences(scene):
    truth = scene(views=4)
    P, _ = truth.projective(seed=3)
    A = P / np.linalg.norm(P, axis=(1, 2), keepdims=True)
    x = np.random.default_rng(2).standard_normal(13)
    _, J = constraint_residuals(A, x)
    step = 1e-6
    for column, unit in enumerate(np.eye(13)):
        plus, _ = constraint_residuals(A, x + step * unit)
        minus, _ = constraint_residuals(A, x - step * unit)
        assert J[:, column] == pytest.approx((plus - minus) / (2 * step), rel=1e-4, abs=1e-5)


def test_a_translation_without_rotation_upgrades_with_a_known_focal_length_only(scene):
    truth = scene()
    truth.rotations = np.broadcast_to(np.eye(3), truth.rotations.shape)
    truth.translations = truth.translations + np.random.default_rng(4).standard_normal((14, 3))
    assert truth.distance(truth.upgraded(known=True)) < 1e-8
    with pytest.raises(InputError, match="does not determine it"):
        truth.upgraded(known=False)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_views_from_one_place_are_refused(scene, noise):
    truth = scene()
    truth.rotations = rotation_from_vector(0.2 * np.random.default_rng(5).standard_normal((7, 3)))
    truth.translations = truth.rotations @ np.array([0.0, 0.0, 9.0])
    with pytest.raises(InputError, match="one place"):
        truth.upgraded(known=True, noise=noise)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("two views", "2 views; a metric upgrade needs at least 3"),
        ("plane", "plane"),
        ("affine", "affine"),
        ("no cameras", "no positive semidefinite quadric"),
        ("other intrinsics", "intrinsics are wrong"),
    ],
)
def test_what_has_no_upgrade_is_refused(scene, kind, message):
    truth = scene(views=1 if kind == "two views" else 7)
    if kind == "plane":
        truth.points[2] = 0.3 * truth.points[0] - 0.1
    P, U = truth.projective(seed=1)
    K = truth.intrinsics.copy()
    if kind == "affine":
        P = K @ np.concatenate((truth.rotations, truth.translations[:, :, None]), axis=2)
        P[:, 2, :3] = 0.0
        U = np.vstack((truth.points, np.ones(40)))
    if kind == "no cameras":
        P = np.random.default_rng(7).standard_normal((7, 3, 4))
    X = P @ U
    if kind == "other intrinsics":
        K[0, 0] *= 4.0
    visible = np.ones((len(P), 40), dtype=bool)
    with pytest.raises(InputError, match=message):
        metric_upgrade(P, U, tracks=X[:, :2] / X[:, 2:], visible=visible, intrinsics=K)


def test_the_cameras_of_door_are_recovered_from_a_random_frame(data):
    path = data / "real" / "door" / "data.mat"
    sequence = read_sequence(path)
    content = scipy.io.loadmat(path)
    P, U = np.stack(list(content["P"][0])), content["U"]
    H = np.random.default_rng(8).standard_normal((4, 4))
    given = {"tracks": sequence.tracks, "visible": sequence.visible}
    true = U[:3] / U[3]
    exact = metric_upgrade(P @ H, np.linalg.solve(H, U), intrinsics=sequence.intrinsics, **given)
    assert procrustes(exact.points, true).apply(exact.points) == pytest.approx(true, abs=1e-9)
    assert exact.metric_rms == pytest.approx(0.41, abs=0.01)
    assert exact.in_front == 1.0
    found = metric_upgrade(P @ H, np.linalg.solve(H, U), **given)
    assert found.intrinsics[0, 0] == pytest.approx(2396.0, rel=0.02)
    assert found.metric_rms < 0.6


def test_the_linear_solution_alone_is_exact_where_the_cameras_are():
    random = np.random.default_rng(5)
    R = rotation_from_vector(random.standard_normal((7, 3)))
    cameras = np.concatenate((R, random.standard_normal((7, 3, 1))), axis=2) @ random.standard_normal((4, 4))
    residuals, _ = constraint_residuals(cameras, _root(_linear(cameras, _calibrated)).ravel())
    assert np.abs(residuals).max() < 1e-8
