from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from core import CameraModel, InputError, Observations, Sequence, read_sequence, reconstruct
from core.cameras import estimate_rotations, load_rotations
from core.cameras.calibration import project
from core.cameras.factorization import (
    canonical,
    centered_and_complete,
    continuous,
    flip_depth,
    largest_rank,
    triplet_residuals,
)
from core.cameras.rigid import refine_rigid
from core.cameras.rotations import rotate_to_object, rotation_candidates
from core.data.sequence import check_rotations
from core.foundation import procrustes, rotation_from_vector
from core.foundation.linalg import nearest_rotation, rotation_angle


@dataclass
class World:
    """A deforming object of a given rank, seen by a turning camera."""

    R: np.ndarray  # (F, 3, 3)
    S: np.ndarray  # (F, 3, P)


def world(rank: int, frames: int = 30, points: int = 20, seed: int = 0) -> World:
    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, 1.0, frames)
    turns = np.stack([0.8 * np.sin(5 * s), 2.5 * s, 0.5 * np.cos(4 * s)], axis=1)
    basis = rng.normal(size=(rank, 3, points))
    basis -= basis.mean(axis=2, keepdims=True)
    waves = (0.4 * np.sin((k + 2) * 3 * s + k) for k in range(1, rank))
    weights = np.stack([np.ones(frames), *waves], axis=1)
    return World(rotation_from_vector(turns), np.einsum("fk,kap->fap", weights, basis))


def orthographic(scene: World) -> np.ndarray:
    return (scene.R @ scene.S)[:, :2] + np.array([[3.0], [-7.0]])


def everything(tracks: np.ndarray) -> np.ndarray:
    return np.ones((len(tracks), tracks.shape[2]), dtype=bool)


