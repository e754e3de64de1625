"""The files of point trackers, made as the trackers make them: shapes, types and names."""

import numpy as np
import pytest
from refusals import refuses
from scipy.io import savemat
from tracker_files import NTXY, ROWS, SCORES, SEEN, TAP_VID, TNXY, TRACKS, VIDEO, F, K, P, world

from core import CameraModel, inspect_file, read_sequence
from core.cli import main
from core.io.readers import LAYOUTS, READING_OPTIONS, SHAPES


def save(folder, arrays):
    np.savez(folder / "clip.npz", **arrays)
    return folder / "clip.npz"


@pytest.mark.parametrize("row", ROWS)
def test_a_tracker_is_known_by_the_names_of_its_arrays(tmp_path, row):
    found = inspect_file(save(tmp_path, ROWS[row]))
    assert not found.problem and found.clear and found.producer == row.partition(",")[0]
    read = found.sequence
    np.testing.assert_allclose(read.tracks, TRACKS, rtol=1e-6)
    np.testing.assert_array_equal(read.visible, SEEN)
    assert read.camera is CameraModel.PERSPECTIVE and read.intrinsics is None and read.units == "px"
    assert "perspective is assumed with an unknown focal length" in read.provenance
    assert [entry.role for entry in found.arrays][:2] == ["tracks", "visibility"]
    assert "" not in [entry.role for entry in found.arrays]
    again = read_sequence(tmp_path / "clip.npz", **found.reading)
    np.testing.assert_array_equal(again.tracks, read.tracks)
    np.testing.assert_array_equal(again.visible, read.visible)


def test_as_many_frames_as_points_are_settled_by_the_names(tmp_path):
    tapir = read_sequence(save(tmp_path, {"tracks": NTXY[:, :P], "visibles": SEEN[:P].T}))
    np.testing.assert_array_equal(tapir.tracks, TRACKS[:P])
    np.testing.assert_array_equal(tapir.visible, SEEN[:P])
    cotracker = read_sequence(save(tmp_path, {"tracks": TNXY[:P], "visibility": SEEN[:P]}))
    np.testing.assert_array_equal(cotracker.tracks, TRACKS[:P])


def test_axes_that_the_numbers_contradict_are_asked_for(tmp_path):
    first, last = {"tracks": TNXY, "visibles": SEEN}, {"tracks": NTXY, "visibility": SEEN.T}
    for arrays, order in ((first, "tnxy"), (last, "ntxy"), ({"positions": NTXY}, "ntxy")):
        file = save(tmp_path, arrays)
        refuses(file, f"smooth along .* --order {order}")
        np.testing.assert_array_equal(read_sequence(file, order=order).tracks, TRACKS)


def test_coordinates_of_the_model_s_picture_are_named(tmp_path):
    small = save(tmp_path, {"tracks": NTXY / 4, "visibles": SEEN.T})
    found = inspect_file(small)
    assert not found.clear and "TAPIR computes in 256 x 256 pixels" in found.guesses[0]
    assert inspect_file(small, size="240x180").clear


def test_tap_vid_is_relative_to_the_picture(tmp_path):
    refuses(save(tmp_path, TAP_VID), r"points are relative to the picture.*--size WIDTHxHEIGHT")
    sized = read_sequence(save(tmp_path, TAP_VID), size="960x720")
    np.testing.assert_allclose(sized.tracks, TRACKS, rtol=1e-6)
    assert sized.image_size == (960, 720)
    pixels = inspect_file(save(tmp_path, {"points": NTXY, "occluded": ~SEEN.T, "video": VIDEO}))
    assert not pixels.clear and "taken for pixels" in pixels.guesses[0]
    assert pixels.sequence.image_size is None
    np.testing.assert_array_equal(pixels.sequence.tracks, TRACKS)


@pytest.mark.parametrize("name", ["K", "KK", "intrinsics", "camera_matrix"])
def test_a_camera_matrix_of_the_file_is_used(tmp_path, name):
    found = inspect_file(save(tmp_path, {"tracks": NTXY, "visibles": SEEN.T, name: K}))
    assert found.clear
    np.testing.assert_array_equal(found.sequence.intrinsics, K)
    assert {entry.name: entry.role for entry in found.arrays}[name] == "intrinsics"


# -- points in space -----------------------------------------------------------------------------------------


def projected(arrays):
    """Each point by itself, in homogeneous coordinates."""
    image = np.empty((F, 2, P))
    for f in range(F):
        for p in range(P):
            x = arrays["intrinsics"][f] @ (arrays["extrinsics"][f] @ [*arrays["coords"][f, p], 1.0])[:3]
            image[f, :, p] = x[:2] / x[2]
    return image


@pytest.mark.parametrize("producer", ["TAPIP3D", "SpatialTrackerV2"])
def test_points_in_the_world_are_projected_and_kept_to_compare_with(tmp_path, producer):
    arrays = world()
    if producer == "SpatialTrackerV2":
        arrays |= {"unc_metric": np.ones((F, 4, 5)), "visibs": SCORES[:, :, None]}
    found = inspect_file(save(tmp_path, arrays))
    read = found.sequence
    assert found.clear and found.producer == producer
    np.testing.assert_allclose(read.tracks, projected(arrays), rtol=1e-5)
    np.testing.assert_array_equal(read.visible, SEEN)
    np.testing.assert_allclose(read.intrinsics, K)
    assert read.truth_name == producer
    np.testing.assert_array_equal(read.truth.points, arrays["coords"].transpose(0, 2, 1))
    assert read.image_size == (960, 720)
    assert {entry.name: entry.role for entry in found.arrays}["extrinsics"] == "cameras"


