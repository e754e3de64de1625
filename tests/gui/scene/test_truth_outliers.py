"""Outliers of a ground truth: named where a frame is bad, and left out of all means on demand."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes

from core import Alignment, GroundTruth
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d.parts import scene_parts
from nrsfm_gui.scene.frame_analysis import find
from nrsfm_gui.scene.frame_causes import LEAVE_OUT, cause_of, frame_numbers
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.scene.sequence_errors import frame_ahead
from nrsfm_gui.text.run_numbers import numbers

BAD, POINT = 7, 3  # where the truth is wrong
WITHOUT = Alignment(outliers=False)


@pytest.fixture
def case(make_known):
    """A perfect reconstruction, and a truth with noise and one point that is far off."""
    known = make_known()
    rng = np.random.default_rng(0)
    points = known.sequence.truth.points + rng.normal(0, 0.3, known.sequence.truth.points.shape)
    points[BAD, :, POINT] += 30 * np.std(points[BAD] - points[BAD].mean(axis=1, keepdims=True))
    truth = GroundTruth(known.sequence.truth.frames, points, known.sequence.truth.reference)
    return replace(known.sequence, truth=truth), known.result


def test_the_cause_of_a_frame_names_the_point_of_the_truth_that_is_wrong(case):
    sequence, result = case
    found = find(sequence, build_shapes(sequence, result))
    cause = cause_of(found, BAD)
    assert cause.name == "outliers of the truth"
    assert f"without 1 of {sequence.point_count} points this error falls by 99 %" in cause.sentence
    assert cause.sentence.endswith(f"the ground truth of point {POINT + 1} is far from its neighbors")
    rows = {row.label: row for row in frame_numbers(found, BAD)}
    assert rows["without outliers"].tip.endswith(LEAVE_OUT)
    assert "without outliers" not in {row.label for row in frame_numbers(found, BAD - 1)}
    assert cause_of(find(sequence, build_shapes(sequence, result, WITHOUT)), BAD) is None


def test_left_out_outliers_have_no_error_and_the_numbers_say_so(case, known, make_iterate):
    sequence, result = case
    shapes, without = build_shapes(sequence, result), build_shapes(sequence, result, WITHOUT)
    assert np.isnan(without.errors[BAD, POINT]) and np.isfinite(shapes.errors[BAD, POINT])
    np.testing.assert_array_equal(without.errors, shapes.errors_without)
    assert without.errors_without is None
    assert np.nanmax(without.errors) < 3 < shapes.errors[BAD].mean()
    assert without.alignment_name == "per-frame similarity, without outliers of the truth"
    assert "without outliers of the truth" in build_scene(sequence, without, frame=BAD).caption
    errors = quality(shapes)
    assert errors.outliers == 1 and errors.without == pytest.approx(quality(without).error)
    assert errors.worst_outliers == ((BAD, POINT),)
    assert quality(without).without is None
    iterate = make_iterate(known, noise=0.0)
    run = Run(1, sequence, iterate.settings, state=RunState.FINISHED, last=iterate)
    rows = numbers(run, incumbent_of(run, iterate, errors), sequence)
    (row,) = (row for row in rows if row.label == "without outliers")
    assert f"Here: point {POINT + 1} in frame {BAD + 1}." in row.tip
    assert row.value.endswith(f"(1 of {np.isfinite(shapes.errors).sum()})")


def test_an_outlier_of_the_truth_moves_neither_the_estimate_nor_the_view_and_the_legend_counts_it(
    case, known, make_iterate
):
    sequence, result = case
    shapes, clean = build_shapes(sequence, result), build_shapes(known.sequence, result)
    assert clean.errors_without is None
    scene = build_scene(sequence, shapes, frame=BAD)
    size = np.ptp(clean.framing.box, axis=0).max()
    np.testing.assert_allclose(scene.estimate, clean.points[BAD].T, atol=0.02 * size)
    np.testing.assert_allclose(shapes.framing.box, clean.framing.box, atol=0.05 * size)
    assert scene.truth_label == "ground truth (1 outlier not fitted)"
    assert build_scene(sequence, shapes, frame=BAD - 1).truth_label == "ground truth"
    left_out = build_scene(sequence, build_shapes(sequence, result, WITHOUT), frame=BAD)
    assert left_out.truth_label == "ground truth"
    parts = scene_parts(scene, DARK)
    assert POINT in scene.edges and POINT not in parts["truth edges"].ends
    assert POINT in parts["estimate edges"].ends
    iterate = make_iterate(known, noise=0.0)
    ahead = frame_ahead(build_shapes(sequence, iterate), sequence, iterate, BAD)  # aligned by itself
    np.testing.assert_allclose(ahead.points[0], shapes.points[BAD], atol=1e-6 * np.abs(shapes.points).max())


def test_the_cause_of_a_misfit_names_the_tracks_that_are_wrong(make_known):
    known = make_known()
    tracks = np.array(known.sequence.tracks)
    tracks[BAD, :, [2, 6]] += 40.0
    sequence = replace(known.sequence, tracks=tracks)
    found = find(sequence, build_shapes(replace(sequence, truth=None), known.result))
    cause = cause_of(found, BAD)
    assert cause.name == "outliers of the tracks"
    assert f"without 2 of {sequence.visible[BAD].sum()} points this error falls by 9" in cause.sentence
    assert cause.sentence.endswith("the tracks of points 3, 7 may be wrong")
