"""The depth refinement follows the bilinear solution, keeps its rays, and leaves its numbers alone."""

from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest

from core import (
    CameraModel,
    InputError,
    Sequence,
    Settings,
    SolveStep,
    Status,
    iterate,
    load_result,
    load_start,
    reconstruct,
    save_result,
    simulate,
)
from core.depth import (
    DepthPoint,
    DepthProblem,
    FrameBlock,
    followed_part,
    mirror_in_depth,
    refine_part,
    reflect_block,
)
from core.evaluation import errors_of, procrustes_mm
from core.foundation import DEPTHS, WNN, PhaseKind
from core.problem.nonrigid import subset
from core.reconstruction import BILINEAR_START, Provenance, refinement

pytestmark = pytest.mark.usefixtures("brief_search")

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")
REFINED = QUICK.with_changes(objective="depths", noise=0.0)


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=16, points=24, occlusion=0.1, noise=0.0, seed=3)


@pytest.fixture(scope="module")
def plain(sequence):
    return tuple(iterate(sequence, QUICK))


@pytest.fixture(scope="module")
def refined(sequence):
    return tuple(iterate(sequence, REFINED))


def test_the_bilinear_phases_are_those_of_a_run_without_refinement(plain, refined):
    for before, after in zip(plain, refined, strict=False):
        assert after.depth is None and after.record.energy is None
        assert (after.record.iteration, after.record.loss) == (before.record.iteration, before.record.loss)
        assert np.array_equal(after.current.factors.B, before.current.factors.B)
        assert after.status is Status.RUNNING
    assert refined[len(plain) - 1].phase == plain[-1].phase
    assert all(each.depth is not None for each in refined[len(plain) :])
    assert refined[-1].status is plain[-1].status


def test_the_history_counts_on_and_the_energy_falls_in_every_phase(plain, refined):
    depths = refined[len(plain) :]
    first = plain[-1].record.iteration
    assert [each.record.iteration for each in depths] == list(range(first + 1, first + 1 + len(depths)))
    assert all(one.record.seconds <= two.record.seconds for one, two in pairwise(refined))
    assert all(one.fraction <= two.fraction for one, two in pairwise(depths)) and depths[-1].fraction == 1.0
    assert {each.record.loss for each in depths} == {plain[-1].loss}
    for _, phase in groupby(depths, key=lambda each: (each.phase.kind, each.phase.name, each.phase.part)):
        energies = [each.record.energy for each in phase]
        assert len(energies) > 1 and all(one >= two for one, two in pairwise(energies))


def test_a_refined_result_keeps_the_rays_and_what_it_was_refined_from(sequence, plain, refined, tmp_path):
    before, after = plain[-1].result(), refined[-1].result()
    assert after.refined and not before.refined
    missed = np.linalg.norm(after.reprojections() - after.observations(), axis=1)[sequence.visible]
    assert missed.max() < 1e-9
    for name in ("B", "C", "rotations", "translations", "weights"):
        np.testing.assert_array_equal(getattr(after, f"bilinear_{name}"), getattr(before, name))
    assert (after.loss, after.eta, after.rank) == (before.loss, before.eta, before.rank)
    assert (after.objective, before.objective) == (DEPTHS, WNN)
    best = refined[-1].depth.best.camera_points()
    np.testing.assert_allclose(after.camera_points, best, rtol=0, atol=1e-12)
    errors = [procrustes_mm(result.points, sequence.truth).mean for result in (before, after)]
    assert errors[1] < errors[0]
    figures = after.meta["refinement"]
    assert figures["energy"] == after.energy == after.energy_history[-1, 2]
    assert [end["distance"] > 0 for end in figures["ends"]] == [False] + [True] * (len(figures["ends"]) - 1)
    assert len(after.energy_history) == len(refined) - len(plain)
    loaded = load_result(save_result(after, tmp_path / "a.npz"))
    assert loaded.meta["refinement"] == figures
    np.testing.assert_array_equal(loaded.std, after.std)


