"""A person that cameras with a known vertical see stands in every format: read back by plain parsing."""

from __future__ import annotations

import base64
import csv
import re
from dataclasses import replace

import numpy as np
import pytest
from shape_files import array, page_data, read_gltf, read_ply, shape_at, unpacked

from core import CameraModel, ExportOptions, GroundTruth, InputError, export, load_result
from core.foundation import rotation_from_vector
from core.io.writers.options import standing
from core.reconstruction import orient, parse_upright
from core.reconstruction.result import Result

FRAMES = 24
# Feet, hips, head, and a nose that is towards -y: the vertical is z, and a person is 1.8 tall.
BODY = np.array([[-0.2, 0.2, -0.15, 0.15, 0.0, 0.0], [0, 0, 0, 0, 0, -0.15], [0.1, 0.1, 1.0, 1.0, 1.9, 1.8]])
HEAD, NOSE, FEET = 4, 5, [0, 1]
SUFFIXES = (".usda", ".glb", ".gltf", ".html", ".ply", ".obj", ".csv", ".trajectories.csv", ".pvd")


def cameras(elevation: float = 30.0) -> tuple[np.ndarray, np.ndarray]:
    """Return R (F, 3, 3) and t (F, 3) of a full circle that begins at -y and looks down at the hips."""
    R, t = [], []
    for turn in np.linspace(0, 2 * np.pi, FRAMES, endpoint=False):
        ahead = np.array([-np.sin(turn), np.cos(turn), -np.tan(np.radians(elevation))])
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        R.append(np.stack([right, np.cross(ahead, right), ahead]))
        t.append(R[-1] @ (-np.array([0.0, 0.0, 1.0]) + 6.0 * ahead))
    return np.array(R), np.array(t)


@pytest.fixture(params=[CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL])
def person(request):
    """The result of a solver whose coordinates are turned and moved anyhow."""
    R, t = cameras()
    anyhow, aside = rotation_from_vector(np.array([0.7, -1.9, 0.4])), np.array([0.3, -2.0, 5.0])
    nods = np.zeros_like(BODY)
    nods[1, NOSE] = 0.05
    C = np.stack([(anyhow @ BODY + aside[:, None]).ravel(), (anyhow @ nods).ravel()], axis=1)
    B = np.stack([np.ones(FRAMES), np.sin(np.arange(FRAMES))], axis=1)
    R = R @ anyhow.T
    t = t - R @ aside
    Y = R @ (B @ C.T).reshape(FRAMES, 3, -1) + t[:, :, None]
    orthogonal = request.param is CameraModel.ORTHOGONAL
    return Result(
        tracks=Y[:, :2] if orthogonal else Y[:, :2] / Y[:, 2:],
        visible=np.ones((FRAMES, 6), dtype=bool),
        rotations=R,
        translations=t,
        B=B,
        C=C,
        weights=np.ones(2),
        eta=0.05,
        loss=1e-3,
        history=np.array([[0, 0.0, 1.0]]),
        intrinsics=np.array([[1000.0, 0, 640], [0, 1000, 360], [0, 0, 1]]),
        camera=request.param,
        edges=np.array([[0, 2], [1, 3], [2, 4], [3, 4], [4, 5]]),
        meta={"method": "bilinear", "settings": {}, "units": "px", "name": "person"},
    )


