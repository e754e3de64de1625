"""A run whose parameters of the depths change follows the shape that is shown; all that it gives fits it."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from core import Settings, SolveStep, iterate, load_result, load_start, reconstruct, simulate
from core.depth import LENGTHS, DepthEnd, DepthOptions, carried_along, followed_points
from core.foundation import DEPTHS, WNN, PhaseKind
from core.reconstruction import BILINEAR_START, Provenance, Verdict
from core.reconstruction.geometry import mean_and_modes
from core.reconstruction.refinement import can_follow, depth_options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("brief_search")]

REFINED = Settings(objective=DEPTHS, rank=2, starts=1, rotations="truth")
FEW = 8  # points that pass all levels, where there are too many
MOVED = {
    "isometry": {"isometry": 1.5},
    "mode weights": {"mode_weights": (0.95, 1.0, 1.1)},  # heavier ones lead into one of several basins
    "smallest movement": {"smallest_movement": 0.02},
    "noise": {"noise": 2.0},
    "neighbors": {"neighbors": 4},
}


def last_of(iterates):
    (last,) = deque(iterates, maxlen=1)
    return last


def apart(one, other):
    """Return the distance of two iterates' shapes in the frame of the camera, over the size of the object."""
    X, Z = (each.geometry.rotations @ each.geometry.points for each in (one, other))
    X, Z = (each - each.mean(axis=2, keepdims=True) for each in (X, Z))
    X *= np.vdot(X, Z) / np.vdot(X, X)  # the size of all is not determined
    return float(np.sqrt(np.square(X - Z).sum() / np.square(Z).sum()))


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=12, points=20, occlusion=0.1, noise=0.5, seed=3)


@pytest.fixture(scope="module")
def refined(sequence):
    return tuple(iterate(sequence, REFINED))


@pytest.fixture(scope="module")
def settled(sequence, refined):
    """The run continued without a change."""
    return last_of(iterate(sequence, REFINED, start=refined[-1]))


@pytest.fixture(scope="module")
def away(sequence, settled):
    """The iterates under other parameters of the depths, by what was changed."""
    return {
        name: list(iterate(sequence, REFINED.with_changes(**changes), start=settled))
        for name, changes in MOVED.items()
    }


@pytest.fixture(scope="module")
def loaded(sequence, settled, tmp_path_factory):
    path = settled.result().save(tmp_path_factory.mktemp("following") / "result.npz")
    return load_start(path, sequence)


def test_a_run_that_has_ended_hardly_moves_where_nothing_changed(refined, settled):
    assert apart(settled, refined[-1]) < 2e-3
    assert settled.record.energy == pytest.approx(refined[-1].record.energy, rel=1e-9)
    assert settled.best is refined[-1].best


def test_what_goes_on_from_an_ambiguous_shape_says_so_through_all_that_follows(sequence, settled):
    other = Verdict("ambiguous", "Two shapes explain the tracks.", action="compare")
    start = replace(settled, verdicts=(*settled.verdicts, other))
    first, *_, last = iterate(sequence, REFINED.with_changes(isometry=0.2), start=start)
    again = last_of(iterate(sequence, REFINED, start=first))  # changed once more, on the way
    for each in (last, again):
        (carried,) = (verdict for verdict in each.verdicts if verdict.kind == "ambiguous")
        assert "where this run begins" in carried.sentence and not carried.action
    assert all(verdict.kind != "ambiguous" for verdict in settled.verdicts)


@pytest.mark.parametrize("name", MOVED)
def test_a_parameter_of_the_depths_moves_the_shape_from_the_first_iterate_on(settled, away, name):
    iterates = away[name]
    for each in iterates:
        assert each.best is settled.best and each.current is settled.current  # the bilinear solution
        assert each.phase.kind in (PhaseKind.FINEST, PhaseKind.UNCERTAINTY)
        assert each.settings == REFINED.with_changes(**MOVED[name])
        assert each.depth.followed.subset is settled.depth.followed.subset
    assert apart(iterates[0], settled) > 1e-6
    assert apart(iterates[-1], settled) > 1e-4
    assert [each.status.finished for each in iterates] == [False] * (len(iterates) - 1) + [True]
    assert iterates[-1].geometry.std.shape == settled.geometry.std.shape
    assert (iterates[-1].geometry.std > 0).all()
    energies = [each.depth.best_energy for each in iterates]
    assert energies == sorted(energies, reverse=True)


