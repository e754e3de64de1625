"""The normalized error of published tables: its definition, and that it does not follow the alignment."""

from dataclasses import replace

import pytest
from reconstructions import build_shapes

from core import Alignment, CameraModel, Settings, iterate, simulate
from core.evaluation import Kind, camera_truth, e3d_global
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.text.run_numbers import numbers

SETTINGS = Settings(rank=2, starts=1, rotations="truth", objective="wnn")


def test_e3d_is_in_the_coordinates_of_the_camera_whatever_the_alignment():
    sequence = simulate("paper", camera=CameraModel.ORTHOGONAL, frames=8, points=15, occlusion=0.0)
    *_, last = iterate(sequence, SETTINGS)
    result = last.result()
    sized = result.intrinsics[0, 0] * result.camera_points
    expected = e3d_global(sized, camera_truth(sequence)).mean
    run = Run(1, sequence, SETTINGS, state=RunState.FINISHED, last=last)
    errors = set()
    for kind in (Kind.PER_FRAME, Kind.SEQUENCE):
        known = quality(build_shapes(sequence, last, Alignment(kind)))
        errors.add(known.error)
        assert known.e3d == pytest.approx(expected, rel=1e-9)
        rows = {row.label: row for row in numbers(run, incumbent_of(run, last, known), sequence)}
        row = rows["e3D"]
        assert row.value == f"{expected:.4f}, in the camera's coordinates, measured as published"
        assert "does not follow the alignment" in row.tip
    assert len(errors) == 2
    assert "starts that agree" in rows
    depths = replace(last, settings=Settings())  # which start from the candidates for the rotations
    rows = {row.label: row for row in numbers(run, incumbent_of(run, depths, known), sequence)}
    assert "starts that agree" not in rows