def first_frame(path):
    """Return the points (P, 3) of the first frame of a file."""
    if path.suffix in (".glb", ".gltf"):
        return shape_at(*read_gltf(path), 0.0)
    text = path.read_text(encoding="utf-8") if path.suffix != ".ply" else ""
    if path.suffix == ".usda":
        assert 'upAxis = "Y"' in text
        row = re.search(r'def Points "estimate".*?1: \[(.*?)\]', text, re.DOTALL)[1]
        return np.array(re.findall(r"[-+.\de]+", row), dtype=float).reshape(-1, 3)
    if path.suffix == ".html":
        data = page_data(path)
        return unpacked(data["shape"], FRAMES)[0].reshape(-1, 3) * data["step"] + data["corner"]
    if path.suffix == ".ply":
        return read_ply(path)["vertex"][:, :3]
    if path.suffix == ".obj":
        return np.array([line.split()[1:] for line in text.splitlines() if line[0] == "v"], dtype=float)
    if path.suffix == ".csv":
        rows = [row for row in csv.DictReader(text.splitlines()) if row["frame"] == "0"]
        return np.array([[row[name] for name in "xyz"] for row in rows], dtype=float)
    binary = re.search(r'Name="Points"[^>]*>([^<]*)<', path.with_name(f"{path.stem}_0001.vtp").read_text())[1]
    return np.frombuffer(base64.b64decode(binary)[8:], "<f8").reshape(-1, 3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_person_stands_on_the_floor_and_faces_the_first_camera_in_every_format(person, tmp_path, suffix):
    expected = np.stack([BODY[0], BODY[2] - 0.1, -BODY[1]], axis=1)  # x right, y up from the feet, z to us
    (path, *_rest) = export(person, tmp_path / f"a{suffix}")
    got = first_frame(path)
    got = got - np.median(got, axis=0) * [1, 0, 1] + np.median(expected, axis=0) * [1, 0, 1]
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_archives_hold_the_numbers_of_the_solver(person, tmp_path):
    (path,) = export(person, tmp_path / "a.npz")
    np.testing.assert_array_equal(load_result(path).points, person.points)
    (path,) = export(person, tmp_path / "b.ply", coordinates="object")
    np.testing.assert_array_equal(first_frame(path), person.points[0].T)
    (path,) = export(person, tmp_path / "c.ply", coordinates="camera")
    np.testing.assert_allclose(first_frame(path), person.camera_points[0].T)


def test_the_camera_of_a_scene_is_above_the_floor_and_in_front(person, tmp_path):
    (path,) = export(person, tmp_path / "a.glb")
    tree, buffer = read_gltf(path)
    (animation,) = tree["animations"]
    (moved,) = (each for each in animation["channels"] if each["target"]["path"] == "translation")
    places = array(tree, buffer, animation["samplers"][moved["sampler"]]["output"])
    assert (places[:, 1] > 1.5).all()  # they look down by 30 degrees
    assert places[0, 2] > 1.0 and abs(places[0, 0]) < 0.5
    assert places[FRAMES // 2, 2] < -1.0


@pytest.mark.parametrize("align", ["none", "scale", "truth", "sequence"])
def test_with_a_truth_the_axis_of_its_coordinates_is_up_however_it_is_aligned(person, tmp_path, align):
    """From an arc of one side, the mean of the pictures leans back by 30 degrees."""
    part = [*range(5), *range(FRAMES - 4, FRAMES)]
    kept = replace(
        person, rotations=person.rotations[part], translations=person.translations[part],
        B=person.B[part], tracks=person.tracks[part], visible=person.visible[part],
    )  # fmt: skip
    leaning = standing(kept, ExportOptions()).rotation @ (person.points[0] @ np.linalg.pinv(BODY - 1.0))[:, 2]
    assert 0.7 < leaning[1] / np.linalg.norm(leaning) < 0.95
    known = replace(kept, truth=GroundTruth(np.arange(9), np.tile(1000.0 * BODY, (9, 1, 1)), 0))
    (path,) = export(known, tmp_path / "a.ply", align=align, mirror=True)
    got = first_frame(path)
    got /= np.ptp(got[:, 1]) / 1.8
    np.testing.assert_allclose(got[:, 1], BODY[2] - 0.1, atol=2e-3)  # the truth does not nod
    assert got[NOSE, 2] > got[HEAD, 2] + 0.14


def test_what_was_said_about_up_front_and_floor_replaces_what_the_pictures_say(person, tmp_path):
    first = person.rotations[0]
    gravity = first @ (person.points[0][:, HEAD] - person.points[0][:, FEET].mean(axis=1))
    rule = f"up={','.join(map(str, -gravity))} front=1,0,0 floor=3:5"  # on the head, seen from the right
    stood = person.with_upright(rule)
    (path,) = export(stood, tmp_path / "a.obj")
    got = first_frame(path)
    np.testing.assert_allclose(got[HEAD, 1], 0.0, atol=1e-6)
    np.testing.assert_allclose(got[FEET, 1], 1.8, atol=1e-6)
    assert abs(got[HEAD, 0] - got[NOSE, 0]) > 0.14  # the nose points aside
    assert str(load_result(stood.save(tmp_path / "a.npz")).upright) == str(parse_upright(rule))


@pytest.mark.parametrize(
    "text", ["", "up=0,0,0", "up=1,2", "up=nan,0,0", "floor=0:1", "up=0,1,0 up=0,1,0", "size=2m", "floor=1:"]
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(InputError, match=r"upright is .*; accepted are up=X,Y,Z and front=X,Y,Z"):
        parse_upright(text)


def test_an_orientation_is_a_rotation_wherever_cameras_look():
    points = np.random.default_rng(0).normal(size=(4, 3, 30))
    down = rotation_from_vector(np.array([np.pi / 2, 0.0, 0.0]))
    for rotations in (None, np.tile(down, (4, 1, 1)), np.stack([np.eye(3), np.diag([-1.0, -1.0, 1.0])] * 2)):
        for rule in (None, parse_upright("up=0,0,-1"), parse_upright("front=0,1,0 up=0,-1,0")):
            found = orient(points, rotations, rule)
            np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(3), atol=1e-12)
            assert np.linalg.det(found.rotation) == pytest.approx(1.0)
    from_above = orient(points, None, parse_upright("up=0,0,-1"))  # with the feet near the lower edge
    np.testing.assert_allclose(from_above.front, [0.0, 1.0, 0.0])
