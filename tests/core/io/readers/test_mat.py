import struct
import sys

import h5py
import numpy as np
import pytest
from refusals import refuses
from scipy.io import savemat
from scipy.sparse import csc_array
from tracker_files import cells

from core import CameraModel, list_sequences, read_sequence
from core.io.files.variables import size_of
from core.io.readers import inspect_file
from core.io.readers.arrays.mat import load_variables

F, P = 6, 9
K = np.array([[900.0, 0, 320], [0, 905.0, 240], [0, 0, 1]])
S = np.random.default_rng(0).normal(size=(F, 3, P)) + np.array([0, 0, 10.0])[:, None]  # in front of a camera
R = np.linalg.qr(np.random.default_rng(1).normal(size=(F, 3, 3)))[0]
R *= np.linalg.det(R)[:, None, None]
W = R[:, :2] @ S + np.array([1.0, -2.0])[:, None]
OFFSET = np.tile([1.0, -2.0, 0.0], (F, 1))


def rows(array):
    """(F, d, P) to d F x P, the rows of a frame together."""
    return array.reshape(-1, array.shape[2])


def stacked(array):
    """(F, d, P) to d F x P, the rows of a coordinate together."""
    return np.concatenate([array[:, row] for row in range(array.shape[1])])


def in_pixels(image):
    return image[:, :2] / image[:, 2:]


def save(path, **variables):
    savemat(path, variables)
    return path


def check(read, *, truth=None, **arrays):
    if truth is not None:
        np.testing.assert_array_equal(read.truth.points, truth)
    for name, array in arrays.items():
        np.testing.assert_allclose(getattr(read, name), array, rtol=1e-9, atol=1e-9)


def test_motion_capture_with_cameras_and_skeleton(tmp_path):
    pairs = np.array([[1, 2], [2, P]])
    file = save(tmp_path / "mocap.mat", W=rows(W), S=rows(S), Rs=rows(R[:, :2]), list=pairs, K=5)
    read = read_sequence(file)
    assert read.camera is CameraModel.ORTHOGONAL and read.units == read.truth_units == "units"
    check(read, tracks=W, truth=S, rotations=R, translations=OFFSET, edges=pairs - 1)


def test_the_factors_of_tracks_are_the_truth_where_they_show_them(tmp_path):
    factors = {name: array.transpose(1, 2, 0) for name, array in (("W", W), ("S", S), ("R", R))}
    read = read_sequence(save(tmp_path / "jaw.mat", **factors))
    check(read, tracks=W, truth=S, rotations=R, translations=OFFSET)
    read = read_sequence(save(tmp_path / "jaw.mat", **factors | {"S": 1.001 * factors["S"]}))
    check(read, tracks=W)
    assert read.truth is None and read.rotations is None
    assert "R S differs from W by up to" in read.provenance


def test_views_of_a_rigid_scene_by_cameras_of_their_own_are_put_into_one(tmp_path):
    X, t = S[0] - [[0], [0], [10]], np.array([0.1, 0.2, 12.0])
    zooms = 1 + 0.01 * np.arange(F)
    cameras = [-2.0 * K * [[z], [z], [1]] @ np.column_stack([R[f], t]) for f, z in enumerate(zooms)]
    image = np.stack([camera @ np.vstack([X, np.ones(P)]) for camera in cameras])
    structs = np.array([(camera,) for camera in cameras], dtype=[("P", "O")])[None]
    variables = {"W": rows(in_pixels(image)), "Xgt": X, "P": structs}
    read = read_sequence(save(tmp_path / "house.mat", **variables))
    assert "each frame has a K of its own, f from 900 to 945" in read.provenance
    Y = read.intrinsics @ (read.rotations @ read.truth.points + read.translations[:, :, None])
    check(read, tracks=in_pixels(Y))
    assert (Y[:, 2] > 0).all() and "mirrored" not in read.provenance
    structs["P"] = [[camera * [-1, -1, -1, 1] for camera in cameras]]  # in left-handed axes
    mirrored = read_sequence(save(tmp_path / "house.mat", **variables | {"Xgt": -X}))
    check(mirrored, tracks=read.tracks, rotations=read.rotations, translations=read.translations)
    check(mirrored, truth=read.truth.points)
    assert "Xgt is in left-handed axes, and is mirrored" in mirrored.provenance
    file = save(tmp_path / "house.mat", **variables | {"Xgt": X[:, 1:]})
    refuses(file, f"Xgt is 3 x {P - 1}; accepted is 3 x {P}")


def test_labels_of_leap_are_points_first_and_frames_without_labels_are_left_out(tmp_path):
    places = np.full((8, P, 2), np.nan)
    places[1:7] = S[:, :2].transpose(0, 2, 1) * 20 + 300
    places[4] = np.nan
    skeleton = {"nodes": cells([np.array(["a"])] * P), "edges": np.array([[1, 2], [2, P]])}
    positions = places.transpose(1, 2, 0)
    variables = {"positions": positions, "initialization": positions + 1, "skeleton": skeleton}
    found = inspect_file(save(tmp_path / "labels.mat", **variables))
    check(found.sequence, tracks=places[[1, 2, 3, 5, 6]].transpose(0, 2, 1), edges=[[0, 1], [1, P - 1]])
    (left_out,) = found.left_out
    assert left_out.startswith("frames that show no point are left out: 1, 5, 8 of 8; the numbers of those")


