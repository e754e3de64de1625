import numpy as np
import pytest
import scipy.io

from core import InputError
from core.cameras import estimate_rotations
from core.experiments.mocap import PUBLISHED_E3D, bmm_rows, load_mocap, rotation_error
from core.foundation import rotation_from_vector
from core.foundation.linalg import nearest_rotation

FRAMES, POINTS = 40, 37


def moving_object(seed=0):
    """A body of two shapes: S (F, 3, P), and a camera that goes around it."""
    random = np.random.default_rng(seed)
    body = random.standard_normal((2, 3, POINTS)) * np.array([1.0, 0.3])[:, None, None]
    phase = np.linspace(0, 6, FRAMES)
    S = np.einsum("fk,kap->fap", np.stack([np.ones(FRAMES), np.sin(2 * phase)], 1), body)
    S -= S.mean(axis=2, keepdims=True)
    turns = np.stack([0.3 * np.sin(phase), phase, 0.1 * np.cos(phase)], axis=1)
    return S, rotation_from_vector(turns)


def save(path, S, tracks, R=None):
    cameras = {} if R is None else {"Rs": R[:, :2].reshape(-1, 3)}
    scipy.io.savemat(path, {"S": S.reshape(-1, POINTS), "W": tracks.reshape(-1, POINTS), **cameras})
    return path


@pytest.mark.slow
def test_with_true_rotations_a_rank_two_body_is_recovered_by_both_methods(tmp_path, monkeypatch):
    monkeypatch.setattr("core.experiments.mocap.BMM_MAX_ITERATIONS", 300)
    S, R = moving_object()
    path = save(tmp_path / "pickup.mat", 5 * S, 5 * (R @ S)[:, :2] + 3.0, R)
    rows = {(row["method"], row["rotations"]): row for row in bmm_rows(path)}
    assert set(rows) == {(m, r) for m in ("BMM", "R-BMM") for r in ("estimated", "true")}
    for method in ("BMM", "R-BMM"):
        row = rows[method, "true"]
        assert row["rotation_error"] < 1e-5
        # With the true cameras the two errors are of the same shapes, turned: they nearly agree.
        assert row["camera"] == pytest.approx(row["object"], rel=0.1)
        assert row["published"] == PUBLISHED_E3D["pickup"].e3d[method == "R-BMM"]
    assert rows["R-BMM", "true"]["camera"] < 0.02
    assert rows["BMM", "true"]["camera"] < 0.25
    assert rows["R-BMM", "true"]["camera"] < 0.1 * rows["BMM", "true"]["camera"]


def test_errors_of_rotations_appear_in_the_coordinates_of_the_object_only(tmp_path, monkeypatch):
    S, R = moving_object()
    path = save(tmp_path / "pickup.mat", S, (R @ S)[:, :2], R)
    wobble = rotation_from_vector(0.1 * np.random.default_rng(3).standard_normal((FRAMES, 3)))
    estimate = type("Estimate", (), {"R": R @ wobble})
    monkeypatch.setattr("core.experiments.mocap.estimate_rotations", lambda *_, **__: estimate)
    row = bmm_rows(path, methods=("R-BMM",))[0]
    assert row["rotations"] == "estimated"
    assert 5 < row["rotation_error"] < 15  # degrees: 0.1 radians in each of three directions
    assert row["object"] > 2 * row["camera"]


@pytest.mark.slow
def test_a_fixed_camera_is_found_and_its_turned_object_measured_in_its_coordinates(tmp_path):
    S, R = moving_object()
    seen = R @ S
    axes = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    path = save(tmp_path / "dance.mat", axes.T @ seen, seen[:, :2])
    sequence = load_mocap(path)
    assert not sequence.moving
    np.testing.assert_allclose(sequence.rotations, np.broadcast_to(axes, (FRAMES, 3, 3)), atol=1e-10)
    np.testing.assert_allclose((sequence.rotations @ sequence.shapes)[:, :2], sequence.tracks, atol=1e-10)
    assert np.square(sequence.tracks).mean() == pytest.approx(1)
    rows = bmm_rows(path, methods=("R-BMM",))
    (row,) = rows
    assert (row["rotations"], row["object"], row["rotation_error"]) == ("estimated", None, None)
    assert rows[0]["camera"] < 0.1


def test_the_rotation_error_is_the_angle_that_no_common_turn_nor_reflection_removes():
    _, R = moving_object()
    turn = rotation_from_vector(np.array([0.4, -1.0, 2.0]))
    mirror = np.diag([1.0, 1.0, -1.0])
    assert rotation_error(R @ turn, R) < 1e-5
    assert rotation_error(mirror @ R @ turn @ mirror, R) < 1e-5
    axis = np.random.default_rng(1).standard_normal((FRAMES, 3))
    axis *= np.radians(4.0) / np.linalg.norm(axis, axis=1, keepdims=True)
    axis[::2] = -axis[1::2]  # pairs of turns that cancel, so that no common one helps
    assert rotation_error(R @ rotation_from_vector(axis), R) == pytest.approx(4.0, rel=1e-2)
    assert nearest_rotation(R).shape == R.shape


def test_what_the_table_cannot_use_is_refused(tmp_path):
    S, R = moving_object()
    with pytest.raises(InputError, match="is none of the published sequences"):
        bmm_rows(save(tmp_path / "other.mat", S, (R @ S)[:, :2], R))
    with pytest.raises(InputError, match="no fixed one makes its tracks"):
        bmm_rows(save(tmp_path / "dance.mat", S, (R @ S)[:, :2]))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [5, 7])
def test_rotations_of_stretch_are_found_at_ranks_of_many_local_minima(data, rank):
    sequence = load_mocap(data / "real" / "mocap" / "stretch.mat")
    everywhere = np.ones((len(sequence.tracks), sequence.tracks.shape[2]), dtype=bool)
    found = estimate_rotations(sequence.tracks, everywhere, rank=rank).R
    assert rotation_error(found, sequence.rotations) < 8  # degrees; 41 and 71 in the nearest other minima


@pytest.mark.slow
def test_pickup_is_as_measured(data):
    """With estimated rotations; R-BMM's published error is .0198."""
    row = bmm_rows(data / "real" / "mocap" / "pickup.mat", methods=("R-BMM",))[0]
    assert row["camera"] == pytest.approx(0.0300, rel=0.1)
    assert row["object"] == pytest.approx(0.163, rel=0.1)
