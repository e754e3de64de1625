"""The phases of a reconstruction: what they yield, keep, resume and refuse."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from core import (
    PRESETS,
    CameraModel,
    InputError,
    NuclearNorm,
    Settings,
    Status,
    VariableProjection,
    WeightedNuclearNorm,
    finish,
    iterate,
    procrustes_mm,
    reconstruct,
    simulate,
)
from core.foundation import PhaseKind
from core.problem import printed_form as residuals
from core.problem.nonrigid import subset
from core.solvers.solver import ROUNDING

QUICK = Settings(rank=2, penalty=WeightedNuclearNorm(xi=5e-3), rotations="truth", starts=4, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("balloon", path="circle", frames=16, points=24, noise=0.3, seed=1)


@pytest.fixture(scope="module")
def iterates(sequence):
    return list(iterate(sequence, QUICK))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("sequence", "sample:balloon/circle", "sequence is 'sample:balloon.*; accepted is a Sequence, of"),
        ("sequence", np.zeros((16, 2, 24)), r"sequence is array\(.*; accepted is a Sequence, of"),
        ("start", "a.npz", r"start is 'a.npz'; accepted is an Iterate, of load_start\(path, sequence\)"),
        ("settings", {"rank": 2}, r"settings is {'rank': 2}; accepted is Settings\(...\), or a preset: "),
        ("rotations", np.zeros((16, 3, 3)), r"rotations is array\(.*; accepted is a file, best, truth,"),
        ("steps", QUICK, r"steps is Settings\(.*; accepted is a list of SolveStep"),
        ("steps", [QUICK], r"step 1 is Settings\(.*; accepted is a SolveStep"),
    ],
)
def test_an_argument_of_another_kind_is_refused_in_a_sentence(sequence, name, value, sentence):
    for function in (iterate, reconstruct):
        with pytest.raises(InputError, match=sentence):
            function(**{"sequence": sequence} | {name: value})


def test_a_result_in_place_of_an_iterate_and_what_is_no_method_are_refused(sequence, iterates):
    with pytest.raises(InputError, match=r"start is Result\(.*; accepted is an Iterate, of load_start"):
        reconstruct(sequence, start=iterates[-1].result())
    with pytest.raises(InputError, match=r"settings is Settings\(.*; accepted is an algorithm such as"):
        iterate(iterates[-1].best.problem, QUICK)
    with pytest.raises(InputError, match=r"start is Iterate.*; accepted is factors or a snapshot"):
        iterate(iterates[-1].best.problem, VariableProjection(), iterates[-1])


def test_a_stopped_run_keeps_its_best(sequence):
    first = list(islice(iterate(sequence, QUICK), 5))
    result = finish(sequence, QUICK, first[-1], [u.record for u in first])
    assert result.loss == min(u.current.loss for u in first) and len(result.history) == 5


def test_history_is_numbered_and_timed_through_all_phases(iterates):
    assert (np.diff([(u.record.iteration, u.record.seconds) for u in iterates], axis=0) >= 0).all()
    assert [u.status.finished for u in iterates] == [False] * (len(iterates) - 1) + [True]
    assert iterates[-1].status is Status.CONVERGED and iterates[-1].fraction == 1.0
    assert all(0 <= u.fraction <= 1 for u in iterates)


def test_best_is_the_lowest_loss_of_the_comparable_problems(iterates):
    settled = [u for u in iterates if u.rotations_chosen]
    assert iterates[-1].best.loss == pytest.approx(min(u.current.loss for u in settled), rel=1e-12)
    reports = iterates[-1].starts
    names = {"rigid, grown", "closed form, cut", "rigid and slow 1", "lowest, rank raised"}
    assert {r.name for r in reports} == names and len(reports) == QUICK.starts
    assert any(r.agrees for r in reports)
    assert iterates[-1].best.loss <= min(r.loss for r in reports)


@pytest.mark.parametrize(
    "changes", [{}, {"rotations": "tracks"}, {"loss": "huber"}, {"method": "admm"}], ids=str
)
def test_records_have_the_best_loss_once_it_is_of_the_final_objective(sequence, changes):
    settings = QUICK.with_changes(starts=2, max_iterations=30, **changes)
    iterates = list(iterate(sequence, settings))
    robust = settings.loss != "squared"
    for each in iterates:
        final = each.rotations_chosen and (each.best.problem.robust is not None) == robust
        assert each.record.best == (each.best.loss if final else None)
    known = np.array([each.record.best for each in iterates if each.record.best is not None])
    assert ((len(known) < len(iterates)) == (robust or "rotations" in changes)) and len(known) > 1
    if settings.method == "admm":
        known = known[:-1]  # the last one is the cut that the run returns
    assert (np.diff(known) <= ROUNDING * known[:-1]).all()
    result = finish(sequence, settings, iterates[-1], [each.record for each in iterates])
    assert result.best_losses[-1] == result.loss


def test_result_is_a_stationary_point_and_its_loss_that_of_the_four_row_form(sequence, iterates):
    result = finish(sequence, QUICK, iterates[-1], [u.record for u in iterates])
    best = iterates[-1].best
    assert result.loss == pytest.approx(residuals.loss(best.problem, best.factors), rel=1e-10)
    assert residuals.relative_gradient(best.problem, best.factors) < 1e-7
    t = np.einsum("fab,fb->fa", result.rotations, best.factors.s)
    np.testing.assert_allclose(result.translations, t)
    assert result.C.shape == (3 * 24, 2) and result.history.shape == (len(iterates), 3)


def test_a_run_continues_from_its_point_under_changed_weights(sequence, iterates):
    changed = replace(QUICK, penalty=NuclearNorm(mu=2e-3))
    warm = list(iterate(sequence, changed, start=iterates[-1]))
    cold = reconstruct(sequence, changed)
    assert warm[-1].best.loss == pytest.approx(cold.loss, rel=1e-8)
    assert len(warm) < len(iterates) / 4
    assert warm[0].rotations_chosen and warm[0].rotations == iterates[-1].rotations


@pytest.mark.parametrize("method", [pytest.param("admm", marks=pytest.mark.slow), "bmm", "r-bmm"])
def test_a_method_on_the_matrix_is_reported_where_it_ends(method):
    flat = simulate("balloon", camera=CameraModel.ORTHOGONAL, frames=10, points=16, noise=0.3, seed=1)
    penalty = WeightedNuclearNorm() if method == "r-bmm" else NuclearNorm()
    options = (("shrinkage", 0.1), ("tau", 1.0)) if method == "bmm" else ()
    settings = replace(QUICK, method=method, options=options, penalty=penalty, max_iterations=3000)
    *before, last = iterate(flat, settings)
    assert min(each.current.loss for each in before) < 0.999 * last.current.loss  # a cut on the way
    assert last.best is last.current
    assert last.starts[0].loss == last.best.loss


def test_a_method_that_is_not_for_these_cameras_is_refused_before_anything_is_computed(sequence):
    with pytest.raises(InputError, match="BMM is for orthogonal cameras"):
        iterate(sequence, replace(QUICK, method="bmm", penalty=NuclearNorm()))


def test_options_reach_the_method_and_those_of_another_are_refused(sequence):
    strict = QUICK.with_changes(method="admm", options=(("progress", 0.5), ("patience", 2)))
    assert reconstruct(sequence, strict).iterations < 20
    assert strict.with_changes(method="admm+bilinear").options == strict.options
    assert strict.with_changes(method="bilinear").options == ()
    assert strict.with_changes(options=(("patience", 100.0),)).options == ()  # the default
    with pytest.raises(InputError, match="rho is not an option of the method 'agd', which takes acceptance"):
        QUICK.with_changes(method="agd", options=(("rho", 1.0),))
    with pytest.raises(InputError, match="relaxation is 3; accepted is a number of at least 1 and"):
        QUICK.with_changes(method="admm", options=(("relaxation", 3),))


@pytest.mark.parametrize("camera", CameraModel)
def test_the_bilinear_preset_recovers_a_deforming_object(camera):
    sequence = simulate("balloon", camera=camera, frames=16, points=24, noise=0.05, seed=1)
    result = reconstruct(sequence, replace(PRESETS["bilinear"], rank=3, starts=1))
    size = np.sqrt((sequence.truth.points**2).sum(axis=1).mean())
    affine = camera is CameraModel.ORTHOGONAL
    assert procrustes_mm(result.points, sequence.truth, reflection=affine).mean < 0.05 * size
    assert (result.eta == 1.0) == affine
    if affine:
        np.testing.assert_array_equal(result.translations[:, 2], 0.0)


def test_intrinsics_that_cannot_be_known_are_refused_with_the_options(sequence):
    unknown = replace(sequence, intrinsics=None, truth=None)
    with pytest.raises(InputError, match="--intrinsics auto, estimate, fx,fy,cx,cy, a file"):
        next(iterate(unknown, replace(QUICK, intrinsics="gt")))
    assert next(iterate(unknown, QUICK)).origin.source == "assumed"
    with pytest.raises(InputError, match="no companion"):
        next(iterate(replace(sequence, companion=None), replace(QUICK, rotations="companion")))


def test_a_point_of_a_subset_is_extended_to_every_frame_and_point(simulated):
    problem, true = simulated(frames=40, points=50, eta=1.0, noise=0.0, weights=(1e-12, 1e-12))
    reduced = subset(problem, 500)
    frames, _, points = reduced.small.tracks.shape
    assert frames < 40 and points < 50 and frames * points <= 550
    np.testing.assert_array_equal(reduced.small.rotations, problem.rotations[reduced.frames])
    np.testing.assert_allclose(reduced.small.weights, np.sqrt(frames * points / 2000) * problem.weights)
    lifted = reduced.to_full(reduced.restrict(true))
    assert lifted.B.shape == (40, 2) and lifted.C.shape == (2, 3, 50)
    assert problem.loss(lifted) < 1e-9
    assert subset(problem, 2000).small is problem


def test_all_problems_of_a_run_share_its_tracks(sequence):
    assert not sequence.visible.all() and sequence.tracks.transpose(0, 2, 1)[~sequence.visible].any()
    settings = replace(QUICK, rotations="tracks", max_iterations=1)
    tracks = {id(each.current.problem.tracks) for each in iterate(sequence, settings)}
    assert len(tracks) == 1


@pytest.mark.parametrize("problem", ["nonrigid", "lowrank"])
def test_a_run_can_continue_from_a_point_that_a_penalty_has_shrunk_to_zero(sequence, problem):
    strong = replace(QUICK, problem=problem, rank=4, method="lm", penalty=NuclearNorm(10.0), starts=1)
    *_, nothing = iterate(sequence, strong)
    point = nothing.current.factors
    assert point.rank == nothing.best.problem.rank == 4  # that of the settings
    least = replace(point, B=1e-40 * np.ones_like(point.B), C=1e-40 * np.ones_like(point.C))
    nothing = replace(nothing, current=replace(nothing.current, factors=least))  # zero but for rounding
    *_, revived = iterate(sequence, replace(strong, penalty=NuclearNorm(1e-5)), start=nothing)
    assert revived.best.loss < 0.1 * nothing.best.loss
    assert (revived.best.factors.gamma() > 1e-6).sum() > 1 and revived.best.factors.gamma().max() > 0.1


def test_the_history_holds_both_residuals_of_admm_alone(sequence):
    settings = QUICK.with_changes(method="admm+bilinear", max_iterations=30)
    records = [each.record for each in iterate(sequence, settings)]
    for record in records:
        assert (record.primal is None) == (record.dual is None) == (record.phase.kind is not PhaseKind.MATRIX)
    steps = [record for record in records if record.phase.kind is PhaseKind.MATRIX]
    assert len(steps) == 31  # the limit holds for every phase
    assert np.isinf([steps[0].primal, steps[0].dual]).all()  # before the first step
    values = np.array([(record.primal, record.dual) for record in steps[1:]])
    assert np.isfinite(values).all() and (values >= 0).all()
    assert values[-5:].mean() < values[:5].mean()


def test_keywords_of_settings_are_refused_with_a_problem(iterates):
    problem = iterates[-1].best.problem
    with pytest.raises(InputError, match="steps, rank given with a problem; accepted are an algorithm"):
        iterate(problem, VariableProjection(), rank=7, steps=3)
