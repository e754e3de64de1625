"""glTF files, checked against the specification by a reader of their own, and loaded by another library."""

import io
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from shape_files import array, drawn_as, read_gltf, shape_at, with_moved_truth

from core import CameraModel, ExportOptions, export
from core.io.writers.options import aligned_shapes

PER_ITEM = {0: 1, 1: 2, 4: 3}  # vertices of a point, a line, a triangle


def check(tree, buffer):
    """Assert what the specification demands of the parts that are used here."""
    assert tree["asset"]["version"] == "2.0"
    assert "extensionsRequired" not in tree
    moving = tree["nodes"][1:]
    assert tree["scenes"][tree["scene"]]["nodes"] == [0, 1][: 1 + len(moving)]
    assert tree["nodes"][0]["mesh"] == 0 and [node["camera"] for node in moving] == [0] * len(moving)
    for accessor in range(len(tree["accessors"])):
        array(tree, buffer, accessor)
    (mesh,) = tree["meshes"]
    counts = {len(primitive.get("targets", [])) for primitive in mesh["primitives"]}
    assert len(counts) == 1  # all primitives have as many targets
    assert len(mesh.get("weights", [])) == counts.pop()
    for primitive in mesh["primitives"]:
        base = tree["accessors"][primitive["attributes"]["POSITION"]]
        assert {"min", "max"} <= set(base) and (base["type"], base["componentType"]) == ("VEC3", 5126)
        assert 0 <= primitive["material"] < len(tree["materials"])
        for target in primitive.get("targets", []):
            moved = tree["accessors"][target["POSITION"]]
            assert moved["count"] == base["count"] and {"min", "max"} <= set(moved)
        vertices = base["count"]
        if "indices" in primitive:
            accessor = tree["accessors"][primitive["indices"]]
            assert accessor["type"] == "SCALAR" and accessor["componentType"] in (5121, 5123, 5125)
            assert tree["bufferViews"][accessor["bufferView"]]["target"] == 34963
            indices = array(tree, buffer, primitive["indices"])
            assert indices.max() < base["count"]
            vertices = len(indices)
        assert vertices % PER_ITEM[primitive["mode"]] == 0
    for animation in tree.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times = array(tree, buffer, sampler["input"])
            assert {"min", "max"} <= set(tree["accessors"][sampler["input"]])
            assert times[0] >= 0 and (np.diff(times) > 0).all()
            target, output = channel["target"], tree["accessors"][sampler["output"]]
            assert (target["node"], target["path"]) in ((0, "weights"), (1, "translation"), (1, "rotation"))
            assert sampler["interpolation"] in ("LINEAR", "STEP")
            each = len(mesh["weights"]) if target["path"] == "weights" else 1
            assert output["count"] == len(times) * each
            assert output["type"] == {"weights": "SCALAR", "translation": "VEC3"}.get(target["path"], "VEC4")
            if target["path"] == "rotation":
                quaternions = array(tree, buffer, sampler["output"])
                assert np.allclose(np.linalg.norm(quaternions, axis=1), 1, atol=1e-6)
                assert ((quaternions[1:] * quaternions[:-1]).sum(axis=1) >= 0).all()  # along the short way


def positions(tree, buffer):
    """Return the points (P, 3) without the targets."""
    return array(tree, buffer, tree["meshes"][0]["primitives"][0]["attributes"]["POSITION"])


def turned(points):
    """(..., 3, P) in the coordinates of cameras, y down -> (..., P, 3) in those of glTF, y up."""
    return np.swapaxes(points, -1, -2) @ np.diag([1.0, -1.0, -1.0])


@pytest.mark.parametrize(
    ("suffix", "drawn"), [(".gltf", "faces"), (".glb", "faces"), (".glb", "edges"), (".glb", "points")]
)
def test_files_follow_the_specification(small_result, tmp_path, suffix, drawn):
    result = drawn_as(small_result, drawn)
    (path,) = export(result, tmp_path / f"a{suffix}")
    tree, buffer = read_gltf(path)
    check(tree, buffer)
    primitives = tree["meshes"][0]["primitives"]
    assert [each["mode"] for each in primitives] == {"faces": [4], "edges": [1, 0], "points": [0]}[drawn]
    if drawn != "points":
        items = array(tree, buffer, primitives[0]["indices"])
        assert np.array_equal(items, getattr(result, drawn).ravel())