def angles(R: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return degrees between R and the truth, after the best common rotation and the better reflection."""
    both = []
    for estimate in (R, flip_depth(R)):
        relative = truth.transpose(0, 2, 1) @ estimate
        common = nearest_rotation(relative.sum(axis=0))
        both.append(rotation_angle(common.T @ relative))
    return min(both, key=np.mean)


@pytest.mark.parametrize(("rank", "tolerance"), [(1, 1e-6), (2, 1e-6), (3, 1e-5)])
def test_orthographic_tracks_recover_the_rotations(rank, tolerance):
    scene = world(rank)
    scales = np.linspace(1.1, 3.3, 30)[:, None, None]  # the unit, and that of single frames, does not matter
    tracks = orthographic(scene) * (scales if rank == 2 else 1.0)
    found = estimate_rotations(tracks, everything(tracks), rank=rank)
    check_rotations(found.R, "R")
    assert np.radians(angles(found.R, scene.R)).max() < tolerance
    assert found.cost < 1e-12


def test_hidden_entries_are_filled_in():
    scene = world(2, frames=60, points=40)
    tracks = orthographic(scene)
    visible = np.random.default_rng(1).random(size=(60, 40)) > 0.3
    hidden = np.where(visible[:, None, :], tracks, np.nan)
    found = estimate_rotations(hidden, visible, rank=2)
    assert angles(found.R, scene.R).max() < 0.5
    completed = centered_and_complete(hidden, visible, 6)
    centered = tracks - tracks.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(completed, centered, atol=2e-3)


@pytest.mark.parametrize(("shapes", "rank", "noise"), [(2, 6, 1e-3), (1, 4, 1e-4)])
def test_completed_tracks_do_not_depend_on_the_last_bits_of_the_seen_ones(shapes, rank, noise):
    rng = np.random.default_rng(0)
    tracks = orthographic(world(shapes, frames=40, points=37)) + noise * rng.normal(size=(40, 2, 37))
    visible = rng.random((40, 37)) > 0.3
    completed = centered_and_complete(tracks, visible, 3 * rank)
    rounded = tracks * (1.0 + 1e-15 * rng.normal(size=tracks.shape))
    again = centered_and_complete(rounded, visible, 3 * rank)
    np.testing.assert_allclose(again, completed, atol=1e-9 * np.abs(completed).max())


@pytest.mark.parametrize("rank", [1, 2, 3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_rotations_do_not_depend_on_the_last_bits_of_the_tracks(rank, noise):
    scene = world(2, frames=24, points=31)
    rng = np.random.default_rng(6)
    tracks = orthographic(scene) + noise * rng.normal(size=(24, 2, 31))
    found = estimate_rotations(tracks, everything(tracks), rank=rank)
    rounded = (tracks * (1.0 + 1e-14 * rng.normal(size=tracks.shape)))[:, :, rng.permutation(31)]
    again = estimate_rotations(rounded, everything(tracks), rank=rank)
    np.testing.assert_allclose(again.R, found.R, atol=1e-5)
    if rank > 1 and not noise:
        assert angles(found.R, scene.R).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("shapes", "seed"), [(5, 3), (6, 0)])
def test_the_cost_of_the_triplet_does_not_rise_with_the_rank(shapes, seed):
    tracks = orthographic(world(shapes, points=40, seed=seed))
    costs = [estimate_rotations(tracks, everything(tracks), rank=rank).cost for rank in range(1, 7)]
    assert all(b <= (1 + 1e-8) * a + 1e-14 for a, b in pairwise(costs)), costs


def test_rotations_that_explain_the_same_tracks_have_one_canonical_form():
    R = canonical(world(1).R)
    np.testing.assert_allclose(R[0], np.eye(3), atol=1e-14)
    turn = rotation_from_vector(np.array([0.4, -1.0, 2.0]))
    for same in (R, R @ turn, flip_depth(R), flip_depth(R) @ turn):
        np.testing.assert_allclose(canonical(same), R, atol=1e-14)
    still = np.tile(np.eye(3), (4, 1, 1))
    np.testing.assert_array_equal(canonical(still), still)
    broken = R.copy()
    broken[[*range(7, 19), 25], :2] *= -1.0  # sudden half turns, which are reversed
    np.testing.assert_allclose(continuous(broken), R, atol=1e-15)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_jacobian_of_the_triplet_matches_finite_differences(rank):
    rng = np.random.default_rng(rank)
    motion, g = rng.normal(size=(7, 2, 3 * rank)), rng.normal(size=(3 * rank, 3))
    r, J = triplet_residuals(motion, g)
    larger = triplet_residuals(motion, 1e200 * g)  # the same, however large it becomes
    np.testing.assert_allclose(larger[0], r, rtol=1e-12)
    np.testing.assert_allclose(larger[1] * 1e200, J, rtol=1e-9, atol=1e-12)
    assert r.shape == (14,) and J.shape == (14, 9 * rank)
    a, b = motion[2] @ g
    np.testing.assert_allclose(r[4:6], [1 - b @ b / (a @ a), 2 * a @ b / (a @ a)], rtol=1e-12)
    step = 1e-6
    for n in range(9 * rank):
        change = np.zeros(9 * rank)
        change[n] = step
        change = change.reshape(g.shape)
        numeric = triplet_residuals(motion, g + change)[0] - triplet_residuals(motion, g - change)[0]
        np.testing.assert_allclose(J[:, n], numeric / (2 * step), rtol=1e-5, atol=1e-6)


def test_a_camera_rotated_to_the_object_has_it_on_its_axis():
    scene = world(1)
    Y = scene.R @ scene.S + np.array([[6.0], [-5.0], [12.0]])
    tracks = project(Y, np.eye(3), CameraModel.PERSPECTIVE)
    visible = everything(tracks)
    visible[3, 4] = False
    tracks[3, :, 4] = np.nan
    turned, turns = rotate_to_object(tracks, visible)
    again = project(turns @ Y, np.eye(3), CameraModel.PERSPECTIVE)
    np.testing.assert_allclose(turned, np.where(visible[:, None, :], again, 0.0), atol=1e-12)
    mean = turned.sum(axis=2) / visible.sum(axis=1)[:, None]
    assert np.abs(mean).max() < 0.1 < np.abs(np.nanmean(tracks, axis=2)).min()


def test_rotations_are_read_from_a_file_and_checked(tmp_path):
    R, file = world(1).R, tmp_path / "cameras.npz"
    np.savez(file, R=R.astype(np.float32), S=np.zeros(3))
    loaded = load_rotations(file)
    np.testing.assert_allclose(loaded, R, atol=1e-6)
    check_rotations(loaded, "R")
    turned, unknown = R.copy(), R.copy()
    turned[4] *= -1.0
    unknown[2] = np.nan
    for arrays, message in (
        ({"Q": R}, "holds Q 30 x 3 x 3"),
        ({"R": R[0]}, "holds R 3 x 3"),
        ({"R": np.full((2, 3, 3), 1e300)}, "frame 0 .* is not a rotation"),
        ({"R": turned}, "frame 4"),
        ({"R": unknown}, "frame 2"),
    ):
        np.savez(file, **arrays)
        with pytest.raises(InputError, match=rf"cameras\.npz.*{message}"):
            load_rotations(file)
    sequence, tracks = perspective_sequence(world(1))
    np.savez(file, R=R)
    (found,) = rotation_candidates(sequence, tracks, source=file)
    assert found.name == "cameras.npz"
    np.testing.assert_allclose(found.compute(), R, atol=1e-12)
    np.savez(file, R=R[:7])
    with pytest.raises(InputError, match=r"cameras\.npz: R has 7 frames; the tracks of world have 30"):
        rotation_candidates(sequence, tracks, source=file)


def perspective_sequence(scene: World, *, noise: float = 0.0, **known) -> tuple[Sequence, np.ndarray]:
    """Return calibrated perspective tracks of a world at a distance of 5, as a sequence."""
    Y = 0.4 * scene.R @ scene.S + np.array([[0.3], [-0.2], [5.0]])
    tracks = project(Y, np.eye(3), CameraModel.PERSPECTIVE)
    tracks += noise * np.random.default_rng(8).normal(size=tracks.shape)
    return Sequence(tracks, everything(tracks), CameraModel.PERSPECTIVE, "world", **known), tracks


def with_companion(scene: World) -> tuple[Sequence, np.ndarray]:
    tracks = orthographic(scene)
    return perspective_sequence(scene, companion=Observations(tracks, everything(tracks)), rotations=scene.R)


def test_a_rigid_object_in_perspective_recovers_its_rotations():
    scene = world(1)
    sequence, tracks = perspective_sequence(scene)
    turn = rotation_from_vector(0.2 * np.random.default_rng(9).normal(size=(30, 3)))
    found = refine_rigid(tracks, sequence.visible, turn @ scene.R)
    assert found.loss == pytest.approx(refine_rigid(tracks, sequence.visible, scene.R).loss, rel=1e-2)
    assert angles(found.R, scene.R).max() < 1.0  # the affine part of pOSE moves the minimum a little


def test_the_loss_of_the_rigid_shape_is_the_pose_error_written_out():
    scene = world(2)
    sequence, tracks = perspective_sequence(scene, noise=0.01)
    visible = np.random.default_rng(10).random(size=sequence.visible.shape) > 0.2
    found = refine_rigid(np.where(visible[:, None, :], tracks, np.nan), visible, scene.R)
    Y = found.size[:, None, None] * found.R @ found.S + found.t[:, :, None]
    squares = 0.05 * (Y[:, :2] - tracks) ** 2 + 0.95 * (Y[:, :2] - Y[:, 2:] * tracks) ** 2
    assert found.loss == pytest.approx((squares * visible[:, None]).sum(), rel=1e-6)
    check_rotations(found.R, "R")


def test_a_mirrored_pose_of_a_flat_object_is_put_right_by_perspective():
    scene = world(1)
    scene.S[:, 2] *= 0.05
    sequence, tracks = perspective_sequence(scene)
    wrong = scene.R.copy()
    normal = np.array([0.0, 0.0, 1.0])
    mirror = np.diag([1.0, 1.0, -1.0])
    wrong[[3, 11, 12, 20]] = mirror @ wrong[[3, 11, 12, 20]] @ (np.eye(3) - 2.0 * np.outer(normal, normal))
    assert angles(wrong, scene.R).max() > 20.0
    found = refine_rigid(tracks, sequence.visible, wrong)
    assert angles(found.R, scene.R).max() < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_rigid_refinement_does_not_depend_on_the_last_bits_of_its_start(seed):
    rng = np.random.default_rng(seed)
    scene = world(2, seed=seed)
    scene.S[:, 2] *= 0.2
    sequence, tracks = perspective_sequence(scene, noise=0.01)
    start = rotation_from_vector(0.5 * rng.normal(size=(30, 3))) @ scene.R  # some lead to mirrored poses
    found = refine_rigid(tracks, sequence.visible, start)
    for _ in range(3):
        rounded = rotation_from_vector(1e-14 * rng.normal(size=(30, 3))) @ start
        again = refine_rigid(tracks, sequence.visible, rounded)
        np.testing.assert_allclose(again.R, found.R, atol=1e-10)


def test_candidates_of_each_source_have_readable_names():
    sequence, tracks = with_companion(world(2))

    def names(source, sequence=sequence, rank=None):
        return [each.name for each in rotation_candidates(sequence, tracks, source=source, rank=rank)]

    both = ["", ", flipped"]
    companion = [f"companion, rank {K}{flip}" for K in (1, 2, 3, 4) for flip in both]
    own = [f"tracks, rank {K}{flip}" for K in (2, 3) for flip in both]
    own += [f"tracks, rigid{flip}" for flip in both]
    assert names("companion") == companion and names("tracks") == own and names("best") == companion + own
    assert names("truth") == ["truth"] and names("tracks", rank=3) == own[2:4]
    flat = replace(sequence, camera=CameraModel.ORTHOGONAL)  # its own companion: no depth, no reflection
    for source in ("best", "companion", "tracks"):
        assert names(source, flat) == [f"tracks, rank {rank}" for rank in (1, 2, 3, 4)]


def test_ranks_that_cannot_be_are_skipped_or_refused():
    assert largest_rank(4, 8) == 2 and largest_rank(4, 20) == 2 and largest_rank(50, 8) == 2
    sequence, tracks = with_companion(world(1, frames=12, points=7))
    for rank in (0, 3):
        with pytest.raises(InputError, match=f"rotation rank is {rank}.*1 to 2"):
            estimate_rotations(tracks, everything(tracks), rank=rank)
    with pytest.raises(InputError, match="rotation rank is 3; 12 frames of 7 points allow 1 to 2"):
        rotation_candidates(sequence, tracks, source="tracks", rank=3)
    assert len(rotation_candidates(sequence, tracks, source="companion")) == 4
    few, tracks = perspective_sequence(world(1, frames=12, points=5))
    assert rotation_candidates(few, tracks, source="tracks")[0].name == "tracks, rank 1"


def test_the_flipped_candidate_is_the_depth_reflection_of_the_other():
    scene = world(2)
    sequence, tracks = with_companion(scene)
    plain, flipped = rotation_candidates(sequence, tracks, source="companion", rank=2)
    np.testing.assert_array_equal(flipped.compute(), flip_depth(plain.compute()))
    assert np.radians(angles(plain.compute(), scene.R)).max() < 1e-6
    np.testing.assert_array_equal(rotation_candidates(sequence, tracks, source="truth")[0].compute(), scene.R)


def test_rotations_from_perspective_tracks_are_close_to_the_truth():
    scene = world(1)
    sequence, tracks = perspective_sequence(scene)
    candidates = rotation_candidates(sequence, tracks, source="tracks", rank=1)
    assert min(angles(item.compute(), scene.R).mean() for item in candidates) < 5.0
    rigid = [item for item in rotation_candidates(sequence, tracks, source="tracks") if "rigid" in item.name]
    assert min(angles(item.compute(), scene.R).mean() for item in rigid) < 0.5


@pytest.mark.parametrize("source", ["companion", "tracks"])
def test_rotations_of_many_points_are_estimated_from_some_of_them(monkeypatch, source):
    scene = world(2, points=60)
    sequence, tracks = with_companion(scene)
    visible = sequence.visible.copy()
    visible[3] = False
    visible[3, [1, 2, 4, 5]] = True  # none of which is among the evenly spaced ones
    gappy = replace(sequence, visible=visible, companion=Observations(sequence.companion.tracks, visible))
    some = np.linspace(0, 59, 20).round().astype(int)
    companion = Observations(sequence.companion.tracks[:, :, some], sequence.visible[:, some])
    part = replace(sequence, tracks=tracks[:, :, some], visible=companion.visible, companion=companion)

    def rotations(sequence, tracks=tracks):
        return rotation_candidates(sequence, tracks, source=source)[0].compute()

    complete, of_gappy, expected = rotations(sequence), rotations(gappy), rotations(part, tracks[:, :, some])
    monkeypatch.setattr("core.cameras.rotations.MOST_OBSERVATIONS", 30 * 20)
    monkeypatch.setattr("core.cameras.rotations.FEWEST_POINTS", 15)
    R = rotations(sequence)
    np.testing.assert_allclose(R, expected, atol=1e-9)
    assert np.abs(R - complete).max() > 1e-6
    assert angles(R, scene.R).mean() < 12.0
    np.testing.assert_array_equal(rotations(gappy), of_gappy)  # no frame loses its last visible points


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("truth", "world: the true rotations are not known"),
        ("companion", "world: there are no companion tracks"),
        ("guess", "'guess'; accepted are best, truth, companion, tracks"),
    ],
)
def test_a_source_that_does_not_exist_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        rotation_candidates(*perspective_sequence(world(1)), source=source)


def test_rotations_of_a_real_face_are_within_a_few_degrees(data):
    sequence = read_sequence(data / "challenge_like" / "face" / "sequence" / "perspective" / "zigzag.txt")
    assert sequence.companion is not None and sequence.rotations is not None
    found = estimate_rotations(sequence.companion.tracks, sequence.companion.visible, rank=2)
    # The face turns by itself too: its own turns are part of what is found.
    shapes = sequence.truth.points
    turns = procrustes(shapes, np.broadcast_to(shapes.mean(axis=0), shapes.shape), scale=False).rotation
    expected = sequence.rotations @ turns.transpose(0, 2, 1)
    assert angles(found.R, expected).mean() < 1.5


@pytest.mark.parametrize("source", ["tracks", "truth"])
def test_perspective_tracks_that_all_coincide_are_refused(source):
    tracks = np.full((6, 2, 9), 0.3) + 0.3 * np.arange(6.0)[:, None, None]  # one place, which moves
    visible = np.arange(54).reshape(6, 9) % 7 > 0
    rotations = np.repeat(np.eye(3)[None], 6, axis=0)
    sequence = Sequence(tracks, visible, CameraModel.PERSPECTIVE, "heap", rotations=rotations)
    with pytest.raises(InputError, match="heap: all visible tracks of every frame coincide"):
        reconstruct(sequence, rank=2, rotations=source, intrinsics="calibrated", objective="wnn")
    with pytest.raises(InputError, match="all visible tracks of every frame coincide"):
        estimate_rotations(tracks, visible, rank=1)
