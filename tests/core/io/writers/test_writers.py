import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat
from shape_files import drawn_as, mirrored, read_ply, with_moved_truth

from core import WRITERS, ExportOptions, InputError, export, load_result, shape_page
from core.data import connect
from core.io.writers.options import aligned_shapes, common_scale
from core.reconstruction.result import arrays_of


def test_mat_holds_the_arrays_of_the_result_file(small_result, tmp_path):
    (path,) = export(small_result, tmp_path / "a.mat")
    read = loadmat(path)
    for name, value in arrays_of(small_result).items():
        if name == "meta":
            assert json.loads(str(read[name][0]))["camera"] == "perspective"
        else:
            expected = np.asarray(value)
            assert np.array_equal(read[name].reshape(expected.shape), expected, equal_nan=True), name
    assert read["visible"].dtype == np.uint8 and read["points"].shape == (5, 3, 7)


def columns_of(path):
    """Return the columns of a table of 5 frames and 7 points as (5, 7), NaN where a field is empty."""
    assert "nan" not in path.read_text()
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {name: np.array([float(row[name] or "nan") for row in rows]).reshape(5, 7) for name in rows[0]}


def together(columns, *names):
    return np.stack([columns[name] for name in names], axis=1)


def test_csv_has_a_row_per_frame_and_point(small_result, tmp_path):
    read = columns_of(export(small_result, tmp_path / "a.csv", coordinates="object")[0])
    assert np.array_equal(read["frame"], np.repeat(np.arange(5), 7).reshape(5, 7))
    assert np.array_equal(read["point"], np.tile(np.arange(7), (5, 1)))
    assert np.array_equal(together(read, *"xyz"), small_result.points)
    assert np.array_equal(read["visible"], small_result.visible)
    assert np.array_equal(together(read, "u_fit", "v_fit"), small_result.reprojections())
    assert np.array_equal(together(read, *"uv"), small_result.observations(), equal_nan=True)
    assert np.array_equal(np.isnan(read["u"]), ~small_result.visible)


def test_trajectories_hold_positions_and_both_errors(small_result, tmp_path):
    path = tmp_path / "a.trajectories.csv"
    truth = np.full((5, 3, 7), np.nan)
    truth[small_result.truth.frames] = small_result.truth.points
    known = np.isfinite(truth).all(axis=1)
    far = np.linalg.norm(small_result.observations() - small_result.reprojections(), axis=1)
    for align in ("truth", "sequence"):
        read = columns_of(export(small_result, path, align=align, coordinates="object")[0])
        assert " ".join(read) == "frame point x_mm y_mm z_mm visible reprojection_error_px error_3d_mm"
        assert np.array_equal(read["visible"], small_result.visible)
        assert np.allclose(read["reprojection_error_px"], far, atol=1e-12, equal_nan=True)
        apart = np.linalg.norm(together(read, "x_mm", "y_mm", "z_mm") - truth, axis=1)
        assert np.allclose(read["error_3d_mm"], np.where(known, apart, np.nan), atol=1e-9, equal_nan=True)
        # Frames turned differently fit no one motion, and the truth of each frame is a similarity of it.
        assert (apart[known].max() > 1) if align == "sequence" else (apart[known].max() < 1e-9)


@pytest.mark.parametrize(("name", "align"), [("a.csv", "none"), ("a.trajectories.csv", "sequence")])
def test_tables_hold_standard_deviations_in_the_unit_of_the_points(refined_result, tmp_path, name, align):
    read = columns_of(export(refined_result, tmp_path / name, align=align)[0])
    ends = "_mm" if align == "sequence" else ""
    # One similarity for all frames: how much larger the distance of two points is.
    before, after = (
        np.linalg.norm(points[4, :, 0] - points[4, :, 1])
        for points in (refined_result.points, aligned_shapes(refined_result, ExportOptions(align=align)))
    )
    assert (after == pytest.approx(before)) == (align == "none")
    got = together(read, *(f"std_{axis}{ends}" for axis in "xyz"))
    assert np.allclose(got, after / before * refined_result.std, rtol=1e-9, atol=0)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("drawn", ["faces", "edges", "points"])
