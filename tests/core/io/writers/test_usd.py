"""USD files, read back by Pixar's library: points, frame numbers, units, and the picture of the camera."""

from dataclasses import replace

import numpy as np
import pytest
from shape_files import drawn_as, mirrored, with_moved_truth

from core import CameraModel, ExportOptions, InputError, export
from core.io.writers.options import aligned_shapes

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Gf, Usd, UsdGeom  # noqa: E402

SIZE = (1280, 960)
Y_UP = np.array([1.0, -1.0, -1.0])[:, None]


@pytest.fixture
def seen(small_result):
    """The small result without skew, which no format of a scene has, in a picture of known size."""
    K = small_result.intrinsics.copy()
    K[0, 1] = 0.0
    return replace(small_result, intrinsics=K, meta=small_result.meta | {"image_size": SIZE, "name": "a b"})


def orthogonal(result):
    """The same shapes seen by an orthogonal camera; the truth is of the mirror image."""
    tracks = np.where(result.visible[:, None], result.camera_points[:, :2], 0.0)
    return replace(result, tracks=tracks, camera=CameraModel.ORTHOGONAL)


def opened(result, path, **options):
    """Return the stage of an export, and its root."""
    written, *_pictures = export(result, path, **options)
    stage = Usd.Stage.Open(str(written))
    stage.Reload()  # files of one name are one layer as long as a stage of it lives
    return stage, stage.GetDefaultPrim()


def points_at(prim, frame):
    """Return (3, P) of a frame, counted from 0."""
    return np.array(prim.GetAttribute("points").Get(frame + 1), dtype=float).T


def pictures(root, frame, points, bounds):
    """Return where points (3, P) are in the picture (2, P) of the USD camera, by the library's frustum."""
    frustum = UsdGeom.Camera(root.GetChild("camera")).GetCamera(frame + 1).frustum
    view = frustum.ComputeViewMatrix() * frustum.ComputeProjectionMatrix()
    clip = np.array([view.Transform(Gf.Vec3d(*point.tolist())) for point in points.T])
    first, last = np.array(bounds)[:2, None], np.array(bounds)[2:, None]  # left and top, right and bottom
    return first + (1 + clip[:, :2].T * [[1], [-1]]) / 2 * (last - first)


@pytest.mark.parametrize("align", ["none", "scale", "sequence"])
def test_every_frame_has_its_points_under_its_number(seen, tmp_path, align):
    coordinates = "camera" if align == "scale" else "object"
    stage, root = opened(seen, tmp_path / "a.usda", align=align, coordinates=coordinates, fps=24)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (1, 5)
    assert (stage.GetFramesPerSecond(), stage.GetTimeCodesPerSecond()) == (24, 24)
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert UsdGeom.GetStageMetersPerUnit(stage) == (1.0 if align == "none" else 1e-3)
    expected = Y_UP * aligned_shapes(seen, ExportOptions(align=align, coordinates=coordinates))
    estimate = root.GetChild("estimate")
    assert UsdGeom.Points(estimate) and list(estimate.GetAttribute("ids").Get()) == list(range(7))
    assert estimate.GetAttribute("points").GetTimeSamples() == [1, 2, 3, 4, 5]
    for frame in range(5):
        assert np.allclose(points_at(estimate, frame), expected[frame], rtol=1e-6, atol=1e-6)
        visible = UsdGeom.PrimvarsAPI(estimate).GetPrimvar("visible").Get(frame + 1)
        assert np.array_equal(visible, seen.visible[frame])


@pytest.mark.parametrize(
    ("model", "align", "known_size"),
    [
        ("perspective", "none", True),
        ("perspective", "truth", False),
        ("orthogonal", "truth", True),
        ("orthogonal", "sequence", False),
    ],
)
def test_the_picture_of_the_camera_is_that_of_the_tracks(seen, tmp_path, model, align, known_size):
    result = orthogonal(seen) if model == "orthogonal" else seen
    if not known_size:
        result = replace(result, meta=result.meta | {"image_size": None})
    _stage, root = opened(result, tmp_path / "a.usda", align=align, mirror=True)
    camera = root.GetChild("camera")
    assert camera.GetAttribute("projection").Get() == {"orthogonal": "orthographic"}.get(model, model)
    tracks, bounds = result.observations(), camera.GetAttribute("picture").Get()
    if known_size:
        assert tuple(bounds) == (-0.5, -0.5, SIZE[0] - 0.5, SIZE[1] - 0.5)
    else:
        bounds = np.array(bounds)
        assert (np.nanmin(tracks, axis=(0, 2)) >= bounds[:2]).all()
        assert (np.nanmax(tracks, axis=(0, 2)) <= bounds[2:]).all()
    expected = result.reprojections()
    for frame in range(5):
        got = pictures(root, frame, points_at(root.GetChild("estimate"), frame), bounds)
        assert np.abs(got - expected[frame]).max() < 2e-2  # px; coordinates and lenses are float32 in USD
        visible = result.visible[frame]
        assert np.abs(got - tracks[frame])[:, visible].max() < 2e-2
        transform = np.array(UsdGeom.Xformable(camera).ComputeLocalToWorldTransform(frame + 1))[:3, :3]
        np.testing.assert_allclose(transform @ transform.T, np.eye(3), atol=1e-7)
        assert np.linalg.det(transform) == pytest.approx(1.0)


