"""Standard deviations follow what the tracks determine: rays, hidden points, few frames, other ends."""

from dataclasses import replace

import numpy as np
import pytest

from core import InputError
from core.depth import (
    Alternative,
    DepthEnd,
    DepthLevel,
    DepthOptions,
    DepthStep,
    FrameBlock,
    LevelEnergy,
    OwnEnd,
    Pausing,
    carried_deviations,
    find_alternatives,
    find_mirrored,
    mirror_in_depth,
    point_distance,
    point_subset,
    refine_depths,
    standard_deviations,
)
from core.depth.uncertainty import CURVATURE, ELONGATION, LOCAL, MODEL, MOVED, TILT

OPTIONS = DepthOptions()


def deviations(problem, point, coarser=None, ends=(), alternatives=None):
    """Return the standard deviations where a search came straight to the point."""
    step = DepthStep(point, -2.0, -2.0, "", 1.0, finished=True, ends=ends, coarser=coarser or point)
    if alternatives is None:
        alternatives = [Alternative("flatter", 1.0), Alternative("deeper", 0.01)]
    return standard_deviations(problem, step, OPTIONS, alternatives)


@pytest.mark.parametrize("affine", [False, True])
def test_a_depth_varies_by_its_gauss_newton_block_and_the_elongation(object_in_view, affine):
    problem, point = object_in_view(affine=affine)
    level = DepthLevel(*MODEL, OPTIONS.isometry, relative=True)
    energy = LevelEnergy.about(problem, level, point)
    x = energy.start(point)
    along, across = energy.conditional_variances(x)
    assert not across.any()  # all points are visible, and rays are exact
    frames, points = problem.shape
    blocks = energy.preconditioner(x)
    blocks = replace(blocks, motions=np.zeros_like(blocks.motions))  # each point by itself
    for j in (0, points - 1):
        for f in range(frames):
            step = np.zeros_like(x)
            step[j * frames + f] = problem.size if affine else 1.0
            expected = blocks.apply(step)[j * frames + f] * (problem.size if affine else 1.0)
            assert along[f, j] == pytest.approx(expected, rel=1e-5)
    std = deviations(problem, point)
    z = point.depths if affine else np.log(point.depths)
    scale = np.log(1.25) ** 2 * np.exp(-0.01 / 0.05)
    variance = CURVATURE * along + ELONGATION * scale * (z - z.mean(axis=1, keepdims=True)) ** 2
    variance *= 1.0 if affine else point.depths**2
    np.testing.assert_allclose(std[:, 2] ** 2, variance, rtol=1e-9)
    moved = np.zeros((frames, 2, points)) if affine else point.rays**2 * variance[:, None]
    np.testing.assert_allclose(
        std[:, :2] ** 2, moved + TILT**2 * variance.mean(axis=1)[:, None, None], rtol=1e-9
    )


def test_what_the_last_levels_moved_is_uncertain_there_and_in_its_frame(object_in_view):
    problem, point = object_in_view()
    depths = point.depths.copy()
    depths[3, 5] *= 1.2
    alone, moved = (deviations(problem, point, replace(point, depths=z)) for z in (point.depths, depths))
    added = moved[:, 2] ** 2 - alone[:, 2] ** 2
    assert added[3].argmax() == 5 and (added[3] > 0).all()
    assert np.abs(np.delete(added, 3, axis=0)).max() < 1e-9 * added[3].min()
    assert added[3, 5] > MOVED * LOCAL * (0.15 * point.depths[3, 5]) ** 2


def test_hidden_points_vary_more_and_with_noise_all_do_across_their_rays(object_in_view):
    problem, point = object_in_view(hidden=0.2)
    exact, noisy = (deviations(each, point) for each in (problem, problem.with_noise(0.01)))
    hidden = ~problem.visible
    for size in (np.linalg.norm(exact, axis=1), exact[:, 0]):
        assert np.median(size[hidden]) > np.median(size[~hidden])
    assert (noisy[:, :2].transpose(0, 2, 1) > exact[:, :2].transpose(0, 2, 1))[~hidden].all()


