"""ParaView's files, read as the description of the XML formats of VTK has them."""

import base64
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from shape_files import drawn_as

from core import ExportOptions, export
from core.io.writers.options import aligned_shapes
from core.io.writers.scene import compare

TYPES = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}


def read_vtp(path):
    """Return the arrays of a file by section and name."""
    root = ElementTree.parse(path).getroot()
    stated = {"type": "PolyData", "version": "1.0", "byte_order": "LittleEndian"}
    assert root.attrib == stated | {"header_type": "UInt64"}
    (piece,) = root.find("PolyData")
    read = {"counts": {name: int(value) for name, value in piece.attrib.items()}}
    for section in piece:
        for item in section:
            content = base64.b64decode(item.text, validate=True)
            assert int.from_bytes(content[:8], "little") == len(content) - 8
            values = np.frombuffer(content[8:], TYPES[item.get("type")])
            width = int(item.get("NumberOfComponents"))
            read[section.tag, item.get("Name")] = values.reshape(-1, width) if width > 1 else values
    return read, piece


def listed(path):
    """Return the time and the file of every entry of a list."""
    root = ElementTree.parse(path).getroot()
    assert root.get("type") == "Collection"
    return [(float(item.get("timestep")), item.get("file")) for item in root.find("Collection")]


@pytest.mark.parametrize("align", ["none", "sequence"])
def test_every_frame_is_a_file_under_its_number(small_result, tmp_path, align):
    files = export(small_result, tmp_path / "a & b.pvd", align=align)
    assert listed(files[0]) == [(frame, f"a & b_{frame:04d}.vtp") for frame in range(1, 6)]
    assert [file.name for file in files[1:]] == [name for _time, name in listed(files[0])]
    expected = aligned_shapes(small_result, ExportOptions(align=align))
    compared = compare(small_result, ExportOptions(align=align))
    for frame, file in enumerate(files[1:]):
        read, piece = read_vtp(file)
        assert np.array_equal(read["Points", "Points"], expected[frame].T)
        assert read["counts"]["NumberOfPoints"] == 7 and read["counts"]["NumberOfPolys"] == 2
        assert piece.find("PointData").get("Scalars") == "error"
        assert np.array_equal(read["PointData", "index"], np.arange(7))
        assert np.array_equal(read["PointData", "visible"], small_result.visible[frame])
        assert np.allclose(read["PointData", "error"], compared.errors[frame], rtol=1e-5, equal_nan=True)
        over = expected[frame].T + read["PointData", "to_truth"]
        assert np.allclose(over, compared.points[frame].T, rtol=1e-4, atol=1e-4, equal_nan=True)
        far = np.linalg.norm(small_result.observations() - small_result.reprojections(), axis=1)[frame]
        assert np.allclose(read["PointData", "reprojection_error"], far, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("drawn", ["faces", "edges", "points"])
def test_cells_are_faces_or_edges_or_points(small_result, tmp_path, drawn):
    files = export(drawn_as(small_result, drawn), tmp_path / "a.pvd", frame=2)
    assert [file.name for file in files] == ["a.pvd", "a_0003.vtp"]
    assert listed(files[0]) == [(3, "a_0003.vtp")]
    read, _piece = read_vtp(files[1])
    expected = {"Polys": small_result.faces if drawn == "faces" else np.zeros((0, 3), dtype=int)}
    expected["Lines"] = small_result.edges if drawn == "edges" else np.zeros((0, 2), dtype=int)
    expected["Verts"] = np.arange(0 if drawn == "faces" else 7)[:, None]
    for name, corners in expected.items():
        assert read["counts"][f"NumberOf{name}"] == len(corners)
        assert np.array_equal(read[name, "connectivity"], corners.ravel())
        assert np.array_equal(read[name, "offsets"], corners.shape[1] * np.arange(1, len(corners) + 1))


def test_standard_deviations_and_missing_truth(refined_result, tmp_path):
    files = export(replace(refined_result, truth=None), tmp_path / "a.pvd", frame=1)
    read, piece = read_vtp(files[1])
    assert np.allclose(read["PointData", "std"], refined_result.std[1].T, rtol=1e-6)
    assert ("PointData", "error") not in read
    assert piece.find("PointData").get("Scalars") == "reprojection_error"


def test_files_of_an_earlier_list_go_and_others_stay(small_result, tmp_path):
    path, other = tmp_path / "a & b.pvd", tmp_path / "other.vtp"
    export(small_result, path)
    other.touch()
    (tmp_path / "a & b_9999.vtp").touch()  # which no list names
    path.write_text(path.read_text().replace("a &amp; b_0001.vtp", "other.vtp"))
    export(small_result, path, frame=2)
    assert listed(path) == [(3, "a & b_0003.vtp")]
    names = ["a & b.pvd", "a & b_0001.vtp", "a & b_0003.vtp", "a & b_9999.vtp", "other.vtp"]
    assert sorted(file.name for file in tmp_path.iterdir()) == names