def test_a_mirror_image_has_no_perspective_camera(seen, tmp_path):
    stage, root = opened(mirrored(seen), tmp_path / "a.usda", align="sequence", mirror=True)
    assert not root.GetChild("camera") and "mirror image" in stage.GetRootLayer().customLayerData["camera"]
    _stage, root = opened(mirrored(seen), tmp_path / "b.usda", align="sequence")
    assert root.GetChild("camera")


def test_surface_or_skeleton_moves_with_the_points(seen, tmp_path):
    _stage, root = opened(seen, tmp_path / "a.usda")
    mesh = root.GetChild("surface")
    assert list(mesh.GetAttribute("faceVertexIndices").Get()) == seen.faces.ravel().tolist()
    assert list(mesh.GetAttribute("faceVertexCounts").Get()) == [3, 3] and not root.GetChild("edges")
    assert np.array_equal(points_at(mesh, 3), points_at(root.GetChild("estimate"), 3))
    _stage, root = opened(drawn_as(seen, "edges"), tmp_path / "b.usda")
    curves = root.GetChild("edges")
    assert list(curves.GetAttribute("curveVertexCounts").Get()) == [2, 2, 2] and not root.GetChild("surface")
    ends = points_at(root.GetChild("estimate"), 2)[:, seen.edges.ravel()]
    assert np.array_equal(points_at(curves, 2), ends)
    _stage, root = opened(drawn_as(seen, "points"), tmp_path / "c.usda")
    assert {prim.GetName() for prim in root.GetChildren()} == {"estimate", "ground_truth", "camera"}


@pytest.mark.parametrize("align", ["none", "truth", "sequence"])
def test_the_ground_truth_lies_over_the_shape_where_it_is_known(seen, tmp_path, align):
    _stage, root = opened(seen, tmp_path / "a.usda", align=align, coordinates="object")
    truth, estimate = root.GetChild("ground_truth"), root.GetChild("estimate")
    visible = [UsdGeom.Imageable(truth).ComputeVisibility(frame + 1) for frame in range(5)]
    assert visible == ["invisible", "inherited", "invisible", "inherited", "invisible"]
    assert truth.GetAttribute("points").GetTimeSamples() == [2, 4]
    for frame in (1, 3):
        ids = np.array(truth.GetAttribute("ids").Get(frame + 1))
        assert np.array_equal(ids, np.flatnonzero(np.isfinite(seen.truth.at(frame)).all(axis=0)))
        if align != "sequence":  # the truth of every frame is a similarity of it
            there = points_at(estimate, frame)[:, ids]
            assert np.allclose(points_at(truth, frame), there, rtol=1e-5, atol=1e-4 * np.abs(there).max())
    if align in ("truth", "sequence"):
        assert np.allclose(points_at(truth, 1), Y_UP * seen.truth.at(1), rtol=1e-6)
    assert not root.GetChild("true_surface")  # a point of it is unknown
    full = replace(seen.truth, points=np.nan_to_num(seen.truth.points))
    _stage, root = opened(replace(seen, truth=full), tmp_path / "b.usda", align=align, coordinates="object")
    surface, points = (points_at(root.GetChild(f"{name}"), 3) for name in ("true_surface", "ground_truth"))
    assert np.array_equal(surface, points)


def test_errors_are_distances_in_the_unit_of_the_truth(seen, tmp_path):
    result = with_moved_truth(seen)
    for align in ("none", "truth"):
        stage, root = opened(result, tmp_path / "a.usda", align=align, color="error", coordinates="object")
        primvars = UsdGeom.PrimvarsAPI(root.GetChild("estimate"))
        errors = np.array(primvars.GetPrimvar("error").Get(2))
        fitted = aligned_shapes(result, ExportOptions(align="truth", coordinates="object"))[1]
        assert np.allclose(errors, np.linalg.norm(fitted - result.truth.points[0], axis=0), rtol=1e-5)
        assert np.isnan(primvars.GetPrimvar("error").Get(1)).all()
        assert "3-D error in mm" in stage.GetRootLayer().customLayerData["error"]
        colors = np.array(primvars.GetPrimvar("displayColor").Get(2))
        assert primvars.GetPrimvar("displayColor").GetInterpolation() == "vertex"
        assert np.array_equal(np.argsort(colors @ [0.2126, 0.7152, 0.0722]), np.argsort(errors))