@pytest.mark.parametrize("align", ["none", "truth"])
def test_every_frame_is_shown_at_its_time(small_result, tmp_path, align):
    (path,) = export(small_result, tmp_path / "a.glb", fps=10, align=align, coordinates="object")
    tree, buffer = read_gltf(path)
    expected = turned(aligned_shapes(small_result, ExportOptions(align=align, coordinates="object")))
    expected *= 1.0 if align == "none" else 1e-3  # the truth is in millimeters, glTF in meters
    size = np.abs(expected).max()
    for frame in range(5):
        assert np.abs(shape_at(tree, buffer, frame / 10) - expected[frame]).max() < 1e-6 * size
    between = (expected[1] + expected[2]) / 2
    assert np.abs(shape_at(tree, buffer, 0.15) - between).max() < 1e-6 * size
    weights = array(tree, buffer, tree["animations"][0]["samplers"][0]["output"]).reshape(5, -1)
    assert weights.min() == 0 and weights.max() <= 1  # Blender 5.0 clamps them
    assert (weights.max(axis=0) > 0).all() and (align != "none" or weights.shape[1] <= 2 * small_result.rank)


def test_a_constant_shape_has_no_animation(small_result, tmp_path):
    still = replace(small_result, B=np.ones((5, 2)))
    for name, result, options in (("a.glb", still, {}), ("b.glb", small_result, {"frame": 3})):
        (path,) = export(result, tmp_path / name, **options, coordinates="object")
        tree, buffer = read_gltf(path)
        check(tree, buffer)
        targets = [channel["target"] for each in tree.get("animations", []) for channel in each["channels"]]
        assert [target["path"] for target in targets] == ["translation", "rotation"] * (name == "a.glb")
        assert {target["node"] for target in targets} <= {1}  # the camera moves on
        assert "targets" not in tree["meshes"][0]["primitives"][0]
    assert np.allclose(positions(tree, buffer), turned(small_result.points[3]), atol=1e-6)


VIEWS = "perspective none upright", "perspective none camera", "orthogonal sequence upright"


@pytest.mark.parametrize(("model", "align", "coordinates"), [view.split() for view in VIEWS])
def test_the_camera_sees_the_shape_as_the_tracks_are(small_result, tmp_path, model, align, coordinates):
    K = small_result.intrinsics.copy()
    K[0, 1] = 0.0
    meta = small_result.meta | {"image_size": (1280, 960), "frame_rate": 24}
    result = replace(small_result, intrinsics=K, camera=CameraModel(model), meta=meta, faces=None)
    (path,) = export(result, tmp_path / "a.glb", align=align, coordinates=coordinates)
    tree, buffer = read_gltf(path)
    check(tree, buffer)
    node, (lens,) = tree["nodes"][1], tree["cameras"]
    assert lens["type"] == {"orthogonal": "orthographic"}.get(model, model)
    moves = {
        channel["target"]["path"]: tree["animations"][0]["samplers"][channel["sampler"]]
        for channel in tree["animations"][0]["channels"]
    }
    times = array(tree, buffer, moves["rotation"]["input"])
    assert np.allclose(times, np.arange(5) / 24)
    for frame in range(5):
        turn = Rotation.from_quat(array(tree, buffer, moves["rotation"]["output"])[frame]).as_matrix()
        position = array(tree, buffer, moves["translation"]["output"])[frame].astype(float)
        seen = (shape_at(tree, buffer, frame / 24) - position) @ turn
        assert (seen[:, 2] < 0).all()
        if model == "perspective":
            down = np.tan(lens["perspective"]["yfov"] / 2)
            flat = seen[:, :2] / -seen[:, 2:] / [down * lens["perspective"]["aspectRatio"], down]
            half = np.abs([640.5, 480.5])  # the picture is (-.5, 1279.5) by (-.5, 959.5), about (640, 480)
            got = [640, 480] + flat * half * [1, -1]
        else:
            flat = seen[:, :2] / [lens["orthographic"]["xmag"], lens["orthographic"]["ymag"]]
            got = [639.5, 479.5] + flat * [640, -480]
        assert np.abs(got - result.reprojections()[frame].T).max() < 2e-2
        if frame == 0:
            assert np.allclose(node["translation"], position, atol=1e-6)
            assert np.allclose(Rotation.from_quat(node["rotation"]).as_matrix(), turn, atol=1e-6)