def test_a_zoom_leaves_the_camera_matrix_unknown(tmp_path):
    arrays = world()
    arrays["intrinsics"][3:, 0, 0] *= 1.2
    read = read_sequence(save(tmp_path, arrays))
    np.testing.assert_allclose(read.tracks, projected(arrays), rtol=1e-5)
    assert read.intrinsics is None and "intrinsics differ between the frames" in read.provenance


def test_tapvid_3d_has_the_truth_of_every_frame(tmp_path):
    arrays = world()
    ahead = arrays["coords"] + np.float32([0, 0, 8])
    hidden = np.argwhere(~SEEN)[0]
    ahead[tuple(hidden)] = np.nan
    lens = {"fx_fy_cx_cy": np.array([900.0, 900.0, 480.0, 360.0]), "images_jpeg_bytes": np.array([b"a"] * F)}
    found = inspect_file(save(tmp_path, {"tracks_XYZ": ahead, "visibility": SEEN, **lens}))
    read = found.sequence
    assert found.clear and found.producer == "TAPVid-3D"
    assert read.truth_name == "ground truth" and read.truth_units == "mm"
    np.testing.assert_allclose(read.truth.points, 1000.0 * ahead.transpose(0, 2, 1), rtol=1e-6)
    image = K @ ahead.transpose(0, 2, 1)
    np.testing.assert_allclose(read.tracks, image[:, :2] / image[:, 2:], rtol=1e-5)
    np.testing.assert_array_equal(read.visible, SEEN)


BEHIND = np.tile(np.diag([1.0, 1, -1, 1]), (F, 1, 1)) - 9 * np.eye(4)[2][:, None]
BROKEN_WORLDS = {
    "cameras": ({"extrinsics": np.eye(3)}, "extrinsics is 3 x 3; accepted is 12 x 4 x 4 or 3 x 4"),
    "frames": ({"intrinsics": np.tile(K, (5, 1, 1))}, "intrinsics is 5 x 3 x 3; accepted is 12 x 3 x 3"),
    "numbers": ({"extrinsics": np.full((F, 4, 4), np.inf)}, r"extrinsics\(1, 1, 1\) is inf"),
    "behind": ({"extrinsics": BEHIND}, "depth"),
    "mask": ({"visibs": SEEN[1:]}, r"visibs \(11 x 9\) is named as a visibility mask"),
}


@pytest.mark.parametrize("case", BROKEN_WORLDS)
def test_points_in_the_world_that_cannot_be_projected_are_refused(tmp_path, case):
    changes, sentence = BROKEN_WORLDS[case]
    refuses(save(tmp_path, world() | changes), sentence)


def test_cameras_of_megasam_are_no_tracks(tmp_path):
    arrays = {"images": VIDEO, "depths": np.ones((F, 9, 12)), "intrinsic": K, "cam_c2w": np.ones((F, 4, 4))}
    refuses(save(tmp_path, arrays), "as MegaSaM writes them, and no tracks")


# -- structs of isometric NRSfM ------------------------------------------------------------------------------


def isometric(pixels, rows):
    shapes = (world()["coords"] + [0, 0, 8.0]).transpose(0, 2, 1).astype(np.float64)
    image = (K if pixels else np.eye(3)) @ shapes
    return list((image / image[:, 2:])[:, :rows]), shapes


def structs(name, values):
    array = np.empty((1, len(values)), dtype=[(name, object)])
    for index, value in enumerate(values):
        array[0, index][name] = value
    return array


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("pixels", [True, False])
@pytest.mark.parametrize("form", ["scene", "plain"])
def test_the_structs_of_isometric_nrsfm_are_read(tmp_path, form, pixels, rows):
    image, shapes = isometric(pixels, rows)
    missing = image[1][:, 4].copy()
    image[1][:2, 4] = 0
    if form == "scene":
        variables = {"scene": {"m": structs("p", image), "Pgth": structs("P", shapes), "K": K}}
    else:
        variables = {"p": structs("p", image), "Pgth": structs("P", shapes), "KK": K}
    savemat(tmp_path / "warps.mat", variables)
    found = inspect_file(tmp_path / "warps.mat")
    read = found.sequence
    assert found.clear and missing.any()
    exact = K @ shapes
    expected = np.ones((F, P), bool)
    expected[1, 4] = False
    np.testing.assert_array_equal(read.visible, expected)
    pixels = np.where(expected[:, None], exact[:, :2] / exact[:, 2:], np.nan)
    np.testing.assert_allclose(np.where(expected[:, None], read.tracks, np.nan), pixels)
    np.testing.assert_array_equal(read.truth.points, shapes)
    np.testing.assert_array_equal(read.intrinsics, K)


def test_the_page_of_formats_has_every_layout(capsys):
    assert main(["formats"]) == 0
    page = capsys.readouterr().out
    missing = [key for key, layout in LAYOUTS.items() if f"| `{key}` | {layout.summary} |" not in page]
    missing += [key for key, shape in SHAPES.items() if f"| `{key}` | {shape.summary} |" not in page]
    missing += [option for option in READING_OPTIONS if f"--{option.replace('_', '-')}" not in page]
    assert not missing


def test_the_mask_of_totem_is_named_as_it_is_read(tmp_path):
    image, shapes = isometric(True, 2)
    seen = np.ones((F, P), np.uint8)
    seen[2, 3] = 0
    path = tmp_path / "totem.mat"
    savemat(path, {"p": structs("p", image), "Pgth": structs("P", shapes), "v": seen})
    found = inspect_file(path)
    assert found.clear and found.reading["visible"] == "v"
    for read in (found.sequence, read_sequence(path, **found.reading)):
        np.testing.assert_array_equal(read.visible, seen == 1)