def test_names_are_written_so_that_they_are_read_back(seen, tmp_path):
    name = '7 "été" \\ }\n)'
    stage, root = opened(replace(seen, meta=seen.meta | {"name": name}), tmp_path / "a.usda")
    assert root.GetDisplayName() == name.replace("\n", "") and root.GetName() == "_7_t"
    assert stage.GetRootLayer().customLayerData["displayName"] == name.replace("\n", "")


def test_the_frame_rate_is_that_of_the_sequence_unless_another_is_chosen(seen, tmp_path):
    for rate, options, expected in ((None, {}, 15.0), (29.97, {}, 29.97), (29.97, {"fps": 12}, 12.0)):
        result = replace(seen, meta=seen.meta | {"frame_rate": rate})
        stage, _root = opened(result, tmp_path / "a.usda", **options)
        assert stage.GetFramesPerSecond() == expected


def test_a_known_length_gives_the_unit(seen, tmp_path):
    result = seen.with_scale("size=200mm")
    stage, root = opened(result, tmp_path / "a.usda", coordinates="object")
    factor, unit = result.scale
    assert unit == "mm" and UsdGeom.GetStageMetersPerUnit(stage) == 1e-3
    assert np.allclose(points_at(root.GetChild("estimate"), 2), factor * Y_UP * seen.points[2], rtol=1e-5)
    camera = root.GetChild("camera")
    got = pictures(root, 2, points_at(root.GetChild("estimate"), 2), camera.GetAttribute("picture").Get())
    assert np.abs(got - seen.reprojections()[2]).max() < 2e-2
    truth = points_at(root.GetChild("ground_truth"), 1)
    assert np.allclose(truth, factor * Y_UP * seen.points[1], rtol=1e-4, atol=1e-3)


@pytest.fixture
def filmed(seen, tmp_path):
    """The result with a video of which every second picture was tracked, each of another gray."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    pytest.importorskip("av", reason="PyAV is not installed")
    folder = tmp_path / "shot"
    folder.mkdir()
    for number in range(10):
        image.new("RGB", (64, 48), (20 * number,) * 3).save(folder / f"img_{number:02d}.png")
    return replace(seen, meta=seen.meta | {"video": str(folder), "video_frames": [0, 2, 4, 6, 8]})


def test_the_video_fills_the_picture_of_the_camera_behind_all_points(filmed, tmp_path):
    from PIL import Image

    _stage, root = opened(filmed, tmp_path / "a.usda", video=True)
    camera, texture = root.GetChild("camera"), root.GetChild("video").GetChild("pictures")
    right, below = SIZE[0] - 0.5, SIZE[1] - 0.5
    corners = np.array([[-0.5, right, right, -0.5], [below, below, -0.5, -0.5]])
    for frame in range(5):
        place = np.array(UsdGeom.Xformable(camera).ComputeLocalToWorldTransform(frame + 1))
        card = points_at(camera.GetChild("video"), frame)
        card = place[:3, :3].T @ card + place[3, :3, None]
        got = pictures(root, frame, card, camera.GetAttribute("picture").Get())
        assert np.abs(got - corners).max() < 2e-2
        looks = place[2, :3]  # backwards
        behind, shape = (looks @ each for each in (card, points_at(root.GetChild("estimate"), frame)))
        assert behind.max() < shape.min()
        file = texture.GetAttribute("inputs:file").Get(frame + 1)
        assert file.path == f"./a_{frame + 1:04d}.jpg"
        with Image.open(tmp_path / file.path) as picture:
            assert picture.size == (64, 48) and abs(picture.getpixel((5, 5))[0] - 40 * frame) <= 2
    bound = camera.GetChild("video").GetRelationship("material:binding").GetTargets()
    assert [str(target) for target in bound] == [f"{root.GetPath()}/video"]


def test_without_a_video_none_is_put_behind_the_camera(seen, tmp_path):
    for suffix in (".usda", ".glb"):
        with pytest.raises(InputError, match="names no video"):
            export(seen, tmp_path / f"a{suffix}", video=True)
        gone = replace(seen, meta=seen.meta | {"video": str(tmp_path / "gone.mp4")})
        with pytest.raises(InputError, match=r"gone\.mp4"):
            export(gone, tmp_path / f"a{suffix}", video=True)
    assert not list(tmp_path.iterdir())