@pytest.mark.parametrize(("unit", "size", "said"), [("cm", 0.01, "meters, from cm"), ("units", 1.0, "units")])
def test_only_units_of_length_become_meters(small_result, tmp_path, unit, size, said):
    result = replace(small_result, meta=small_result.meta | {"truth_units": unit})
    (path,) = export(result, tmp_path / "a.glb", frame=0, align="sequence", coordinates="object")
    tree, buffer = read_gltf(path)
    laid_over = size * aligned_shapes(result, ExportOptions(align="sequence", coordinates="object"))[0]
    at_most = 1e-7 * np.abs(laid_over).max()
    assert np.allclose(positions(tree, buffer), turned(laid_over), rtol=1e-6, atol=at_most)
    assert tree["asset"]["extras"]["unit"] == said


def test_another_library_loads_the_mesh(small_result, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (path,) = export(small_result, tmp_path / "a.glb", align="truth", coordinates="object")
    scene = trimesh.load(path, process=False)
    (mesh,) = scene.geometry.values()
    over = aligned_shapes(small_result, ExportOptions(align="truth", coordinates="object"))
    expected = 1e-3 * turned(over[0])
    assert np.array_equal(mesh.faces, small_result.faces)
    assert np.abs(mesh.vertices - expected).max() < 1e-6 * np.abs(expected).max()


def colors_of(tree, buffer):
    check(tree, buffer)
    return array(tree, buffer, tree["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"]).astype(float)


LUMINANCE = [0.2126, 0.7152, 0.0722]  # of linear RGB; viridis is the lighter, the larger the value


@pytest.mark.parametrize("frame", [None, 2])
def test_points_are_colored_by_their_standard_deviation(refined_result, tmp_path, frame):
    (path,) = export(refined_result, tmp_path / "a.glb", color="std", frame=frame)
    tree, buffer = read_gltf(path)
    colors = colors_of(tree, buffer)
    chosen = refined_result.std if frame is None else refined_result.std[frame : frame + 1]
    std = np.sqrt((chosen**2).sum(axis=1).mean(axis=0))
    assert tree["asset"]["extras"]["largestStd"] == pytest.approx(std.max())
    assert np.array_equal(np.argsort(colors @ LUMINANCE), np.argsort(std))
    assert colors[std.argmax()] == pytest.approx([0.984, 0.799, 0.0185], abs=2e-3)  # yellow


def test_points_are_colored_by_their_error(small_result, tmp_path):
    result = with_moved_truth(small_result)
    known = {"color": "error", "coordinates": "object"}
    tree, buffer = read_gltf(export(result, tmp_path / "a.glb", frame=1, **known)[0])
    fitted = aligned_shapes(result, ExportOptions(align="truth", coordinates="object"))[1]
    errors = np.linalg.norm(fitted - result.truth.points[0], axis=0)
    assert tree["asset"]["extras"]["largestError"] == pytest.approx(errors.max())
    assert np.array_equal(np.argsort(colors_of(tree, buffer) @ LUMINANCE), np.argsort(errors))
    (path,) = export(result, tmp_path / "b.glb", frame=0, **known)  # a frame without a truth
    assert np.ptp(colors_of(*read_gltf(path))) < 1e-6


def test_the_first_picture_of_the_video_is_on_a_card_of_the_camera(small_result, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    pytest.importorskip("av", reason="PyAV is not installed")
    image.new("RGB", (64, 48), (200, 10, 10)).save(tmp_path / "img_01.png")
    size = {"image_size": (1280, 960), "video": str(tmp_path / "img_%02d.png")}
    result = replace(small_result, meta=small_result.meta | size)
    tree, buffer = read_gltf(export(result, tmp_path / "a.glb", frame=0, video=True)[0])
    camera, card = tree["nodes"][1:]
    assert camera["children"] == [2] and tree["scenes"][0]["nodes"] == [0, 1]
    (primitive,) = tree["meshes"][card["mesh"]]["primitives"]
    corners = array(tree, buffer, primitive["attributes"]["POSITION"])
    K = small_result.intrinsics
    pixels = K[:2, 2] + np.diag(K)[:2] * corners[:, :2] / -corners[:, 2:] * [1, -1]
    expected = [[-0.5, 959.5], [1279.5, 959.5], [1279.5, -0.5], [-0.5, -0.5]]
    np.testing.assert_allclose(pixels, expected, atol=1e-2)
    places = array(tree, buffer, primitive["attributes"]["TEXCOORD_0"])
    np.testing.assert_array_equal(places, [[0, 1], [1, 1], [1, 0], [0, 0]])
    view = tree["bufferViews"][tree["images"][0]["bufferView"]]
    content = buffer[view["byteOffset"] :][: view["byteLength"]]
    with image.open(io.BytesIO(content)) as picture:
        assert picture.format == "JPEG" and abs(picture.getpixel((9, 9))[0] - 200) < 4