def test_ply_holds_points_of_one_frame_or_of_all_with_faces_or_edges(small_result, tmp_path, drawn, text):
    result, items = drawn_as(small_result, drawn), getattr(small_result, drawn)
    for name, options, frames in (("a.ply", {"frame": 2}, [2]), ("b.ply", {"frames": "stacked"}, range(5))):
        (path,) = export(result, tmp_path / name, text=text, coordinates="object", **options)
        read = read_ply(path)
        vertices = read.pop("vertex")
        assert np.array_equal(vertices[:, :3], result.points[frames].transpose(0, 2, 1).reshape(-1, 3))
        assert np.array_equal(vertices[:, 3], result.visible[frames].ravel())
        if drawn != "points":
            corners = np.concatenate([items + 7 * at for at in range(len(frames))])
            assert np.array_equal(read.pop(drawn[:-1]), corners)
        assert not read
    assert np.array_equal(vertices[:, 4], np.repeat(np.arange(5), 7))


def test_a_result_without_a_mesh_is_written_with_what_its_shapes_show(small_result, tmp_path):
    bare = replace(small_result, faces=None, edges=None)
    found = connect(small_result.points)
    (path,) = export(bare, tmp_path / "a.ply")
    assert len(found.edges) >= 6 and np.array_equal(read_ply(path)["edge"], found.edges)
    assert f'"edges":{found.edges.tolist()}'.replace(" ", "") in shape_page(bare)
    (path,) = export(bare, tmp_path / "a.npz")  # what is read again is as it was solved
    assert load_result(path).edges is None


@pytest.mark.parametrize("suffix", [".ply", ".obj"])
def test_numbered_files_hold_a_frame_each(small_result, tmp_path, suffix):
    paths = export(small_result, tmp_path / f"shape{suffix}", frames="numbered")
    assert [path.name for path in paths] == [f"shape_{f:04d}{suffix}" for f in range(1, 6)]
    (single,) = export(small_result, tmp_path / f"one{suffix}", frame=4)
    assert paths[4].read_bytes() == single.read_bytes()


def test_numbered_files_of_a_longer_export_are_not_mixed_with_new_ones(small_result, tmp_path):
    export(small_result, tmp_path / "shape.ply", frames="numbered")
    for name in ("shape_0006.ply", "shape_0012.ply"):
        (tmp_path / name).write_text("of another export")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=r"holds shape_0006\.ply to shape_0012\.ply, which would follow"):
        export(small_result, tmp_path / "shape.ply", frames="numbered", coordinates="camera")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_obj_counts_from_one(small_result, tmp_path):
    (path,) = export(small_result, tmp_path / "a.obj", frame=1, coordinates="object")
    lines = [line.split() for line in path.read_text().splitlines()]
    vertices = np.array([[float(word) for word in line[1:]] for line in lines if line[0] == "v"])
    assert np.array_equal(vertices, small_result.points[1].T)
    assert [[int(word) for word in line[1:]] for line in lines if line[0] == "f"] == [[1, 2, 3], [3, 4, 5]]
    (path,) = export(drawn_as(small_result, "edges"), tmp_path / "b.obj", coordinates="object")
    assert [line for line in path.read_text().splitlines() if line[0] == "l"] == ["l 1 2", "l 2 3", "l 6 7"]
    (path,) = export(drawn_as(small_result, "points"), tmp_path / "c.obj", coordinates="object")
    assert path.read_text().splitlines()[-1] == "p 1 2 3 4 5 6 7"


def test_alignment_moves_a_frame_onto_its_truth(small_result, tmp_path):
    truth = small_result.truth
    for coordinates in ("object", "camera"):
        (path,) = export(small_result, tmp_path / "a.ply", frame=3, align="truth", coordinates=coordinates)
        points = read_ply(path)["vertex"][:, :3].T
        seen = np.isfinite(truth.at(3)).all(axis=0)
        assert seen.sum() == 6
        assert np.abs(points - truth.at(3))[:, seen].max() < 1e-9  # the truth is a similarity of the frame
    paths = export(small_result, tmp_path / "b.ply", align="truth", frames="numbered")
    assert [path.name for path in paths] == ["b_0002.ply", "b_0004.ply"]  # the frames that have a truth


@pytest.mark.parametrize("align", ["truth", "sequence"])
def test_a_mirror_image_is_laid_over_the_truth_only_where_it_may_be(small_result, align):
    frames, known = small_result.truth.frames, {"align": align, "coordinates": "object"}
    far = [
        np.nanmean(np.linalg.norm(aligned_shapes(each, options)[frames] - small_result.truth.points, axis=1))
        for each in (small_result, mirrored(small_result))
        for options in (ExportOptions(mirror=mirror, **known) for mirror in (False, True))
    ]
    assert far[1] == far[0] < far[2] * 0.999
    assert far[3] == pytest.approx(far[0])


