"""TRC files, read as programs of biomechanics do: a head of five lines, then numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core import ExportOptions, InputError, export
from core.io.writers.options import aligned_shapes


def read_trc(path):
    """Return the values of the head, the names of the markers, times (F,) and positions (F, P, 3)."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0].split("\t") == ["PathFileType", "4", "(X/Y/Z)", path.name]
    head = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=True))
    columns = lines[3].split("\t")
    assert columns[:2] == ["Frame#", "Time"]
    names = columns[2::3]
    axes = [f"{axis}{number}" for number in range(1, len(names) + 1) for axis in "XYZ"]
    assert lines[4].split("\t") == ["", "", *axes] and lines[5] == "" and lines[-1] == ""
    table = np.array([[float(cell) for cell in line.split("\t")] for line in lines[6:-1]])
    assert np.array_equal(table[:, 0], np.arange(1, len(table) + 1))
    assert int(head["NumFrames"]) == len(table) and int(head["NumMarkers"]) == len(names)
    return head, names, table[:, 1], table[:, 2:].reshape(len(table), -1, 3)


@pytest.mark.parametrize(("align", "unit"), [("none", "m"), ("sequence", "mm")])
def test_markers_move_in_time_and_y_points_up(small_result, tmp_path, align, unit):
    names = ("nose", "left eye", "nose", "", "a", "b\tc", "d")
    meta = small_result.meta | {"point_names": names, "frame_rate": 30.0}
    (path,) = export(replace(small_result, meta=meta), tmp_path / "walk.trc", align=align)
    head, found, times, positions = read_trc(path)
    assert found == ["nose", "left_eye", "nose_3", "P4", "a", "b_c", "d"]
    assert head["Units"] == unit and head["DataRate"] == head["CameraRate"] == head["OrigDataRate"] == "30"
    assert head["OrigDataStartFrame"] == "1" and head["OrigNumFrames"] == "5"
    assert np.allclose(times, np.arange(5) / 30, atol=1e-6)
    expected = aligned_shapes(small_result, ExportOptions(align=align)).transpose(0, 2, 1) * [1, -1, -1]
    assert np.allclose(positions, expected, atol=1e-6)


@pytest.mark.parametrize(("unit", "written", "factor"), [("cm", "cm", 1.0), ("in", "m", 0.0254)])
def test_lengths_that_trc_does_not_know_become_meters(small_result, tmp_path, unit, written, factor):
    result = replace(small_result, meta=small_result.meta | {"truth_units": unit})
    (path,) = export(result, tmp_path / "a.trc", align="sequence")
    head, _names, _times, positions = read_trc(path)
    expected = aligned_shapes(result, ExportOptions(align="sequence")).transpose(0, 2, 1) * [1, -1, -1]
    assert head["Units"] == written and np.allclose(positions, factor * expected, atol=1e-6)


def test_points_without_names_are_numbered(small_result, tmp_path):
    (path,) = export(small_result, tmp_path / "a.trc", fps=12.5)
    head, names, times, _positions = read_trc(path)
    assert names == [f"P{number}" for number in range(1, 8)]
    assert head["DataRate"] == "12.5" and times[1] == 0.08


def test_values_that_are_not_finite_are_refused(small_result, tmp_path):
    B = small_result.B.copy()
    B[2] = np.nan
    with pytest.raises(InputError, match="not finite"):
        export(replace(small_result, B=B), tmp_path / "a.trc")
    assert not list(tmp_path.iterdir())