def test_the_end_of_a_refinement_has_standard_deviations_and_its_steps_have_none(sequence, refined):
    std = refined[-1].result().std
    assert std.shape == refined[-1].geometry.points.shape and (std > 0).all()
    assert refined[-2].result().std is None
    norm = np.linalg.norm(std, axis=1)
    assert np.median(norm[~sequence.visible]) > np.median(norm[sequence.visible])


def test_a_run_that_is_left_while_depths_are_refined_keeps_the_best_depths(plain, refined, tmp_path):
    first = load_result(save_result(refined[len(plain)].result(), tmp_path / "first.npz"))
    assert first.refined and first.energy == first.energy_history[0, 2]
    left = refined[len(plain) + 200]
    result = left.result()
    assert result.refined and result.meta["status"] == "stopped"
    assert result.energy == left.depth.best_energy
    np.testing.assert_allclose(result.camera_points, left.depth.best.camera_points(), rtol=0, atol=1e-12)
    assert not np.allclose(result.points, refined[-1].result().points, atol=1e-6)


@pytest.mark.slow
def test_a_run_continues_from_the_bilinear_solution_and_refines_again(sequence, refined):
    changed = REFINED.with_changes(eta=0.1)
    for start in (refined[-1], refined[-30]):
        iterates = list(iterate(sequence, changed, start=start))
        first = next(index for index, each in enumerate(iterates) if each.depth is not None)
        unrefined = list(iterate(sequence, changed.with_changes(objective="wnn"), start=start))
        assert iterates[first].best.loss == unrefined[-1].best.loss and len(unrefined) == first
        assert iterates[-1].status.finished and len(iterates[-1].depth.ends) == 1


def test_only_what_was_refined_before_is_refined_with_less_search(sequence, plain, refined, monkeypatch):
    searched = []

    def watched(subset, anchor, starts, options):
        searched.append((options.thorough, list(starts)))
        return refine_part(subset, anchor, starts, options)

    monkeypatch.setattr(refinement, "refine_part", watched)
    changed = REFINED.with_changes(eta=0.1)
    moved = next(iterate(sequence, changed, start=refined[-1]))
    for start in (plain[-1], refined[-1], moved, refined[-1].alternatives[BILINEAR_START]):
        next(each for each in iterate(sequence, changed, start=start) if each.phase.objective == DEPTHS)
    first, again = (True, ["bilinear solution"]), (False, ["bilinear solution", "refined shape"])
    assert searched == [first, again, again, first]


@pytest.mark.slow
def test_orthogonal_tracks_are_refined_by_additive_depths():
    sequence = simulate("paper", camera=CameraModel.ORTHOGONAL, frames=16, points=24, noise=0.0, seed=1)
    *_, last = iterate(sequence, REFINED)
    before, after = last.alternatives[BILINEAR_START].result(), last.result()
    assert after.refined and not after.translations[:, 2].any()
    missed = np.linalg.norm(after.reprojections() - after.observations(), axis=1)[sequence.visible]
    assert missed.max() < 1e-9
    before, after = (
        procrustes_mm(result.points, sequence.truth, reflection=True).mean for result in (before, after)
    )
    assert after < before


@pytest.mark.slow
def test_noise_is_estimated_where_it_is_not_given_and_lets_observations_leave_their_rays():
    noisy = simulate("paper", frames=20, points=30, noise=1.0, seed=2)
    found = {noise: reconstruct(noisy, REFINED.with_changes(noise=noise)) for noise in (None, 0.0, 1.0)}
    known = {noise: result.meta["refinement"]["noise_px"] for noise, result in found.items()}
    assert 0.7 < known[None] < 1.5 and (known[0.0], known[1.0]) == pytest.approx((0.0, 1.0))
    left = {noise: errors_of(result)["reprojection_px"] for noise, result in found.items()}
    assert left[0.0] < 1e-9 and 0.1 < left[1.0] < 2.0
    errors = {noise: errors_of(result)["procrustes_mm"] for noise, result in found.items()}
    assert max(errors[None], errors[1.0]) < errors[0.0]