def test_common_scale_is_the_least_squares_factor(small_result):
    truth = with_moved_truth(small_result).truth

    def cost(factor):
        total = 0.0
        for f, Z in zip(truth.frames, truth.points, strict=True):
            seen = np.isfinite(Z).all(axis=0)
            X, Z = small_result.points[f][:, seen], Z[:, seen]
            X, Z = X - X.mean(axis=1, keepdims=True), Z - Z.mean(axis=1, keepdims=True)
            U, _, Vt = np.linalg.svd(Z @ X.T)
            total += ((factor * U @ Vt @ X - Z) ** 2).sum()
        return total

    best = common_scale(small_result.points, truth)
    mirrored = small_result.points * np.array([1.0, 1.0, -1.0])[:, None]
    assert common_scale(mirrored, truth) == pytest.approx(best, rel=1e-12)
    assert 200 < best < 300
    assert cost(best) < min(cost(best * 1.001), cost(best * 0.999))


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("a.stl", {}, r"a\.stl has the suffix '\.stl'; accepted are \.npz, \.mat, \.usda, .*\.csv, \.traj"),
        ("a", {}, "has no suffix"),
        ("a.ply", {"frame": 5}, "frame is 5; the result has frames 0 to 4"),
        ("a.ply", {"frame": -1}, "frame is -1"),
        ("a.ply", {"frame": 1.5, "align": "truth"}, r"frame is 1\.5; accepted is a whole number"),
        ("a.ply", {"frame": 1, "frames": "stacked"}, "choose one"),
        ("a.ply", {"frames": "all"}, "frames is 'all'; accepted are one, numbered, stacked"),
        ("a.ply", {"coordinates": "world"}, "coordinates is 'world'"),
        ("a.ply", {"align": "mm"}, "align is 'mm'"),
        ("a.ply", {"align": "truth", "frame": 0}, "frame 1 has no ground truth"),
        ("a.obj", {"frames": "stacked"}, "OBJ cannot hold all frames"),
        ("a.gltf", {"frames": "numbered"}, "glTF holds all frames as an animation"),
        ("a.glb", {"fps": 0.0}, "fps is 0; accepted are 1e-06 to "),
        ("a.glb", {"interpolation": "cubic"}, "interpolation is 'cubic'; accepted are linear, step"),
        ("a.glb", {"color": "red"}, "color is 'red'; accepted are plain, std"),
        ("a.glb", {"color": "std"}, "color is 'std', but the result has no standard deviations"),
        (".glb", {}, "has no suffix"),
        ("absent/a.ply", {}, "absent does not exist"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_a_sentence(small_result, tmp_path, name, options, sentence):
    with pytest.raises(InputError, match=sentence):
        export(small_result, tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_alignment_ignores_true_frames_without_enough_points(small_result, tmp_path):
    points = small_result.truth.points.copy()
    points[0] = np.nan
    partial = replace(small_result, truth=replace(small_result.truth, points=points))
    (path,) = export(partial, tmp_path / "a.ply", frame=0, align="scale", coordinates="object")
    assert np.allclose(read_ply(path)["vertex"][:, :3], 250.0 * small_result.points[0].T, rtol=1e-12)
    with pytest.raises(InputError, match="only 0 points of the frame"):
        export(partial, tmp_path / "b.ply", frame=1, align="truth", coordinates="object")
    nothing = replace(small_result, truth=replace(small_result.truth, points=np.full((2, 3, 7), np.nan)))
    with pytest.raises(InputError, match="no frame of the ground truth"):
        export(nothing, tmp_path / "b.ply", align="scale", coordinates="object")


def test_ply_holds_standard_deviations(refined_result, tmp_path):
    (path,) = export(refined_result, tmp_path / "a.ply", frames="stacked", text=True)
    vertices = read_ply(path)["vertex"]
    assert np.allclose(vertices[:, 4:7], refined_result.std.transpose(0, 2, 1).reshape(-1, 3), rtol=1e-12)
    assert np.array_equal(vertices[:, 7], np.repeat(np.arange(5), 7))


def test_ply_holds_errors_and_indices_of_points(small_result, tmp_path):
    result = with_moved_truth(small_result)
    fitted = aligned_shapes(result, ExportOptions(align="truth", coordinates="object"))[3]
    expected = np.linalg.norm(fitted - result.truth.points[1], axis=0)
    for align in ("none", "truth"):  # the number is the same: without an alignment, each frame has its own
        (path,) = export(result, tmp_path / "a.ply", frame=3, align=align, coordinates="object")
        index, far, error = read_ply(path)["vertex"].T[4:]
        assert np.array_equal(index, np.arange(7))
        tracks = np.linalg.norm(result.observations()[3] - result.reprojections()[3], axis=0)
        assert np.allclose(far, tracks, atol=1e-6)
        assert np.allclose(error, expected, rtol=1e-6, equal_nan=True) and np.isnan(error).sum() == 1
        assert b"comment error in mm, per-frame similarity\n" in path.read_bytes()
    (path,) = export(result, tmp_path / "b.ply", frame=2, coordinates="object")  # no truth; point 4 is hidden
    _index, far, error = read_ply(path)["vertex"].T[4:]
    assert np.isnan(error).all() and np.flatnonzero(np.isnan(far)).tolist() == [4]
    (path,) = export(replace(result, truth=None), tmp_path / "c.ply", coordinates="object")
    assert read_ply(path)["vertex"].shape == (7, 6)


def test_another_library_reads_the_properties_of_a_ply_file(small_result, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (path,) = export(small_result, tmp_path / "a.ply", frame=3, align="truth")
    mesh = trimesh.load(path, process=False)
    data = mesh.metadata["_ply_raw"]["vertex"]["data"]
    read = data if isinstance(data, dict) else {name: data[name] for name in data.dtype.names}
    assert np.array_equal(mesh.faces, small_result.faces)
    assert np.array_equal(np.ravel(read["visible"]), small_result.visible[3])
    assert np.array_equal(np.ravel(read["index"]), np.arange(7))
    assert np.nanmax(np.ravel(read["error"]).astype(float)) < 1e-6


class Stop(Exception):
    pass


@pytest.mark.parametrize("suffix", [".ply", ".csv", ".trajectories.csv", ".glb", ".usda", ".html", ".pvd"])
def test_progress_is_reported_and_an_error_in_it_leaves_no_file(small_result, tmp_path, suffix):
    name, frames = f"a{suffix}", "numbered" if suffix == ".ply" else "one"
    told = []

    def count(done, total):
        told.append((done, total))

    def stop(done, total):
        if done and 2 * done >= total:
            raise Stop

    export(small_result, tmp_path / name, frames=frames, progress=count)
    done, total = np.array(told).T
    assert total[-1] > 1 and told[-1] == (total[-1], total[-1]) and (np.diff(done) >= 0).all()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(Stop):
        export(small_result, tmp_path / name, frames=frames, progress=stop)
    with pytest.raises(Stop):
        export(small_result, tmp_path / f"b{name}", frames=frames, progress=stop)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.fixture
def small_disk():
    """Let no file grow beyond a thousand bytes, as a full disk does: the system refuses the bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_full_disk_leaves_no_file_and_another_those_it_tells(small_result, tmp_path, small_disk, suffix):
    frames = "numbered" if suffix in (".ply", ".obj") else "one"
    path = tmp_path / f"a{suffix}"
    small_disk(200)
    with pytest.raises(InputError, match="cannot be written: File too large"):
        export(small_result, path, frames=frames)
    assert not list(tmp_path.iterdir())
    small_disk(-1)
    files = export(small_result, path, frames=frames)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert files[0] == path or frames == "numbered"


def test_a_figure_has_the_shape_upright_in_one_scale_at_the_frames_that_are_asked_for(small_result):
    figure = small_result.figure(frames=[3, 1])
    assert [axes.get_title() for axes in figure.axes] == ["frame 4", "frame 2"]
    upright = aligned_shapes(small_result, ExportOptions())[[3, 1]]
    for axes, shape in zip(figure.axes, upright, strict=True):
        x, y, z = np.array(axes.collections[-1]._offsets3d)
        centered = shape - shape.mean(axis=1, keepdims=True)
        np.testing.assert_allclose([x, z, -np.asarray(y)], centered, atol=1e-12)
        assert axes.get_xlim() == figure.axes[0].get_xlim()
    for whole in (np.int64(2), np.array([0, 4])):
        assert [axes.get_title() for axes in small_result.figure(frames=whole).axes] == ["frame 1", "frame 5"]
    for refused in ([99], [], 0, -3, "x", 1.5, [True]):
        with pytest.raises(InputError, match="accepted are 1 or more, or some of 0 to") as refusal:
            small_result.figure(frames=refused)
        assert f"frames are {refused!r};" in str(refusal.value)
