from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from core import Alignment, GroundTruth, InputError, align
from core.data.masks import common_size
from core.evaluation import (
    ALIGNMENTS,
    NO_ALIGNMENT,
    Kind,
    Mirror,
    Views,
    align_all,
    aligned_mm,
    find_truth_outliers,
    is_mirrored,
)

FRAMES, POINTS = 5, 9
FITTED = (Kind.PER_FRAME, Kind.SEQUENCE, Kind.RIGID)
MIRRORED = np.array([1.0, 1.0, -1.0])[:, None]


@pytest.fixture
def shapes():
    """Shapes that deform, none of whose points is an outlier."""
    rng = np.random.default_rng(0)
    found = 50.0 * rng.normal(size=(3, POINTS)) + 15.0 * rng.normal(size=(FRAMES, 3, POINTS))
    assert not find_truth_outliers(truth_of(found)).any()
    return found


def truth_of(points, frames=None):
    frames = np.arange(len(points)) if frames is None else np.array(frames)
    return GroundTruth(frames, points, int(frames[0]))


def motion(points, kind, seed=1):
    """Return points under a motion that an alignment undoes, drawn by scipy."""
    rng = np.random.default_rng(seed)
    count = 1 if kind is Kind.SEQUENCE else len(points)
    R = Rotation.random(count, random_state=rng).as_matrix()
    sizes = np.exp(rng.normal(size=(count if kind is Kind.PER_FRAME else 1, 1, 1)))
    return sizes * R @ points + rng.normal(size=(count, 3, 1))


@pytest.mark.parametrize("kind", FITTED)
@pytest.mark.parametrize("mirrored", [False, True])
def test_each_alignment_undoes_the_motion_it_is_named_after(shapes, kind, mirrored):
    estimate = motion(shapes * (MIRRORED if mirrored else 1.0), kind)
    chosen = [1, 3, 4]
    truth = truth_of(shapes[chosen], chosen)
    forced = Alignment(kind, Mirror.ON if mirrored else Mirror.OFF)
    for alignment in (forced, replace(forced, mirror=Mirror.AUTOMATIC)):
        found = align(estimate, truth, alignment)
        np.testing.assert_allclose(found.apply(estimate[chosen]), shapes[chosen], atol=1e-10)
        np.testing.assert_allclose(np.linalg.det(found.rotation), -1.0 if mirrored else 1.0)
        assert is_mirrored(found) is mirrored
    wrong = Alignment(kind, Mirror.OFF if mirrored else Mirror.ON)
    assert aligned_mm(estimate, truth, wrong)[0].mean > 5.0


@pytest.mark.parametrize("kind", FITTED)
@pytest.mark.parametrize("mirror", [Mirror.OFF, Mirror.ON])
def test_no_motion_of_its_kind_is_nearer_than_the_one_found(shapes, kind, mirror):
    """A search by scipy over rotation vectors, translations and sizes, from many starts, finds no less."""
    rng = np.random.default_rng(2)
    target = shapes[:2] / 50.0
    source = target + 0.4 * rng.normal(size=target.shape)
    known = np.ones((2, POINTS), dtype=bool)
    known[0, 3] = known[1, 5] = False
    missing = np.where(known[:, None], target, np.nan)
    flipped = source * (MIRRORED if mirror is Mirror.ON else 1.0)
    motions, sizes = (1, 1) if kind is Kind.SEQUENCE else (2, 2 if kind is Kind.PER_FRAME else 1)

    def squares(z):
        turns, moves = z[: 3 * motions].reshape(-1, 3), z[3 * motions : 6 * motions].reshape(-1, 3, 1)
        scale = np.exp(z[6 * motions :]).reshape(sizes, 1, 1)
        moved = scale * Rotation.from_rotvec(turns).as_matrix() @ flipped + moves
        return float((((moved - target) ** 2).sum(axis=1))[known].sum())

    unknowns = 6 * motions + sizes
    ends = [minimize(squares, rng.normal(size=unknowns), method="BFGS").fun for _ in range(6)]
    similarity = align(source, truth_of(missing), Alignment(kind, mirror))
    own = (((similarity.apply(source) - target) ** 2).sum(axis=1))[known].sum()
    assert own == pytest.approx(min(ends), rel=1e-6)
    assert is_mirrored(similarity) is (mirror is Mirror.ON)


def test_a_mirror_image_is_chosen_once_for_the_sequence_by_the_sum_of_distances(shapes):
    estimate = motion(shapes * MIRRORED, Kind.PER_FRAME)
    estimate[0] = motion(shapes[:1], Kind.PER_FRAME)[0]  # one frame is as it should be
    truth = truth_of(shapes)
    free = {mirror: aligned_mm(estimate, truth, Alignment(Kind.PER_FRAME, mirror)) for mirror in Mirror}
    assert free[Mirror.AUTOMATIC][1] and free[Mirror.AUTOMATIC][0].mean == free[Mirror.ON][0].mean
    assert free[Mirror.ON][0].mean < free[Mirror.OFF][0].mean
    assert free[Mirror.AUTOMATIC][0].per_frame[0] > 1.0  # frame by frame it would be 0


