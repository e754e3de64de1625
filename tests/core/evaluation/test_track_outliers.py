import numpy as np
import pytest

from core import InputError
from core.evaluation import find_outliers
from core.evaluation.outliers import DriftingPoint

FRAMES, POINTS = 60, 40


@pytest.fixture
def residuals():
    """Distances of normal noise, some of them not observed."""
    rng = np.random.default_rng(0)
    found = rng.rayleigh(0.8, size=(FRAMES, POINTS))
    found[rng.random(found.shape) < 0.1] = np.nan
    return found


def test_noise_has_no_outliers(residuals):
    found = find_outliers(residuals)
    assert found.count == 0 and found.share == 0.0 and found.drifting == ()
    assert found.threshold == pytest.approx(0.8 * 5.2, rel=0.05)  # standard deviations of a coordinate
    for nothing in (np.full((5, 4), np.nan), np.zeros((5, 4))):
        found = find_outliers(nothing)
        assert found.count == 0 and found.share == 0.0 and found.drifting == ()


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_gross_outliers_are_found_and_no_others(residuals, share):
    gross = (np.random.default_rng(1).random(residuals.shape) < share) & np.isfinite(residuals)
    residuals[gross] += 30.0
    found = find_outliers(residuals)
    assert np.array_equal(found.mask, gross)
    assert found.share == pytest.approx(gross.sum() / np.isfinite(residuals).sum())


def test_a_drifting_point_is_an_outlier_from_its_frame_on(residuals):
    residuals[:, 7] = 0.5
    residuals[35:, 7] = 0.5 + 0.4 * np.arange(FRAMES - 35)
    residuals[50, 7] = np.nan
    found = find_outliers(residuals)
    (drift,) = found.drifting
    assert drift.point == 7 and 35 < drift.frame < 45
    assert found.mask[drift.frame :, 7].sum() == FRAMES - drift.frame - 1
    assert not found.mask[: drift.frame, 7].any() and not found.mask[50, 7]
    assert not np.delete(found.mask, 7, axis=1).any()


def test_a_point_that_is_wrong_at_times_does_not_drift_and_one_that_never_is_right_does(residuals):
    residuals[:, 3] = 0.5
    residuals[::4, 3] = 20.0
    residuals[-3:, 5] = 20.0  # too few to be a drift
    residuals[:, 9] = 20.0
    found = find_outliers(residuals)
    assert found.drifting == (DriftingPoint(9, 0),)
    assert found.mask[:, [3, 5]].sum() == FRAMES // 4 + np.isfinite(residuals[-3:, 5]).sum()


def test_a_threshold_is_kept_and_what_cannot_be_read_is_refused(residuals):
    limit = float(np.nanquantile(residuals, 0.9))
    found = find_outliers(residuals, threshold=limit)
    assert found.threshold == limit
    assert np.array_equal(found.mask, np.nan_to_num(residuals) > limit)
    with pytest.raises(InputError, match=r"accepted is \(frames, points\)"):
        find_outliers(residuals[0])
    for threshold in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="a number above 0"):
            find_outliers(residuals, threshold=threshold)