@pytest.mark.parametrize("name", MOVED)
def test_what_is_followed_ends_in_a_minimum_of_the_changed_parameters(sequence, away, name):
    end = away[name][-1]
    again = last_of(iterate(sequence, end.settings, start=end))
    assert again.record.energy <= end.record.energy
    assert end.record.energy - again.record.energy < 1e-4
    assert apart(again, end) < 2e-3
    objective = end.depth.objective
    level = objective.level
    assert level.share == 0.5 and level.isometry == 0.5 * end.settings.isometry  # no parts move
    assert level.eps == end.settings.smallest_movement
    assert level.weights == end.settings.mode_weights and objective.neighbors == end.settings.neighbors
    value, gradient = objective.value_and_gradient(objective.start(end.depth.followed.point))
    assert value / objective.problem.visible.size == pytest.approx(end.record.energy, rel=1e-9)
    steepest = np.abs(objective.value_and_gradient(objective.start(away[name][0].depth.best))[1]).max()
    assert np.abs(gradient).max() < 0.2 * steepest


@pytest.mark.parametrize("name", MOVED)
def test_a_parameter_that_is_put_back_leads_back(sequence, settled, away, name):
    back = last_of(iterate(sequence, REFINED, start=away[name][-1]))
    assert apart(back, settled) < 1e-3
    early = last_of(iterate(sequence, REFINED, start=away[name][0]))  # the hand moves on before it has ended
    assert apart(early, settled) < 1e-3


@pytest.mark.parametrize("changes", [{"mode_weights": (0.95, 1.0, 1.1)}, {"isometry": 0.36}])
def test_a_run_that_continues_from_a_file_follows_the_shape_in_it(sequence, settled, loaded, changes):
    moved = REFINED.with_changes(**changes)  # by little: where edges are others, far minima may be others
    iterates, live = (
        list(iterate(sequence, moved, start=loaded)),
        last_of(iterate(sequence, moved, start=settled)),
    )
    assert all(each.best is loaded.best for each in iterates)
    assert iterates[0].phase.kind is PhaseKind.FINEST
    assert apart(loaded, settled) < 1e-12
    assert 1e-6 < apart(iterates[0], loaded) < 2 * apart(live, settled)
    assert apart(iterates[-1], live) < 0.02  # neighbors are those of another shape
    assert iterates[-1].record.energy == pytest.approx(live.record.energy, abs=0.02)
    back = last_of(iterate(sequence, REFINED, start=iterates[-1]))
    assert apart(back, last_of(iterate(sequence, REFINED, start=loaded))) < 1e-3
    assert iterates[-1].geometry.std is not None


def test_a_shape_of_few_frames_is_followed_under_the_rank_that_these_allow(sequence):
    few = simulate("paper", frames=5, points=15, occlusion=0.0, noise=0.5, seed=3)
    found = last_of(iterate(few, REFINED.with_changes(rank=6)))
    steps = [*iterate(few, REFINED.with_changes(rank=6, isometry=0.5), start=found)]
    assert steps[-1].settings.rank == 5 and {each.phase.kind for each in steps} == {
        PhaseKind.FINEST,
        PhaseKind.UNCERTAINTY,
    }


@pytest.mark.parametrize("kind", ["stretch", "articulated"])
def test_a_shape_of_a_file_is_followed_under_the_objective_that_it_is_a_minimum_of(kind, tmp_path):
    scene = simulate(kind, frames=24, points=24, noise=0.3, seed=3)
    found = last_of(iterate(scene, REFINED))
    loaded = load_start(found.result().save(tmp_path / "result.npz"), scene)
    one, other = (
        last_of(iterate(scene, REFINED.with_changes(isometry=0.4), start=each)) for each in (found, loaded)
    )
    for name in (*LENGTHS, "isometry", "eps", "weights"):
        assert getattr(one.depth.level, name) == getattr(other.depth.level, name)
    assert other.record.energy == pytest.approx(one.record.energy, abs=0.02)


def test_deviations_of_a_followed_shape_keep_what_other_ends_say(sequence, settled):
    found = settled.depth.followed
    end = DepthEnd("other", replace(found.end, depths=np.square(found.end.depths)), 0.0, 0.0)
    start = replace(settled, depth=replace(settled.depth, followed=replace(found, ends=(end, end))))
    plain, spread = (last_of(iterate(sequence, REFINED, start=each)) for each in (settled, start))
    assert (spread.geometry.std > plain.geometry.std).all()


