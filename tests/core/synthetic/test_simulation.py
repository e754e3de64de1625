"""The simulated objects, cameras and occlusion, each against an independent calculation."""

import numpy as np
import pytest

from core import (
    CameraModel,
    InputError,
    bundled_samples,
    list_sequences,
    read_sequence,
    sample_path,
    simulate,
    write_challenge,
)
from core.synthetic import KINDS, PATHS
from core.synthetic.simulation import cameras

ORTHOGONAL = CameraModel.ORTHOGONAL


def truth_of(sequence):
    assert sequence.truth is not None
    return sequence.truth.points


def seen_by(sequence):
    """(F, 3, P) true points in camera coordinates."""
    assert sequence.rotations is not None and sequence.translations is not None
    return sequence.rotations @ truth_of(sequence) + sequence.translations[:, :, None]


@pytest.mark.parametrize(("kind", "path"), list(zip((*KINDS, "paper"), PATHS, strict=True)))
def test_without_noise_the_truth_projects_exactly_onto_the_tracks(kind, path):
    read = simulate(kind, path=path, frames=8, points=30, noise=0)
    seen = seen_by(read)
    assert seen[:, 2].min() > 100
    fx, fy, cx, cy = 1400, 1400, 640, 480
    pixels = np.stack([fx * seen[:, 0] / seen[:, 2] + cx, fy * seen[:, 1] / seen[:, 2] + cy], axis=1)
    np.testing.assert_allclose(read.tracks, pixels, rtol=0, atol=1e-9)
    assert read.intrinsics is not None and read.intrinsics[0, 0] == fx
    assert read.companion is not None
    np.testing.assert_allclose(read.companion.tracks, seen[:, :2], rtol=0, atol=1e-12)
    assert 0 < pixels[:, 0].min() and pixels[:, 0].max() < 1280
    assert 0 < pixels[:, 1].min() and pixels[:, 1].max() < 960


@pytest.mark.parametrize("path", PATHS)
def test_cameras_turn_upright_and_look_at_the_object(path):
    R, t = cameras(path, 50)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (50, 1, 1)), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1)
    assert np.linalg.norm(t[:, :2], axis=1).max() < 10  # mm off the axis; the object is 100 mm in radius
    if path != "tricky":  # which rolls
        np.testing.assert_allclose(R[:, 0, 1], 0, atol=1e-12)
    steps = np.linalg.norm(R[1:] @ R[:-1].transpose(0, 2, 1) - np.eye(3), axis=(1, 2)) / np.sqrt(2)
    assert steps.max() < 0.4  # radians, nearly: no jump


@pytest.mark.parametrize("kind", KINDS)
def test_objects_have_the_given_number_of_points_and_deform(kind):
    for points in (15, 37):
        shapes = truth_of(simulate(kind, frames=20, points=points, occlusion=0))
        assert shapes.shape == (20, 3, points)
    assert 60 < np.linalg.norm(shapes, axis=1).max() < 140
    assert min(np.ptp(shapes, axis=(0, 2))) > 30
    # No rotation of one frame onto another explains the motion, so that a rigid solver must fail.
    first, last = (shapes[f] - shapes[f].mean(axis=1, keepdims=True) for f in (2, 12))
    u, _, v = np.linalg.svd(last @ first.T)
    turn = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
    assert np.sqrt(((last - turn @ first) ** 2).sum(axis=0).mean()) > 5


@pytest.mark.parametrize("kind", KINDS)
def test_edges_and_faces_join_neighbors_and_reach_every_point(kind):
    read = simulate(kind, frames=5, points=60)
    assert read.edges is not None
    assert set(np.unique(read.edges)) == set(range(60))
    assert len(np.unique(np.sort(read.edges, axis=1), axis=0)) == len(read.edges)
    lengths = np.linalg.norm(np.diff(truth_of(read)[0][:, read.edges], axis=2)[:, :, 0], axis=0)
    assert lengths.max() < 90
    assert (read.faces is None) == (kind == "articulated")
    if read.faces is not None:
        pairs = {tuple(sorted(pair)) for a, b, c in read.faces.tolist() for pair in ((a, b), (b, c), (c, a))}
        assert pairs == set(map(tuple, read.edges.tolist()))


def test_paper_bends_without_stretching_and_the_balloon_and_the_sheets_stretch():
    def strain(kind):
        read = simulate(kind, frames=10, points=300, occlusion=0)
        assert read.edges is not None
        ends = truth_of(read)[:, :, read.edges]
        lengths = np.linalg.norm(ends[..., 0] - ends[..., 1], axis=1)
        return float((np.ptp(lengths, axis=0) / lengths.mean(axis=0)).max())

    assert strain("paper") < 0.02  # chords of short edges are shorter than arcs by this much at most
    assert strain("balloon") > 0.3
    assert strain("stretch") > 0.3


def test_noise_has_the_given_standard_deviation_and_depends_on_the_seed():
    clean = simulate("paper", frames=40, points=100, noise=0)
    noisy = simulate("paper", frames=40, points=100, noise=2.0, seed=5)
    assert (noisy.tracks - clean.tracks).std() == pytest.approx(2.0, rel=0.03)
    assert noisy.companion is not None and clean.companion is not None
    assert (noisy.companion.tracks - clean.companion.tracks).std() == pytest.approx(
        2.0 * 450 / 1400, rel=0.03
    )
    again, other = (simulate("paper", frames=40, points=100, noise=2.0, seed=seed) for seed in (5, 6))
    np.testing.assert_array_equal(noisy.tracks, again.tracks)
    assert noisy.digest == again.digest != other.digest
    np.testing.assert_array_equal(truth_of(noisy), truth_of(other))