def test_what_has_no_depths_to_refine_keeps_its_bilinear_solution_and_a_verdict_on_it():
    few = simulate("paper", frames=2, points=24, noise=0.0, seed=1)
    *_, last = iterate(few, REFINED.with_changes(rank=1, starts=1))
    assert last.status.finished and last.depth is None and not last.result().refined
    (verdict,) = last.verdicts
    assert verdict.sentence.startswith("The depths were not refined: there are 2 frames of 24 points; ")


def test_what_an_orthogonal_camera_sees_without_any_motion_has_no_depths_to_refine():
    moving = simulate("paper", frames=8, points=20, camera=CameraModel.ORTHOGONAL, noise=0.0, occlusion=0.0)
    still = Sequence(np.repeat(moving.tracks[:1], 8, axis=0), moving.visible, moving.camera, "still")
    result = reconstruct(still)
    assert result.energy is None
    assert any(sentence.endswith("has no extent in depth.") for sentence in result.verdicts)


def test_a_start_of_few_or_small_tracks_is_not_shrunk_to_zero_by_the_penalty():
    few = simulate("articulated", frames=6, points=15, noise=0.3, occlusion=0.0)
    first = {each: next(iterate(few, Settings(objective=each))) for each in (DEPTHS, WNN)}
    assert 0 < first[DEPTHS].settings.penalty.xi < 0.2 and first[WNN].settings.penalty.xi == 0.5
    assert first[DEPTHS].settings.rank == 6 == Settings().rank
    *_, last = iterate(few, Settings(starts=1, rotations="truth"))
    assert last.energy is not None and procrustes_mm(last.geometry.points, few.truth).mean < 3
    near = simulate("articulated", frames=30, points=30, noise=0.0)
    assert next(iterate(near)).settings == Settings()


def test_candidates_behind_their_cameras_are_no_starts(sequence, plain, refined):
    best, depths = plain[-1].best, refined[-1].depth.best
    problem = DepthProblem(best.problem.tracks, sequence.visible, affine=False)
    whole, behind = subset(best.problem, best.problem.tracks.size), replace(best.factors, s=-best.factors.s)
    ends = {"behind": (whole, behind), "in front": (whole, best.factors)}
    starts = refinement.usable_starts(followed_part(problem, depths), ends)
    assert list(starts) == ["in front"]
    assert starts["in front"].depths.shape == depths.depths.shape


def mirrored_in(end, first, last):
    """Return an iterate in which the frames of a refined one, from 0, are mirrored in depth."""
    result, problem = end.result(), end.best.problem
    tracks = DepthProblem(problem.tracks, problem.visible, problem.affine)
    point = DepthPoint.from_camera_points(tracks, result.camera_points, result.rotations)
    block = FrameBlock(first, last + 1)
    broken = reflect_block(tracks, point, mirror_in_depth(point), block)
    return replace(end, view=None, depth=replace(end.depth, best=broken))


@pytest.mark.slow
def test_mirrored_frames_are_repaired_by_mirroring_them_again(sequence, refined):
    broken = mirrored_in(refined[-1], 4, 9)
    before = procrustes_mm(refined[-1].result().points, sequence.truth).mean
    assert procrustes_mm(broken.result().points, sequence.truth).mean > 3 * before
    steps = list(iterate(sequence, REFINED.with_changes(mirror="5-10"), start=broken))
    depths = [each for each in steps if each.depth is not None]
    assert [end.name for end in steps[-1].depth.ends] == ["frames 5-10 mirrored"]
    assert all(
        each.phase.kind is not PhaseKind.DEPTH_START for each in depths
    )  # no coarse level, which may lose what is right
    assert procrustes_mm(steps[-1].result().points, sequence.truth).mean < 1.05 * before


