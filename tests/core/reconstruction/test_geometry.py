"""What low-rank solutions look like where something is missing: a view of a point, a rank, the depth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core import MCP, NuclearNorm, Penalty, VariableProjection, solve
from core.cameras import metric_upgrade
from core.reconstruction import geometry_of
from core.reconstruction.geometry import _deforming_basis

UNIT = np.eye(3)


def solution(problem, rank: int, penalty: Penalty | None = None):
    """The minimum from the closed form, without a penalty where none is given."""
    posed = problem.with_penalty(penalty or NuclearNorm(0.0), rank)
    return posed, solve(posed, VariableProjection(), posed.closed_form()).state.factors


@pytest.mark.parametrize("rank", [4, 6])
def test_a_point_that_no_view_shows_is_put_at_the_centroid(simulated_low_rank, rank):
    problem, _ = simulated_low_rank(eta=1e-3, noise=1e-4)
    unseen = problem.visible.copy()
    unseen[:, 5] = False
    problem = replace(problem, visible=unseen, tracks=problem.tracks * 3.0)
    shown = geometry_of(*solution(problem, rank), np.diag([1 / 3, 1 / 3, 1.0]), UNIT)
    assert shown.figures["metric"]
    assert np.isfinite(shown.points).all()
    assert np.abs(shown.points[:, :, 5]).max() == 0.0
    others = np.delete(shown.points[0], 5, axis=1)
    assert np.linalg.norm(others, axis=0).min() > 1e-3


def test_a_low_rank_is_named_before_the_depth_that_it_leaves(simulated_low_rank):
    problem, _ = simulated_low_rank()
    figures = geometry_of(*solution(problem, 1), UNIT, UNIT).figures
    assert figures["reason"] == "the rank is 1; a metric upgrade needs 4"


def test_what_the_other_columns_add_moves_the_upgraded_points_to_where_x_projects(simulated_low_rank):
    """Leading columns of an exact rigid scene, in another projective frame, and two more of any kind."""
    problem, X = simulated_low_rank(noise=0.0)
    random = np.random.default_rng(4)
    left, sigma, right = np.linalg.svd(X.reshape(24, 20), full_matrices=False)
    cameras, points = left[:, :4] * sigma[:4], right[:4]
    tracks = X[:, :2] / X[:, 2:]
    found = metric_upgrade(
        cameras.reshape(8, 3, 4), points, tracks=tracks, visible=problem.visible, intrinsics=UNIT
    )
    P = np.concatenate((cameras, 0.1 * random.standard_normal((24, 2))), axis=1).reshape(8, 3, 6)
    U = np.concatenate((points, 0.1 * random.standard_normal((2, 20))))
    B, C = _deforming_basis(found, P, U)
    S = (B @ C.T).reshape(8, 3, 20)
    Y = found.rotations @ S + found.translations[:, :, None]
    whole = P @ U
    assert np.ptp(S, axis=0).max() > 1e-3
    assert Y[:, :2] / Y[:, 2:] == pytest.approx(whole[:, :2] / whole[:, 2:], rel=1e-6)


def test_a_reason_against_an_upgrade_for_any_k_is_named_once(simulated_low_rank):
    problem, _ = simulated_low_rank()
    posed, factors = solution(problem, 4)
    still = replace(factors, C=np.repeat(factors.C[:, :, :1], 8, axis=2))  # the first camera, eight times
    reason = geometry_of(posed, still, UNIT, UNIT).figures["reason"]
    assert reason.startswith("the projective cameras have rank 3")
    assert reason.count("rank 3") == 1


@pytest.mark.slow
def test_a_failed_upgrade_of_sparse_tracks_does_not_blame_the_cameras(simulated_low_rank):
    """Each point in two neighboring views of 24: the closed form leads to a wrong minimum."""
    problem, _ = simulated_low_rank(frames=24, points=240)
    begins = np.arange(240) % 24
    band = (np.arange(24)[:, None] - begins) % 24 < 2
    sparse = replace(problem, visible=band, tracks=np.where(band[:, None], problem.tracks, 0.0))
    posed, factors = solution(sparse, 4)
    figures = geometry_of(posed, factors, UNIT, UNIT).figures
    assert not figures["metric"]
    assert "a point is seen in 2.0 of 24 views on average, 8% of all entries" in figures["reason"]
    assert f"fits to {figures['projective_rms']:.3g}" in figures["reason"]
    assert "raise starts" in figures["reason"]
    for blamed in ("affine", "intrinsics", "motion"):
        assert blamed not in figures["reason"]


@pytest.mark.parametrize(
    ("eta", "penalty", "cause", "cure"),
    [
        (1e-12, None, "the solution has no depth", "raise eta"),
        (0.05, NuclearNorm(1.0), "the penalty has removed the depth", "lower mu"),
        (0.05, MCP(10.0, 100.0), "the penalty has removed the depth", "lower mu"),
    ],
)
def test_the_reason_of_a_lost_depth_is_named(simulated_low_rank, eta, penalty, cause, cure):
    problem, _ = simulated_low_rank(eta=eta)
    posed, factors = solution(problem, 4, penalty)
    if penalty is None:
        factors = replace(factors, B=1e-3 * factors.B)  # to where its minimum goes as eta does
    shown = geometry_of(posed, factors, UNIT, UNIT)
    assert shown.flat
    assert shown.figures["reason"].startswith(cause)
    assert f": {cure}" in shown.figures["reason"]
