import numpy as np
import pytest

from core import Alignment, GroundTruth, procrustes_mm, simulate
from core.evaluation import Kind, aligned_mm, fall_sentence, find_truth_outliers
from core.synthetic import KINDS

BAD = ((3, 5), (3, 11), (9, 5))  # frame and point


@pytest.fixture(scope="module")
def clean():
    return simulate("paper", frames=14, points=30).truth


def spoiled(truth, far=4.0, cells=BAD):
    """The truth with some points moved by a multiple of its size, each in another direction."""
    points = np.array(truth.points)
    size = np.nanstd(points[0])
    rng = np.random.default_rng(2)
    for frame, point in cells:
        way = rng.normal(size=3)
        points[frame, :, point] += far * size * way / np.linalg.norm(way)
    return GroundTruth(truth.frames, points, truth.reference)


@pytest.mark.parametrize("kind", KINDS)
def test_a_shape_that_deforms_has_no_outliers(kind):
    assert not find_truth_outliers(simulate(kind, frames=14, points=30).truth).any()


@pytest.mark.parametrize("change", ["", "a size and a place of its own", "unknown points"])
def test_moved_points_are_found_and_no_others(clean, change):
    points = np.array(spoiled(clean).points)
    if change == "a size and a place of its own":
        points[4] = 1.5 * points[4] + 500.0
    elif change == "unknown points":
        points[:, :, 7] = np.nan  # never known
        points[6, :, ::2] = np.nan
    found = find_truth_outliers(GroundTruth(clean.frames, points, clean.reference))
    assert {tuple(cell) for cell in np.argwhere(found).tolist()} == set(BAD)
    assert not found.flags.writeable


def test_few_frames_or_points_have_no_outliers(clean):
    truth = spoiled(clean)
    two = GroundTruth(np.array([3, 9]), truth.points[[3, 9]], 3)
    assert not find_truth_outliers(two).any()
    few = GroundTruth(truth.frames, truth.points[:, :, 4:8], truth.reference)
    assert not find_truth_outliers(few).any()


def test_points_that_are_left_out_have_no_error_and_move_no_other(clean):
    """Against an alignment of the other points alone."""
    rng = np.random.default_rng(0)
    estimate = clean.points + rng.normal(0, 0.02 * clean.points.std(), clean.points.shape)
    errors, _ = aligned_mm(estimate, spoiled(clean), Alignment(outliers=False))
    counts = np.ones((14, 30), dtype=bool)
    counts[tuple(np.transpose(BAD))] = False
    alone = [
        procrustes_mm(own[None][:, :, keep], GroundTruth(np.array([0]), true[None][:, :, keep], 0)).per_point
        for own, true, keep in zip(estimate, clean.points, counts, strict=True)
    ]
    assert np.isnan(errors.per_point[~counts]).all()
    np.testing.assert_allclose(errors.per_point[counts], np.concatenate(alone, axis=1)[0], rtol=1e-9)
    assert errors.mean == pytest.approx(np.nanmean(errors.per_point))


@pytest.mark.parametrize("kind", [Kind.PER_FRAME, Kind.SEQUENCE, Kind.RIGID])
def test_outliers_move_nothing_but_count_in_the_mean(clean, kind):
    rng = np.random.default_rng(0)
    estimate = clean.points + rng.normal(0, 0.02 * clean.points.std(), clean.points.shape)
    truth = spoiled(clean)
    errors, _ = aligned_mm(estimate, truth, Alignment(kind))
    without, _ = aligned_mm(estimate, truth, Alignment(kind, outliers=False))
    counts = np.isfinite(without.per_point)
    assert (~counts).sum() == len(BAD)
    np.testing.assert_array_equal(errors.per_point[counts], without.per_point[counts])
    assert errors.per_point[~counts].min() > 20 * without.mean
    assert errors.mean == pytest.approx(errors.per_point.mean())
    assert procrustes_mm(estimate, truth).per_frame[3] != pytest.approx(errors.per_frame[3], rel=1e-3)


def test_a_sentence_names_what_the_error_falls_by_where_it_does():
    assert fall_sentence(10.0, 4.2, 1, 236) == "without 1 of 236 points this error falls by 58 %"
    assert fall_sentence(10.0, 9.6, 1, 236) == "" == fall_sentence(10.0, 4.0, 0, 236)
    assert fall_sentence(0.0, 0.0, 1, 236) == "" == fall_sentence(10.0, float("nan"), 1, 236)