def test_a_mirror_image_is_chosen_by_the_sum_and_not_by_the_largest_distance(shapes):
    """Most frames are right as they are; one that is flat but for its mirrored depth is farther off."""
    estimate = shapes.copy()
    estimate[0] = 2.0 * shapes[0] * MIRRORED
    truth = truth_of(np.concatenate((2.0 * shapes[:1], shapes[1:])))
    both = (Alignment(Kind.PER_FRAME, mirror) for mirror in (Mirror.OFF, Mirror.ON))
    plain, mirrored = (aligned_mm(estimate, truth, alignment)[0] for alignment in both)
    assert np.nanmax(plain.per_point) > np.nanmax(mirrored.per_point)
    assert plain.mean < mirrored.mean
    errors, found = aligned_mm(estimate, truth, Alignment(Kind.PER_FRAME, Mirror.AUTOMATIC))
    assert not found
    assert errors.mean == plain.mean


def test_frames_with_too_few_known_points_use_the_motion_of_the_nearest_that_has_enough(shapes):
    estimate = motion(shapes, Kind.PER_FRAME)
    chosen = [0, 2, 4]
    points = shapes[chosen]
    points[1, :, 2:] = np.nan  # two points are left, which tell no rotation
    points[2, :, 3:] = np.nan
    truth = truth_of(points, chosen)
    for alignment in (Alignment(), Alignment(Kind.PER_FRAME, Mirror.AUTOMATIC)):
        every = align_all(estimate, truth, alignment)
        known = align(estimate, truth_of(points[[0, 2]], [0, 4]), alignment)
        taken = [0, 0, 0, 1, 1]  # the earlier one of two that are as near
        np.testing.assert_array_equal(every.scale, known.scale[taken])
        np.testing.assert_array_equal(every.rotation, known.rotation[taken])
        np.testing.assert_array_equal(every.translation, known.translation[taken])
    with pytest.raises(InputError, match="three known points"):
        align_all(estimate, truth_of(points[1:2], [2]))


def test_an_estimate_that_is_not_finite_somewhere_keeps_the_common_size(shapes):
    estimate = motion(2.0 * shapes, Kind.RIGID)
    size = common_size(estimate, shapes)
    assert size == pytest.approx(0.5, rel=0.1)
    estimate[2, 1, 4] = np.nan
    assert common_size(estimate, shapes) == pytest.approx(size)
    assert np.isnan(aligned_mm(estimate, truth_of(shapes), Alignment(Kind.RIGID))[0].mean)


