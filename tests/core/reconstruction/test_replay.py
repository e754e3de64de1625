"""A reconstruction that was steered, made again from what is written down about it: to 12 digits."""

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from core import (
    MCP,
    PRESETS,
    ExplicitWeights,
    HistoryEntry,
    InputError,
    NuclearNorm,
    Provenance,
    Settings,
    SolveStep,
    TruncatedNuclearNorm,
    command_for,
    finish,
    iterate,
    load_result,
    load_start,
    python_for,
    read_sequence,
    reconstruct,
    save_result,
    simulate,
    write_npz,
)
from core.cli import main, parser, steps_from
from core.foundation import Phase, PhaseKind
from core.reconstruction import RECORDS, Verdict
from core.reconstruction.result import REFINED

DIGITS = 1e-12
QUICK = Settings(rank=2, starts=3, rotations="truth", objective="wnn")


@pytest.fixture(scope="module")
def sequence(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "small.npz"
    made = simulate("balloon", frames=14, points=16, seed=3)
    write_npz(made, path)
    return read_sequence(path)


def steered(sequence, *parts):
    """Drain one stream after the other as a live window does: each from where the one before was left."""
    start, records = None, []
    for settings, count in parts:
        for each in islice(iterate(sequence, settings, start=start), count):
            start = each
            records.append(each.record)
    return finish(sequence, start.settings, start, records), start


STEERED = {
    "weights changed twice on the way": [
        (QUICK, 5), (QUICK.with_changes(penalty=NuclearNorm(mu=0.1)), 2),
        (QUICK.with_changes(penalty=ExplicitWeights((0.01, 0.3))), None),
    ],
    "rank raised after the end, then stopped": [(QUICK, None), (QUICK.with_changes(rank=3), 2)],
    "eta and a concave penalty": [(QUICK, 4), (QUICK.with_changes(eta=0.3, penalty=MCP(mu=0.2)), None)],
    "low rank": [
        (PRESETS["lowrank"].with_changes(starts=3), 7),
        (PRESETS["lowrank"].with_changes(rank=5, penalty=TruncatedNuclearNorm(mu=0.01, free=4)), None),
    ],
    "stopped before its end": [(QUICK, 6)],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("parts", STEERED.values(), ids=STEERED)
def test_the_provenance_of_an_iterate_reproduces_it(sequence, parts):
    result, last = steered(sequence, *parts)
    recipe = last.provenance
    assert [(step.settings, step.iterates) for step in recipe.steps] == parts
    again = reconstruct(sequence, steps=recipe.steps)
    assert again.loss == result.loss
    assert np.array_equal(again.B, result.B)
    assert len(again.history) == len(result.history)
    assert (np.diff(again.history[:, :2], axis=0) >= 0).all()  # iterations and seconds count on
    first = 0
    for step in recipe.steps[:-1]:
        first += len(reconstruct(sequence, steps=[step]).history) if step.iterates is None else step.iterates
        assert again.history[first, 0] == again.history[first - 1, 0] + 1
        assert again.history[first, 1] > again.history[first - 1, 1]  # the first iterate took some time, too


def test_the_way_is_not_known_where_that_to_the_start_is_not(sequence):
    _, before = steered(sequence, (QUICK, None))
    changed = QUICK.with_changes(eta=0.2)
    known, unknown = (
        next(iterate(sequence, changed, start=start)) for start in (before, replace(before, provenance=None))
    )
    assert len(known.provenance.steps) == 2
    anew = next(iterate(sequence, QUICK.with_changes(rotations="best", rank=1), start=before))
    assert len(anew.provenance.steps) == 1  # of a new run
    assert unknown.provenance is None
    assert known.current.loss == unknown.current.loss


def test_steps_survive_json_and_the_command_line(sequence):
    penalty = MCP(mu=1 / 3)
    steps = (SolveStep(QUICK, 5), SolveStep(Settings()), SolveStep(Settings(penalty=penalty, eta=1.0), 1))
    assert RECORDS.read(tuple[SolveStep, ...], json.loads(json.dumps(RECORDS.write(steps))), "steps") == steps
    _, last = steered(sequence, (QUICK, 5))
    for made, expected in ((last.provenance, steps[:1]), (Provenance(steps), steps)):
        words = shlex.split(command_for(sequence, made))
        assert steps_from(parser().parse_args(words[1:])) == expected


@pytest.mark.parametrize(
    "name", ["weights changed twice on the way", pytest.param("low rank", marks=pytest.mark.slow)]
)
def test_the_python_and_the_command_of_a_steered_run_give_its_loss(sequence, tmp_path, name):
    result, last = steered(sequence, *STEERED[name])
    recipe = last.provenance
    program, made, commanded = tmp_path / "program.py", tmp_path / "python.npz", tmp_path / "command.npz"
    program.write_text(python_for(sequence, recipe, made))
    subprocess.run([sys.executable, str(program)], check=True, cwd=Path(__file__).parents[3])
    assert main([*shlex.split(command_for(sequence, recipe, commanded))[1:], "--quiet"]) == 0
    for path in (made, commanded):
        found = load_result(path)
        assert found.loss == pytest.approx(result.loss, rel=DIGITS, abs=0)
        assert RECORDS.read(tuple[SolveStep, ...], found.meta["steps"], "steps") == recipe.steps


@pytest.mark.slow
def test_a_result_holds_its_provenance_and_a_run_can_continue_from_it(sequence, tmp_path):
    settings = PRESETS["lowrank"].with_changes(starts=3)
    for number, parts in enumerate(([(QUICK, 6)], [(QUICK, None)], [(settings, None)])):
        result, last = steered(sequence, *parts)
        path = save_result(result, tmp_path / f"{number}.npz")
        start = load_start(path, sequence)
        assert start.provenance == last.provenance
        assert start.best.problem.loss(start.best.factors) == pytest.approx(result.loss, rel=DIGITS, abs=0)
        assert np.array_equal(start.geometry.points, result.points)
        changed = parts[-1][0].with_changes(eta=0.2)
        *_, further = iterate(sequence, changed, start=start)
        assert "from where it was" in [report.name for report in further.starts]
        recipe = further.provenance
        assert (recipe.start, recipe.steps) == (path, (SolveStep(changed),))
        out = tmp_path / f"{number}-further.npz"
        assert main([*shlex.split(command_for(sequence, recipe, out))[1:], "--quiet"]) == 0
        assert load_result(out).loss == pytest.approx(further.best.loss, rel=DIGITS, abs=0)
        assert load_result(out).meta["start"] == str(path)


def test_a_run_continues_from_what_a_refined_result_was_refined_from(sequence, tmp_path, move_along_rays):
    plain = reconstruct(sequence, QUICK)
    refined = move_along_rays(plain)
    start = load_start(save_result(refined, tmp_path / "refined.npz"), sequence)
    assert start.record.energy == refined.energy
    assert np.array_equal(start.geometry.points, refined.points)
    assert np.array_equal(start.geometry.std, refined.std)
    assert [verdict.kind for verdict in start.verdicts] == ["jump"]
    assert start.best.problem.loss(start.best.factors) == pytest.approx(plain.loss, rel=DIGITS, abs=0)
    before = load_start(save_result(plain, tmp_path / "plain.npz"), sequence)
    changed = QUICK.with_changes(eta=0.2)
    ends = [list(iterate(sequence, changed, start=one))[-1] for one in (start, before)]
    assert ends[0].best.loss == ends[1].best.loss
    # Without going on it is the same result again.
    records = [HistoryEntry(int(i), s, loss, Phase(PhaseKind.REFINE)) for i, s, loss in refined.history]
    energies = dict(refined.energy_history[:, ::2].tolist())
    records = [replace(each, energy=energies.get(each.iteration)) for each in records]
    again = finish(sequence, QUICK, start, records)
    for name in REFINED | {"B", "C", "rotations", "translations", "std", "weights"}:
        one, two = getattr(again, name), getattr(refined, name)
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13, err_msg=name)
    assert RECORDS.read(tuple[Verdict, ...], again.meta["verdicts"], "verdicts") == start.verdicts


def test_a_start_of_other_tracks_is_refused(sequence, tmp_path):
    path = save_result(reconstruct(sequence, QUICK), tmp_path / "result.npz")
    with pytest.raises(InputError, match=r"is of 14 frames and 16 points; .* has 12 and 16"):
        load_start(path, simulate("balloon", frames=12, points=16, seed=3))
    with pytest.raises(InputError, match="is of other tracks than those of"):
        load_start(path, simulate("balloon", frames=14, points=16, seed=4))
    result = load_result(path)
    result.meta["intrinsics"]["source"] = "a friend"
    with pytest.raises(InputError, match="the intrinsics are from 'a friend'; accepted are given, sequence"):
        load_start(save_result(result, path), sequence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--then=--etta 1"], "--then: unrecognized arguments: --etta 1; accepted are options of settings"),
        (["--then=--eta 7"], "eta is 7; accepted is a number above 0 and at most 1"),
        (["--then=--eta '"], "cannot be split into words"),
        (["--iterates", "0"], "step 1 has 0 iterates; accepted is at least 1"),
        (["--start", "nowhere.npz"], "nowhere.npz: there is no such file"),
    ],
)
def test_steering_that_cannot_be_is_refused_with_a_sentence(capsys, tmp_path, words, sentence):
    out = tmp_path / "out.npz"
    assert main(["solve", "sample:balloon/circle", *words, "-o", str(out), "--quiet"]) == 2
    assert sentence in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("values", [[{}], [{"settings": {}, "iterates": "2"}], ["x"]])
def test_steps_that_cannot_be_rebuilt_are_refused_with_a_sentence(values):
    with pytest.raises(InputError, match=r"steps\[0\]"):
        RECORDS.read(tuple[SolveStep, ...], values, "steps")