def test_a_run_that_continues_none_mirrors_frames_of_its_bilinear_solution(sequence, plain):
    problem = plain[-1].best.problem
    tracks = DepthProblem(problem.tracks, problem.visible, problem.affine)
    start = refinement.depth_point(tracks, problem, plain[-1].best.factors)
    expected = reflect_block(tracks, start, mirror_in_depth(start), FrameBlock(2, 5))
    first = next(each for each in iterate(sequence, REFINED.with_changes(mirror="3-5")) if each.depth)
    np.testing.assert_allclose(first.depth.best.depths, expected.depths, rtol=1e-12)
    assert "frames 3-5 mirrored" in first.phase.name


@pytest.mark.slow
def test_mirrored_frames_are_repeated_from_steps_and_from_a_file(sequence, refined, tmp_path):
    mirrored = REFINED.with_changes(mirror="3-5")
    *_, last = iterate(sequence, mirrored, start=refined[-1])
    result = last.result()
    steps = [SolveStep(REFINED), SolveStep(mirrored)]
    assert np.array_equal(reconstruct(sequence, steps=steps).C, result.C)
    assert "--mirror 3-5" in result.meta["command"] and "mirror='3-5'" in result.meta["python"]
    start = load_start(refined[-1].result().save(tmp_path / "first.npz"), sequence)
    again = reconstruct(sequence, mirrored, start=start)
    # The product of the modes has other last digits than the shape, and the end is flat.
    assert again.energy == pytest.approx(result.energy, abs=1e-4)
    np.testing.assert_allclose(again.points, result.points, atol=0.02 * np.abs(result.points).max())


def test_all_frames_can_be_mirrored_and_no_others(sequence, refined):
    steps = iterate(sequence, REFINED.with_changes(mirror="1-16"), start=refined[-1])
    first = next(each for each in steps if "mirrored" in each.phase.name)
    expected = mirror_in_depth(refined[-1].depth.best)
    np.testing.assert_allclose(first.depth.best.depths, expected.depths, rtol=0.05)
    with pytest.raises(InputError, match="accepted are frames from 1 to 16"):
        next(iterate(sequence, REFINED.with_changes(mirror="10-20")))


def test_the_bilinear_solution_of_a_refined_iterate_is_the_result_of_a_run_without_refinement(
    sequence, plain, refined, tmp_path
):
    expected = plain[-1].result()
    loaded = load_start(refined[-1].result().save(tmp_path / "first.npz"), sequence)
    for each in (refined[-1], refined[len(plain) + 5], loaded):
        bilinear = each.alternatives[BILINEAR_START]
        assert bilinear.record.energy is None and not bilinear.alternatives
        np.testing.assert_allclose(bilinear.geometry.points, expected.points, atol=1e-9)
        assert bilinear.provenance == Provenance((SolveStep(QUICK.with_changes(noise=0.0)),))
    result = refined[-1].alternatives[BILINEAR_START].result()
    assert not result.refined and result.std is None and not result.meta["verdicts"]
    assert "--preset bilinear" in result.meta["command"]
    names = [end.name for end in refined[-1].depth.ends[1:]]
    assert list(refined[-1].alternatives)[1:] == [f"end {k}: {name}" for k, name in enumerate(names, start=2)]
    assert not plain[-1].alternatives


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        pytest.param(SolveStep(REFINED, end=9), "accepted are 1 to", marks=pytest.mark.slow),
        (SolveStep(QUICK, end=2), "accepted are 1 to 1"),
        (SolveStep(REFINED, 5, end=2), "step 1 has end 2, and stops after 5 iterates"),
    ],
)
def test_ends_that_a_refinement_does_not_have_are_refused(sequence, step, sentence):
    with pytest.raises(InputError, match=sentence):
        reconstruct(sequence, steps=[step])


@pytest.mark.slow
def test_few_frames_lower_the_rank_of_the_start_and_not_one_that_is_the_problem():
    few = simulate("paper", frames=4, points=20)
    assert reconstruct(few).bilinear_B.shape[1] == 4
    with pytest.raises(InputError, match=r"rank 6 exceeds min\(F, 3P\) = 4"):
        reconstruct(few, "bilinear")