def views_of(shapes, *, orthogonal, seed=5):
    """Return an estimate whose camera sees what the true one sees, in other units and coordinates."""
    rng = np.random.default_rng(seed)
    true_R = Rotation.random(FRAMES, random_state=rng).as_matrix()
    R = Rotation.random(FRAMES, random_state=rng).as_matrix()
    true_t = rng.normal(size=(FRAMES, 3)) * 20.0 + np.array([0.0, 0.0, 900.0])
    size = 1.0 / 400.0
    seen = true_R @ shapes + true_t[:, :, None]
    K = np.diag([400.0, 400.0, 1.0])
    if orthogonal:  # nothing tells how far away a frame is
        K[:2, 2] = [7.0, -9.0]
        seen[:, :2] -= K[:2, 2:]
        seen[:, 2:] += rng.normal(size=(FRAMES, 1, 1))
    t = rng.normal(size=(FRAMES, 3))
    estimate = np.swapaxes(R, 1, 2) @ (size * seen - t[:, :, None])
    return estimate, Views(R, t, K, orthogonal, true_R, true_t)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_as_is_places_the_estimate_at_the_true_camera(shapes, orthogonal):
    estimate, views = views_of(shapes, orthogonal=orthogonal)
    chosen = [0, 2, 3]
    truth = truth_of(shapes[chosen], chosen)
    found = align(estimate, truth, Alignment(Kind.AS_IS), views=views)
    np.testing.assert_allclose(found.apply(estimate[chosen]), shapes[chosen], atol=1e-8)
    # An estimate that its camera sees farther left is farther left, and nothing takes that away.
    shifted = replace(views, translations=views.translations + np.array([0.05, 0.0, 0.0]))
    errors, _ = aligned_mm(estimate, truth, Alignment(Kind.AS_IS), views=shifted)
    np.testing.assert_allclose(errors.per_point, 0.05 * 400.0, rtol=1e-9)
    assert aligned_mm(estimate, truth, Alignment(), views=shifted)[0].mean < 1e-9


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("orthogonal", [False, True])
def test_as_is_frames_without_truth_are_put_by_their_own_cameras(shapes, orthogonal, mirrored):
    estimate, views = views_of(shapes, orthogonal=orthogonal)
    if mirrored:
        R, t = views.rotations, views.translations[:, :, None]
        seen = R @ estimate + t
        seen[:, 2:] = 2.0 * seen[:, 2:].mean(axis=2, keepdims=True) - seen[:, 2:]
        estimate = np.swapaxes(R, 1, 2) @ (seen - t)
    alignment, chosen = Alignment(Kind.AS_IS, Mirror.AUTOMATIC), [1, 3]
    every = align_all(estimate, truth_of(shapes[chosen], chosen), alignment, views=views)
    assert is_mirrored(every) is mirrored
    apart = views.true_rotations @ (every.apply(estimate) - shapes)
    known = 3 if not orthogonal else 2  # the depth under an orthogonal camera is the neighbor's
    np.testing.assert_allclose(apart[:, :known], 0.0, atol=1e-8)
    np.testing.assert_allclose(apart[chosen], 0.0, atol=1e-8)
    np.testing.assert_allclose(apart - apart.mean(axis=2, keepdims=True), 0.0, atol=1e-8)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_points_without_truth_do_not_enter_where_the_depth_is_mirrored_or_put(shapes, orthogonal):
    estimate, views = views_of(shapes, orthogonal=orthogonal)
    R, t = views.rotations, views.translations[:, :, None]
    known = np.arange(POINTS) < 6
    truth = truth_of(np.where(known, shapes, np.nan))
    wrong = estimate + np.where(known, 0.0, np.swapaxes(R, 1, 2) @ np.array([0.0, 0.0, 3.0])[:, None])
    found = align(wrong, truth, Alignment(Kind.AS_IS), views=views).apply(wrong)
    np.testing.assert_allclose(found[:, :, known], shapes[:, :, known], atol=1e-8)
    seen = R @ wrong + t
    middle = seen[:, 2:, known].mean(axis=2, keepdims=True)
    seen[:, 2:] = 2.0 * middle - seen[:, 2:]
    inverted = np.swapaxes(R, 1, 2) @ (seen - t)
    errors, mirrored = aligned_mm(inverted, truth, Alignment(Kind.AS_IS, Mirror.AUTOMATIC), views=views)
    assert mirrored
    assert errors.mean < 1e-8


def test_a_rigid_motion_keeps_the_size_of_an_orthogonal_camera(shapes):
    estimate, views = views_of(1.2 * shapes, orthogonal=True)
    rigid = Alignment(Kind.RIGID)
    np.testing.assert_array_equal(align(estimate, truth_of(shapes), rigid, views=views).scale, 400.0)
    grown, _ = aligned_mm(estimate, truth_of(shapes), rigid, views=views)
    spread = shapes - shapes.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(grown.per_point, 0.2 * np.linalg.norm(spread, axis=1), rtol=1e-9)
    assert aligned_mm(estimate, truth_of(shapes), rigid)[0].mean < 1e-9  # no cameras: the size is fitted


def test_a_missing_requirement_of_an_alignment_is_named(shapes):
    with pytest.raises(InputError, match="true rotations and translations"):
        align(shapes, truth_of(shapes), Alignment(Kind.AS_IS))
    with pytest.raises(InputError, match="accepted are per-frame"):
        align(shapes, truth_of(shapes), NO_ALIGNMENT)
    with pytest.raises(InputError, match=r"\(F, 3, 9\)"):
        align(shapes[:, :, 1:], truth_of(shapes))


def test_a_name_stands_for_its_kind_or_mirror_and_others_are_refused(shapes):
    assert Alignment("rigid", "auto") == Alignment(Kind.RIGID, Mirror.AUTOMATIC)
    estimate, truth = motion(shapes * MIRRORED, Kind.SEQUENCE), truth_of(shapes)
    np.testing.assert_allclose(align(estimate, truth, Alignment("sequence", "on")).apply(estimate), shapes)
    for wrong in ({"kind": "similarity"}, {"mirror": "yes"}, {"kind": None}):
        with pytest.raises(InputError, match=r"(kind|mirror) is .*; accepted are (per-frame|off)"):
            Alignment(**wrong)
    for no_truth, name in ((None, "NoneType"), (shapes, "ndarray")):
        with pytest.raises(InputError, match=f"is of type {name}; accepted is a GroundTruth"):
            align(shapes, no_truth)


def test_names_of_alignments_differ():
    said = {each.label(found) for each in ALIGNMENTS if each.compares for found in (True, False)}
    assert len(said) == 8 * (len(Kind) - 1)
    assert Alignment(Kind.RIGID, Mirror.AUTOMATIC).label() == "rigid motion per frame, mirror automatic"