def test_blocked_shapes_are_seen_from_the_front_and_others_without_images_are_refused(tmp_path):
    file = save(tmp_path / "faces.mat", X=S.transpose(1, 2, 0))
    refuses(file, r"X \(3 x 9 x 6\) may be shapes in 3-D, and there are no image")
    read = read_sequence(save(tmp_path / "face.mat", P3_gt=stacked(S)))
    check(read, tracks=S[:, :2], truth=S)
    assert "orthogonal projection" in read.provenance


@pytest.mark.parametrize(("name", "filler"), [("X", 0.0), ("M", np.nan)])
def test_the_mask_marks_what_is_missing(tmp_path, name, filler):
    seen = np.random.default_rng(2).random((F, P)) < 0.8
    mask = rows(np.repeat(seen[:, None], 2, axis=1)).astype(np.uint8)
    file = save(tmp_path / "book.mat", **{name: np.where(mask, rows(S[:, :2]), filler), "W": mask})
    read = read_sequence(file)
    check(read, visible=seen, tracks=np.where(seen[:, None], S[:, :2], np.nan))
    assert read.camera is CameraModel.ORTHOGONAL
    assert "orthogonal is assumed" in read.provenance


def test_a_camera_matrix_makes_it_perspective_and_the_user_may_overrule(tmp_path):
    file = save(tmp_path / "house.mat", M=rows(S[:, :2]), W=np.ones((2 * F, P)), K=2 * K)
    read = read_sequence(file)
    assert read.camera is CameraModel.PERSPECTIVE and read.units == "px"
    np.testing.assert_array_equal(read.intrinsics, K)
    overruled = read_sequence(file, camera=CameraModel.ORTHOGONAL)
    assert overruled.camera is CameraModel.ORTHOGONAL and overruled.intrinsics is None
    assert overruled.provenance == "" and overruled.reading == {"camera": "orthogonal"}


def test_back_takes_zero_columns_for_missing_truth(tmp_path):
    known = S.copy()
    known[0, :, 1] = known[0, :, 2] = known[3, :, 4] = 0
    variables = {"L_tracks": 100 * S[:, :2].transpose(1, 2, 0), "track3D": known.transpose(1, 2, 0)}
    read = read_sequence(save(tmp_path / "back.mat", **variables))
    assert read.camera is CameraModel.PERSPECTIVE and read.intrinsics is None
    check(read, tracks=100 * S[:, :2], truth=np.where(known, known, np.nan))
    assert read.truth.reference == 1  # the first frame with all points known


@pytest.mark.parametrize("variant", ["Pgth", "res"])
def test_kinect_points_are_projected_and_the_provenance_names_it(tmp_path, variant):
    if variant == "Pgth":
        file = save(tmp_path / "mat.mat", Pgth=cells(list(S)), K=K)
    else:
        file = save(tmp_path / "results.mat", res={"Pg": cells(list(S)), "err3d": np.ones((1, F))})
        save(tmp_path / "mdh_camcalib.mat", KK=K)
    read = read_sequence(file)
    check(read, tracks=in_pixels(K @ S), intrinsics=K, truth=S)
    assert "projected from the 3-D points" in read.provenance and "without noise" in read.provenance
    check(read_sequence(file, camera=CameraModel.ORTHOGONAL), tracks=S[:, :2])


def test_views_of_a_scene_count_points_from_1_and_their_cameras_are_factored(tmp_path):
    scene, t = np.random.default_rng(3).normal(size=(3, P)), np.tile([0.1, -0.2, 12.0], (F, 1))
    poses = np.concatenate([R, t[:, :, None]], axis=2)
    cameras = np.array([1, -2, 3, 1, -1, 4])[:, None, None] * K @ poses
    exact = in_pixels(K @ (R @ scene + t[:, :, None]))
    seen = [np.array([0, 2, 4, 8, 5]), *[np.arange(P)] * (F - 1)]
    points = [np.vstack([exact[f][:, index], np.ones(len(index))]) for f, index in enumerate(seen)]
    views = {"pointnr": P, "points": cells(points), "index": cells([index + 1 for index in seen])}
    variables = {"u": views, "P": cells(list(cameras)), "U": np.vstack([scene, np.ones(P)]) * 2.0}
    read = read_sequence(save(tmp_path / "data.mat", **variables))
    assert list(np.flatnonzero(read.visible[0])) == [0, 2, 4, 5, 8] and read.visible[1:].all()
    check(read, tracks=np.where(read.visible[:, None], exact, np.nan), intrinsics=K)
    check(read, rotations=R, translations=t)
    np.testing.assert_allclose(read.truth.points, np.tile(scene, (F, 1, 1)))


