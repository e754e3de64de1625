"""Two runs beside each other: their distance against brute force, what of them differs, what compares."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes
from scipy.spatial.transform import Rotation

from core import (
    Alignment,
    CameraModel,
    ExplicitWeights,
    GroundTruth,
    NuclearNorm,
    Settings,
    WeightedNuclearNorm,
)
from core.evaluation import NO_ALIGNMENT, PER_FRAME, Kind, Mirror
from nrsfm_gui.model.run import Run
from nrsfm_gui.scene.comparison import compare_shapes, why_losses_differ

WNN, DEPTHS = Settings(objective="wnn"), Settings(objective="depths")


def with_points(result, points):
    """Return a result with other shapes, each frame a basis shape of its own."""
    frames = len(points)
    return replace(result, B=np.eye(frames), C=points.reshape(frames, -1).T, weights=np.zeros(frames))


def moved(points, seed):
    """Return every frame under a similarity of its own."""
    rng = np.random.default_rng(seed)
    R = Rotation.random(len(points), random_state=rng).as_matrix()
    return np.exp(rng.normal(size=(len(points), 1, 1))) * R @ points + rng.normal(size=(len(points), 3, 1))


def together(sequence, one, other, alignment=PER_FRAME):
    return compare_shapes(*(build_shapes(sequence, each, alignment) for each in (one, other)))


def test_over_the_truth_the_distance_is_that_of_the_two_aligned_runs(known):
    points = known.result.points
    noise = 0.02 * np.ptp(points, axis=2, keepdims=True) * np.random.default_rng(4).normal(size=points.shape)
    noisy = with_points(known.result, points + noise)
    found = together(known.sequence, known.result, noisy)
    shapes = [build_shapes(known.sequence, each) for each in (known.result, noisy)]
    expected = np.sqrt(((shapes[1].points - shapes[0].points) ** 2).sum(axis=1))
    np.testing.assert_allclose(found.distances, expected)
    assert found.unit == "mm" and found.alignment == "per-frame similarity"
    # The first run is exact here, so that the distance is the error of the second.
    np.testing.assert_allclose(found.distances, shapes[1].errors, atol=1e-7)
    assert found.series[0].per_frame == pytest.approx(found.distances.mean(axis=1))
    assert found.series[0].unit == "mm" and found.mean > 0.1


@pytest.mark.parametrize("alignment", [Alignment(), NO_ALIGNMENT])
def test_without_the_truth_the_second_run_is_laid_over_the_first(known, alignment):
    sequence = replace(known.sequence, truth=None)
    turned = with_points(known.result, moved(known.result.points, 5))
    found = together(sequence, known.result, turned, alignment)
    assert found.distances.max() < 1e-9
    assert found.alignment == "aligned to each other: per-frame similarity" and found.unit == "units"
    first = build_shapes(sequence, known.result, alignment)
    np.testing.assert_allclose(found.points, first.points, atol=1e-9)


def test_truth_in_a_single_frame_does_not_decide_about_the_others(known):
    """There, every frame's own size is unknown: only laid over each other can the runs agree."""
    truth = known.sequence.truth
    sequence = replace(known.sequence, truth=GroundTruth(np.array([6]), truth.points[6:7], 6))
    found = together(sequence, known.result, with_points(known.result, moved(known.result.points, 6)))
    assert found.distances.max() < 1e-6 and found.unit == "mm"
    assert found.alignment.startswith("aligned to each other")


def test_a_mirrored_second_run_is_named(known):
    sequence = replace(known.sequence, truth=None)
    mirrored = with_points(known.result, known.result.points * np.array([1.0, 1.0, -1.0])[:, None])
    free = Alignment(Kind.PER_FRAME, Mirror.AUTOMATIC)
    found = together(sequence, known.result, mirrored, free)
    assert found.distances.max() < 1e-9 and "found mirrored" in found.alignment
    kept = together(sequence, known.result, mirrored)
    assert kept.mean > 0.01 and "mirrored" not in kept.alignment
    over_truth = together(known.sequence, known.result, mirrored, free)
    similarity = "per-frame similarity, found"
    assert over_truth.alignment == f"{similarity} unmirrored; the other: {similarity} mirrored"


def test_there_is_no_distance_before_there_are_two_reconstructions(known):
    assert together(known.sequence, known.result, None) is None
    assert together(known.sequence, None, known.result) is None


@pytest.mark.parametrize(
    ("one", "other", "camera", "why"),
    [
        (WNN, replace(WNN, method="admm", seed=3, starts=1, rank=3), "perspective", ""),
        (WNN, replace(WNN, eta=0.1), "perspective", "another eta"),
        (WNN, replace(WNN, hide="3:*"), "perspective", "other held-out observations"),
        (replace(WNN, loss="huber"), replace(WNN, loss="huber", loss_scale=1.0), "orthogonal",
         "another robust loss"),
        (WNN, replace(WNN, eta=0.1), "orthogonal", ""),
        (WNN, replace(WNN, penalty=WeightedNuclearNorm(xi=1.0)), "perspective", "other weights"),
        (WNN, replace(WNN, penalty=NuclearNorm(), problem="lowrank"), "perspective",
         "another problem, another penalty"),
        (WNN, replace(WNN, intrinsics="gt"), "perspective", "other intrinsics"),
        (WNN, DEPTHS, "perspective", "another objective"),
        (DEPTHS, replace(DEPTHS, eta=0.1, penalty=NuclearNorm(), rank=3), "perspective", ""),
        (DEPTHS, replace(DEPTHS, mode_weights=(1.0, 2.0)), "perspective", "other mode weights"),
        (DEPTHS, replace(DEPTHS, isometry=0.5), "orthogonal", "other isometry"),
    ],
)  # fmt: skip
def test_losses_compare_where_they_are_numbers_of_one_objective(known, one, other, camera, why):
    sequence = replace(known.sequence, camera=CameraModel(camera))
    first, second = (Run(1, sequence, settings) for settings in (one, other))
    assert why_losses_differ(first, second) == why
    assert why_losses_differ(second, first) == why


def test_explicit_weights_compare_where_those_that_both_have_agree(known):
    weights = (0.0, 0.1), (0.0, 0.1, 0.2), (0.0, 0.3)
    one, longer, other = (
        Run(1, known.sequence, replace(WNN, rank=len(a), penalty=ExplicitWeights(a))) for a in weights
    )
    assert why_losses_differ(one, longer) == ""
    assert why_losses_differ(one, other) == "other weights"