def test_another_end_of_the_same_energy_adds_its_distance(object_in_view):
    problem, point = object_in_view()
    other = mirror_in_depth(point)

    def with_end(end, energy, problem=problem, point=point):
        ends = (DepthEnd("a", point, -2.0, -2.0), DepthEnd("b", end, energy, -2.0))
        return deviations(problem, point, ends=ends)

    alone, tied = deviations(problem, point), with_end(other, -2.0)
    assert (tied >= alone).all() and np.median(tied[:, 2] / alone[:, 2]) > 1.3
    np.testing.assert_allclose(with_end(other, -1.0), alone, rtol=1e-3)
    likely = np.exp(-0.01 * point.depths.shape[1] / 0.3)  # an energy per point and frame
    added = (with_end(other, -1.99)[:, 2] ** 2 - alone[:, 2] ** 2) / (tied[:, 2] ** 2 - alone[:, 2] ** 2)
    assert np.median(added) == pytest.approx(2 * likely / (1 + likely), rel=0.02)
    sized = replace(point, depths=1.5 * point.depths)  # another size is the same shape
    np.testing.assert_allclose(with_end(sized, -2.0), alone, rtol=1e-9)
    problem, point = object_in_view(affine=True)  # whose mirror image is no other shape
    mirrored = with_end(mirror_in_depth(point), -2.0, problem, point)
    np.testing.assert_allclose(mirrored, deviations(problem, point), rtol=1e-9)


def test_a_stopped_refinement_has_no_standard_deviations(object_in_view):
    problem, point = object_in_view()
    first = next(refine_depths(problem, {"start": point}, OPTIONS))
    with pytest.raises(InputError, match="has not ended; accepted is its last step"):
        standard_deviations(problem, first, OPTIONS, ())


def scaled_of(problem, point):
    """Return the flatter and the deeper shape of a point."""
    return list(find_alternatives(OwnEnd.of_solution(problem, point, OPTIONS), OPTIONS))


def mirrored_of(problem, point):
    """Return the frames of a point that might be mirrored."""
    own = OwnEnd.of_solution(problem, point, OPTIONS)
    found = Pausing(find_mirrored(problem, point, own, OPTIONS, loose=False))
    assert sum(1 for _ in found) > 10
    return found.value


@pytest.mark.slow
def test_the_right_shape_excludes_its_alternatives_and_a_mirrored_one_does_not(object_in_view):
    problem, point = object_in_view(frames=20, points=24)
    problem = problem.anchored(point)
    own = {each.kind: each.excess for each in scaled_of(problem, point)}
    assert own.keys() == {"flatter", "deeper"} and min(own.values()) > 0.2
    assert mirrored_of(problem, point) == ()
    wrong = mirror_in_depth(point)
    lowest, *_ = mirrored_of(problem.anchored(wrong), wrong)
    assert lowest.block == FrameBlock(0, 20) and lowest.excess < 0
    assert point_distance(problem, lowest.point, wrong) > 0.2


def test_orthogonal_tracks_have_no_mirrored_alternative(object_in_view):
    problem, point = object_in_view(affine=True)
    found = mirrored_of(problem.anchored(point), point)
    assert all(each.block != FrameBlock(0, len(point.depths)) for each in found)


def test_views_from_all_sides_measure_the_elongation_better_than_views_from_one(object_in_view):
    def variance(turn):
        problem, point = object_in_view(frames=20, turn=turn)
        found = scaled_of(problem, point)
        excluded = [replace(each, excess=10.0) for each in found]
        std, rest = (deviations(problem, point, alternatives=each) for each in (found, excluded))
        return np.median((std[:, 2] ** 2 - rest[:, 2] ** 2) / point.depths**2)

    assert variance(0.02) > 3 * variance(1.0)


@pytest.mark.parametrize("affine", [False, True])
def test_points_that_follow_others_are_as_uncertain_as_the_nearest_of_them(object_in_view, affine):
    problem, point = object_in_view(affine=affine)
    shapes = problem.shapes(point)
    subset = point_subset(problem, shapes, 10)
    part = subset.restrict(point)
    std = np.random.default_rng(0).uniform(0.5, 2.0, size=(*part.rotations.shape[:2], 10))
    carried = carried_deviations(subset, point, part, std)
    unit = 1.0 if affine else point.depths[0, subset.points[0]] / part.depths[0, 0]
    np.testing.assert_allclose(carried[:, :, subset.points], unit * std, rtol=1e-12)
    mean = shapes.mean(axis=0)
    for j in np.setdiff1d(np.arange(shapes.shape[2]), subset.points):
        apart = np.linalg.norm(mean[:, subset.points] - mean[:, [j]], axis=0)
        expected = unit * np.sqrt(np.square(std[:, :, np.argsort(apart)[:8]]).mean(axis=2))
        np.testing.assert_allclose(carried[:, :, j], expected, rtol=1e-12)
