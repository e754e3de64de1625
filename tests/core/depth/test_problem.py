"""The problem of the depth refinement and its points: gauges, anchors, and what is refused."""

import numpy as np
import pytest

from core import InputError
from core.depth import DepthPoint, DepthProblem


def random_problem(*, affine=False, frames=5, points=8, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(frames, 3, points))
    if not affine:
        Y[:, 2] += 5.0
    R = np.tile(np.eye(3), (frames, 1, 1))
    tracks = Y[:, :2] if affine else Y[:, :2] / Y[:, 2:]
    visible = rng.random((frames, points)) < 0.8
    return DepthProblem(tracks, visible, affine), Y, R


@pytest.mark.parametrize("affine", [False, True])
def test_points_on_the_rays_are_kept_up_to_their_size(affine):
    problem, Y, R = random_problem(affine=affine)
    point = DepthPoint.from_camera_points(problem, Y, R)
    kept = point.camera_points()
    np.testing.assert_allclose(kept * (Y[0, 2, 0] / kept[0, 2, 0]), Y, atol=1e-12)
    if not affine:
        assert np.log(point.depths).mean() == pytest.approx(0.0, abs=1e-12)


def test_visible_points_move_onto_their_rays_and_hidden_ones_keep_theirs():
    problem, Y, R = random_problem()
    Y[:, :2] += 0.1
    point = DepthPoint.from_camera_points(problem, Y, R)
    seen = problem.visible
    rays, given = point.rays.transpose(0, 2, 1), (Y[:, :2] / Y[:, 2:]).transpose(0, 2, 1)
    assert np.array_equal(rays[seen], problem.tracks.transpose(0, 2, 1)[seen])
    np.testing.assert_allclose(rays[~seen], given[~seen])


def test_depths_behind_the_camera_are_moved_before_it_unless_all_are():
    problem, Y, R = random_problem()
    Y[1, 2, 3] = -2.0
    assert (DepthPoint.from_camera_points(problem, Y, R).depths > 0).all()
    with pytest.raises(InputError, match="in front"):
        DepthPoint.from_camera_points(problem, -Y, R)


def test_wrong_shapes_and_values_are_refused():
    problem, _, _ = random_problem()
    with pytest.raises(InputError, match="no anchor"):
        problem.edge_reference(np.array([[1], [4]]))
    for noise in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="noise"):
            problem.with_noise(noise)
    tracks, visible = np.ones((5, 2, 8)), np.ones((5, 8), dtype=bool)
    with pytest.raises(InputError, match="accepted are"):
        DepthProblem(tracks[:, :, 1:], visible, affine=False)
    with pytest.raises(InputError, match="coincide"):
        DepthProblem(tracks, visible, affine=False)
    tracks[2, 1, 3] = np.nan
    with pytest.raises(InputError, match="finite"):
        DepthProblem(tracks, visible, affine=False)


@pytest.mark.parametrize("affine", [False, True])
def test_an_anchor_has_the_extent_and_the_lateral_lengths_of_its_point(affine):
    problem, Y, R = random_problem(affine=affine)
    point = DepthPoint.from_camera_points(problem, Y, R)
    anchored = problem.anchored(point)
    centered = point.camera_points()
    centered -= centered.mean(axis=2, keepdims=True)
    ratio = np.sqrt(np.mean(centered[:, 2] ** 2) / np.mean(centered[:, :2] ** 2))
    assert anchored.extent == pytest.approx(ratio)
    X = problem.shapes(point)  # R = I: lateral lengths of the shapes
    lengths = np.square(X[:, :2, 1] - X[:, :2, 4]).sum(axis=1)
    reference = anchored.edge_reference(np.array([[1], [4]]))
    assert reference[0] == pytest.approx(1.5 * lengths.mean() + 1e-6)