def test_what_is_no_parameter_of_the_depths_is_solved_again(sequence, refined, settled, loaded, tmp_path):
    kept = (
        {},
        {"isometry": 1.0},
        {"noise": 0.1, "neighbors": 3},
        {"scale": "size=1m"},
        {"upright": "up=0,-1,0"},
    )
    lost = ({"eta": 0.2}, {"rank": 3}, {"seed": 1}, {"hide": "1:2"}, {"loss": "cauchy"}, {"mirror": "2-4"})
    for start in (settled, loaded):
        assert all(can_follow(start, REFINED.with_changes(**changes)) for changes in kept)
        assert not any(can_follow(start, REFINED.with_changes(**changes)) for changes in lost)
        assert not can_follow(start, REFINED.with_changes(objective=WNN))
    for each in refined:  # before their end they have not passed the finest level
        assert can_follow(each, REFINED) == (each.phase.kind is PhaseKind.UNCERTAINTY)
    coarse = next(each for each in refined if each.phase.kind is PhaseKind.FINE)
    start = load_start(coarse.result().save(tmp_path / "stopped.npz"), sequence)
    assert start.record.energy is not None and not can_follow(start, REFINED)


def test_steps_that_were_followed_are_repeated_bit_for_bit(sequence, refined, tmp_path):
    heavy = REFINED.with_changes(mode_weights=(1.0, 9.0))
    moved = next(iterate(sequence, heavy, start=refined[-1]))
    first = last_of(iterate(sequence, heavy.with_changes(isometry=0.5), start=moved)).result()
    steps = (SolveStep(REFINED), SolveStep(heavy, 1), SolveStep(heavy.with_changes(isometry=0.5)))
    again = reconstruct(sequence, steps=steps)
    assert np.array_equal(first.points, again.points) and first.energy == again.energy
    assert first.meta["command"] == again.meta["command"]
    assert "--mode-weights 1.0,9.0 --iterates 1" in again.meta["command"]
    loaded = load_start(again.save(tmp_path / "result.npz"), sequence)
    assert loaded.provenance == Provenance(steps)


def follow_few(patch):
    """Have eight points of a sequence stand for all."""
    patch.setattr("core.depth.following.FOLLOWED", 0)
    patch.setattr("core.depth.following.FEWEST_FOLLOWED", FEW)


@pytest.fixture(scope="module")
def few(sequence):
    """The end of a run of whose points eight stand for all."""
    with pytest.MonkeyPatch.context() as patch:
        follow_few(patch)
        assert followed_points(sequence.visible.shape) == FEW
        return last_of(iterate(sequence, REFINED))


def test_of_many_points_some_are_followed_and_all_move(sequence, few, tmp_path, monkeypatch):
    follow_few(monkeypatch)
    subset = few.depth.followed.subset
    others = np.setdiff1d(np.arange(sequence.point_count), subset.points)
    assert not subset.complete and len(others) == sequence.point_count - FEW
    double, ends = REFINED.with_changes(mode_weights=(2.0,)), []
    for start in (few, load_start(few.result().save(tmp_path / "a.npz"), sequence)):
        *moved, last = iterate(sequence, double, start=start)
        ends.append(last)
        assert len(moved) > 1
        change = np.abs(moved[0].depth.best.depths - few.depth.best.depths)
        assert (change[:, others].max(axis=0) > 1e-7).all() and change[:, subset.points].max() > 1e-7
        followed = last.depth.followed
        options = depth_options(double, thorough=True)
        expected = followed.subset.extend(followed.point, start.geometry.depth_point.rays, options)
        np.testing.assert_allclose(last.depth.best.depths, expected.depths, rtol=0.02)
        missed = np.linalg.norm(last.result().reprojections() - sequence.tracks, axis=1)
        assert missed[sequence.visible].max() < 10
        assert last.geometry.std.shape == last.geometry.points.shape and (last.geometry.std > 0).all()
        assert all(verdict.kind != "ambiguous" for verdict in last.verdicts)  # only one end is kept
    back = last_of(iterate(sequence, REFINED, start=ends[0]))
    assert apart(back, few) < 0.02  # the others are known from the part


def test_points_that_are_carried_along_move_as_those_near_them(few):
    followed = few.depth.followed
    shown, before = followed.shown, followed.point
    factor = 1.01 ** np.arange(len(before.depths))[:, None]
    moved = carried_along(followed.subset, shown, before, replace(before, depths=before.depths * factor))
    ratio = np.log(moved.depths / shown.depths)
    expected = np.broadcast_to(np.log(factor) - np.log(factor).mean(), ratio.shape)
    np.testing.assert_allclose(ratio, expected, atol=1e-9)
    still = carried_along(followed.subset, shown, before, before)
    np.testing.assert_allclose(still.depths, shown.depths, rtol=1e-12)


