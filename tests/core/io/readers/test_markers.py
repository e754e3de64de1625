"""C3D files of motion capture, written by ezc3d: views of the markers, which are the truth."""

import struct

import numpy as np
import pytest
from pose_tables import write_markers
from refusals import refuses

from core import CameraModel, read_sequence
from core.io.readers import inspect_file

FRAMES, POINTS = 8, 6
SHAPES = np.random.default_rng(2).normal(0, 300, (FRAMES, 3, POINTS)).astype(np.float32).astype(float)
NAMES = [f"LFHD{number}" for number in range(POINTS)]


def test_markers_are_the_truth_of_orthogonal_views_around_them(tmp_path):
    shapes = SHAPES.copy()
    shapes[3, :, 2] = np.nan
    path = write_markers(tmp_path / "walk.c3d", shapes, NAMES, "m")
    read = read_sequence(path)
    assert read.camera is CameraModel.ORTHOGONAL
    assert (read.units, read.truth_units, read.point_names) == ("m", "m", tuple(NAMES))
    np.testing.assert_array_equal(read.truth.points, shapes)
    np.testing.assert_array_equal(read.visible, np.isfinite(shapes).all(axis=1))
    np.testing.assert_allclose(read.tracks, (read.rotations @ shapes)[:, :2], equal_nan=True)
    products = read.rotations @ read.rotations.transpose(0, 2, 1)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), products.shape), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(read.rotations), 1)
    assert "views of the 3-D points of the file" in read.provenance
    contents = inspect_file(path)
    assert contents.clear and contents.producer == "C3D"
    assert {entry.name: entry.role for entry in contents.arrays}["POINTS"] == "truth"


def header(points=5, frames=4, scale=-1.0, processor=84):
    """Return the header of a C3D without any parameters."""
    content = bytearray(2 * 512)
    content[:2] = 2, 0x50
    struct.pack_into("<5HfH", content, 2, points, 0, 1, frames, 10, scale, 3)
    content[515] = processor
    return bytes(content)


@pytest.mark.parametrize(("scale", "kind"), [(-1.0, "<f4"), (0.5, "<i2")])
def test_a_c3d_of_floats_or_of_scaled_whole_numbers_is_read_without_parameters(scale, kind, tmp_path):
    values = np.arange(4 * 5 * 4).reshape(4, 5, 4).astype(kind)
    values[..., 3] = 0
    values[2, 3, 3] = -1
    (tmp_path / "a.c3d").write_bytes(header(scale=scale) + values.tobytes())
    read = read_sequence(tmp_path / "a.c3d")
    expected = values[..., :3].astype(float) * abs(scale if scale > 0 else 1)
    expected[2, 3] = np.nan
    np.testing.assert_array_equal(read.truth.points.transpose(0, 2, 1), expected)
    assert read.point_names is None and read.truth_units == "mm"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (header() + bytes(100), "is 1124 bytes; its header has 5 markers in the frames 1 to 4, which need"),
        (header(processor=86) + bytes(320), "as Motion capture .processor 86; accepted is 84, Intel"),
        (b"no C3D" + bytes(2000), "is no C3D file"),
    ],
)
def test_a_c3d_that_is_too_short_or_of_another_machine_is_refused(content, sentence, tmp_path):
    (tmp_path / "a.c3d").write_bytes(content)
    refuses(tmp_path / "a.c3d", sentence)