def matlab_73(path, variables):
    """Write a file as MATLAB -v7.3 does: 512 bytes of text, axes reversed, cells as references."""
    with h5py.File(path, "w", userblock_size=512) as file:
        inside = file.create_group("#refs#")
        for name, value in variables.items():
            parent, _, leaf = name.rpartition(".")
            group = file.require_group(parent) if parent else file
            if isinstance(value, list):
                references = np.empty((len(value), 1), dtype=h5py.ref_dtype)
                for index, item in enumerate(value):
                    references[index, 0] = inside.create_dataset(f"{leaf}{index}", data=item.T).ref
                stored = group.create_dataset(leaf, data=references)
                stored.attrs["MATLAB_class"] = np.bytes_("cell")
            else:
                stored = group.create_dataset(leaf, data=np.asarray(value).T)
                stored.attrs["MATLAB_class"] = np.bytes_("double")
        note = file.create_dataset("note", data=np.array([[104], [105]], dtype=np.uint16))
        note.attrs["MATLAB_class"] = np.bytes_("char")
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
    return path


def test_version_73_gives_the_same_as_version_5(tmp_path):
    variables = {"W": rows(S[:, :2]), "S": rows(S)}
    old, new = save(tmp_path / "old.mat", **variables), matlab_73(tmp_path / "new.mat", variables)
    np.testing.assert_array_equal(read_sequence(new).tracks, read_sequence(old).tracks)
    read = read_sequence(matlab_73(tmp_path / "cells.mat", {"res.Pg": list(S), "K": K}))
    np.testing.assert_array_equal(read.truth.points, S)


def test_version_73_without_h5py_names_the_extra(tmp_path, monkeypatch):
    file = matlab_73(tmp_path / "new.mat", {"W2D": stacked(S[:, :2])})
    monkeypatch.setitem(sys.modules, "h5py", None)
    refuses(file, r"new\.mat: is HDF5, as MATLAB 7\.3, SLEAP and DeepLabCut write it.*nrsfm-gui\[hdf5\]")


def test_the_camera_file_next_to_a_sequence_is_no_entry(tmp_path):
    save(tmp_path / "mdh_camcalib.mat", KK=K)
    alone = list_sequences(tmp_path)
    assert len(alone) == 1 and "mdh_camcalib.mat" in alone[0].problem
    file = save(tmp_path / "own.mat", Pgth=cells(list(S)), K=K)
    assert len(list_sequences(tmp_path)) == 2  # which has a K of its own
    file.unlink()
    save(tmp_path / "uses.mat", Pgth=cells(list(S)))
    assert [entry.object_name for entry in list_sequences(tmp_path)] == ["uses"]


# -- values --------------------------------------------------------------------------------------------------


def test_values_are_arrays_lists_and_dicts(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(6, 9))
    structs = np.zeros((1, 2), [("p", object), ("of", object)])
    structs[0, 0], structs[0, 1] = (numbers, "view 1"), (numbers[:3], "view 2")
    known = {"W": numbers, "complex": numbers * 1j, "flags": numbers > 0, "empty": np.zeros((0, 3))}
    known |= {"single": np.float32([[3]]), "small": np.uint8([[1, 2]])}
    others = {"text": "nothing to read", "sparse": csc_array(numbers * (numbers > 0)), "structs": structs}
    others["struct"] = {"a": np.eye(3), "in": {"b": cells([numbers, "text"])}}
    file = save(tmp_path / "a.mat", **known, **others)
    found = load_variables(file.read_bytes())
    assert found["small"].dtype == np.uint8
    expected = {"sparse": numbers * (numbers > 0), "struct": {"a": np.eye(3), "in": {"b": [numbers, None]}}}
    expected["structs"] = [{"p": numbers, "of": None}, {"p": numbers[:3], "of": None}]
    np.testing.assert_equal(found, known | expected)


def test_numbers_of_the_other_order_become_native():
    header = struct.pack(">5i", 1000, 2, 3, 0, 2) + b"W\0"
    ours = load_variables(header + struct.pack(">6d", 1, -2.5, 3e300, 4, 5, 6))
    np.testing.assert_array_equal(ours["W"], [[1, 3e300, 5], [-2.5, 4, 6]])
    assert ours["W"].dtype.isnative


def test_what_is_too_large_beside_the_tracks_is_marked_and_alone_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.003")
    mask, wanted, file = np.zeros((2000, 2000), np.uint8), np.arange(24.0).reshape(4, 6), tmp_path / "a.mat"
    for rois in (mask, cells([mask])):
        savemat(file, {"rois": rois, "W": wanted}, do_compression=True)
        found = load_variables(file.read_bytes())
        np.testing.assert_array_equal(found["W"], wanted)
        assert size_of(found["rois"]) == "more than a file of this size may need, and not read"
    savemat(file, {"rois": mask}, do_compression=True)
    refuses(file, "needs too much of memory; accepted of a file of this size are 3 MB")