@pytest.mark.parametrize("name", ["mode weights", "noise"])
def test_the_spectrum_of_the_depths_is_that_of_the_deviations_which_the_energy_weighs(away, name):
    for each in (away[name][0], away[name][-1]):
        X = each.geometry.points - each.geometry.points.mean(axis=2, keepdims=True)
        deviations = (X - X.mean(axis=0)).reshape(len(X), -1) / np.sqrt(len(X))
        expected = np.linalg.svd(deviations, compute_uv=False)[: len(X) - 1]
        followed = each.depth.followed
        unit = followed.objective.problem.unit(followed.point)
        np.testing.assert_allclose(each.spectrum.values, expected / unit, rtol=1e-6, atol=1e-9)
        given = each.settings.mode_weights
        weights = [given[min(k, len(given) - 1)] for k in range(len(expected))]
        np.testing.assert_array_equal(each.spectrum.weights, weights)


def test_the_spectrum_of_the_bilinear_solution_has_the_singular_values_and_their_weights(
    sequence, refined, settled, tmp_path
):
    bilinear = settled.alternatives[BILINEAR_START]
    saved = load_start(bilinear.result().save(tmp_path / "bilinear.npz"), sequence)
    for each in (refined[3], bilinear, saved):
        factors, problem = each.best.factors, each.best.problem
        product = factors.B @ factors.C.reshape(factors.rank, -1)
        expected = np.linalg.svd(product, compute_uv=False)[: factors.rank]
        np.testing.assert_allclose(each.spectrum.values, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(each.spectrum.weights, problem.weights)
        assert list(each.spectrum.weights) == sorted(each.spectrum.weights)


def test_the_arrays_of_a_result_of_the_depths_fit_each_other(away, tmp_path):
    end = away["mode weights"][-1]
    given, made = end.settings.mode_weights, end.result()
    for result in (made, load_result(made.save(tmp_path / "result.npz"))):
        frames, points = result.visible.shape
        count = 1 + min(frames - 1, 3 * points)
        assert result.objective == DEPTHS
        assert result.B.shape == (frames, count) and result.C.shape == (3 * points, count)
        assert result.weights.shape == (count,) and (np.diff(result.weights[1:]) >= 0).all()
        assert tuple(result.weights[[0, 1, -1]]) == (0, given[0], given[-1])
        np.testing.assert_array_equal(result.B[:, 0], 1.0)
        np.testing.assert_allclose(result.points, end.geometry.points, atol=1e-12)
        np.testing.assert_allclose(result.C[:, 0], end.geometry.points.mean(axis=0).ravel(), atol=1e-12)
        assert result.bilinear_weights.shape == (result.rank,) == (2,)
        assert result.bilinear_B.shape == (frames, 2) and result.bilinear_C.shape == (3 * points, 2)
        np.testing.assert_array_equal(result.bilinear_weights, end.best.problem.slopes(end.best.factors))
        np.testing.assert_allclose((result.B @ result.C.T).reshape(frames, 3, -1), result.points)


def test_the_mean_and_the_modes_are_balanced_orthogonal_and_give_the_shapes_back():
    rng = np.random.default_rng(4)
    for frames, points in ((6, 5), (20, 3)):
        shapes = rng.normal(size=(frames, 3, points))
        B, C = mean_and_modes(shapes)
        assert B.shape == (frames, 1 + min(frames - 1, 3 * points)) and C.shape == (3 * points, B.shape[1])
        np.testing.assert_allclose((B @ C.T).reshape(shapes.shape), shapes, atol=1e-12)
        np.testing.assert_allclose(C[:, 0], shapes.mean(axis=0).ravel())
        sigma = np.linalg.svd((shapes - shapes.mean(axis=0)).reshape(frames, -1), compute_uv=False)
        for gram in (B[:, 1:].T @ B[:, 1:], C[:, 1:].T @ C[:, 1:]):
            np.testing.assert_allclose(gram, np.diag(sigma[: B.shape[1] - 1]), atol=1e-9)
        assert np.abs(B[:, 1:].sum(axis=0)).max() < 1e-9


def test_options_that_are_not_given_are_those_of_the_settings():
    plain, settings = DepthOptions(), Settings()
    assert (plain.isometry, plain.neighbors) == (settings.isometry, settings.neighbors)
    assert (plain.weights, plain.eps) == (settings.mode_weights, settings.smallest_movement)