@pytest.mark.parametrize("camera", CameraModel)
def test_occlusion_agrees_with_rays_cast_one_by_one(camera):
    read = simulate("balloon", path="tricky", frames=2, points=30, noise=0, occlusion=1, camera=camera)
    assert read.faces is not None
    for frame, seen in enumerate(seen_by(read)):
        for point in range(30):
            target = seen[:, point]
            perspective = camera is CameraModel.PERSPECTIVE
            toward = -target / np.linalg.norm(target) if perspective else np.array([0, 0, -1.0])
            expected = not _blocked(target, toward, seen, read.faces, point)
            assert read.visible[frame, point] == expected


def _blocked(origin, direction, points, faces, own):
    """Return whether a ray meets a triangle more than 1 mm of depth away (Moeller and Trumbore)."""
    for face in faces:
        if own in face:
            continue
        a, b, c = points[:, face].T
        system = np.column_stack([b - a, c - a, -direction])
        if abs(np.linalg.det(system)) < 1e-9:
            continue
        u, v, distance = np.linalg.solve(system, origin - a)
        if min(u, v, 1 - u - v) > 1e-9 and -distance * direction[2] > 1.0:
            return True
    return False


def test_what_is_hidden_does_not_depend_on_how_many_pairs_are_compared_at_once(monkeypatch):
    at_once = simulate("balloon", frames=4, points=60, occlusion=1)
    monkeypatch.setattr("core.synthetic.simulation.MOST_PAIRS", 100)
    np.testing.assert_array_equal(
        simulate("balloon", frames=4, points=60, occlusion=1).visible, at_once.visible
    )
    assert not at_once.visible.all()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "kraken"}, "object is 'kraken'; accepted are articulated, balloon"),
        ({"path": "spiral"}, "path is 'spiral'; accepted are circle"),
        ({"camera": "pinhole"}, "camera is 'pinhole'; accepted are perspective, orthogonal"),
        ({"frames": 1}, "frames is 1; accepted is a whole number of at least 2"),
        ({"points": 14}, "points is 14; accepted is a whole number of at least 15"),
        ({"noise": -1.0}, "noise is -1; accepted is a number of at least 0"),
        ({"occlusion": 1.5}, r"occlusion is 1\.5; accepted is a number of at least 0 and at most 1"),
        ({"frames": 7.5}, r"frames is 7\.5; accepted is a whole number of at least 2"),
        ({"noise": "much"}, "noise is much; accepted is a number"),
        ({"seed": -1}, "seed is -1; accepted is a whole number of at least 0"),
    ],
)
def test_arguments_out_of_range_are_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(**({"kind": "paper"} | changes))


def test_another_object_of_the_same_name_is_not_mixed_with_the_first(tmp_path):
    write_challenge(tmp_path, "paper", paths=("line",), frames=5, points=20)
    write_challenge(tmp_path, "paper", paths=("circle",), frames=5, points=20, seed=9)
    assert len(list_sequences(tmp_path)) == 4
    with pytest.raises(InputError, match="holds another object"):
        write_challenge(tmp_path, "paper", paths=("circle",), frames=7, points=20)
    assert len({entry.frames for entry in list_sequences(tmp_path)}) == 1


def test_one_path_and_names_of_cameras_say_what_is_written(tmp_path):
    write_challenge(tmp_path, "paper", paths="line", camera_models=["perspective"], frames=5, points=20)
    (entry,) = list_sequences(tmp_path)
    assert (entry.path_name, entry.camera) == ("line", CameraModel.PERSPECTIVE)
    with pytest.raises(InputError, match="camera is 'pinhole'; accepted are perspective, orthogonal"):
        write_challenge(tmp_path, "balloon", camera_models=["pinhole"])


@pytest.mark.slow
def test_the_bundled_samples_are_what_the_function_writes(tmp_path):
    entries, paths = bundled_samples(), ("circle", "tricky", "zigzag")
    assert {(e.object_name, e.camera, e.path_name) for e in entries} == {
        (kind, camera, path) for kind in KINDS for camera in CameraModel for path in paths
    }
    folder = sample_path("balloon").parents[3]
    files = [item for item in folder.rglob("*") if item.is_file()]
    assert sum(item.stat().st_size for item in files) < 3_000_000
    for kind in KINDS:
        write_challenge(tmp_path, kind, paths=paths, frames=45, points=96, decimals=2)
    assert sorted(item.relative_to(folder) for item in files) == sorted(
        item.relative_to(tmp_path) for item in tmp_path.rglob("*") if item.is_file()
    )
    for file in files:
        if file.suffix == ".txt":
            # The last digit may be rounded otherwise where mathematical functions differ by a bit.
            last = 0.01 if "sequence" in file.parts else 1e-6
            fresh = np.loadtxt(tmp_path / file.relative_to(folder))
            np.testing.assert_allclose(np.loadtxt(file), fresh, rtol=0, atol=1.01 * last)
    for entry in entries:
        read = read_sequence(entry.file)
        assert read.truth is not None and read.edges is not None
        assert read.visible.sum(axis=0).min() >= 5


def test_samples_have_names():
    assert read_sequence("sample:balloon/circle").source == sample_path("balloon/circle")
    assert read_sequence("sample:paper/tricky/orthogonal").camera is ORTHOGONAL
    assert list_sequences("sample:") == bundled_samples()
    assert list_sequences("sample:tearing") == list_sequences(sample_path("tearing").parents[2])
    chosen = read_sequence("sample:balloon", camera="orthogonal", path_name="tricky")
    assert chosen.source == sample_path("balloon/tricky/orthogonal")
    assert sample_path("") == bundled_samples()[0].file
