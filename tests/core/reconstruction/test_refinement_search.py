"""Refinements whose search finds the lowest end: its starts, and what a run that continues it shows."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from core import PRESETS, Settings, SolveStep, iterate, load_start, simulate
from core.cli import parser, steps_from
from core.depth.search import LIGHT
from core.evaluation import procrustes_mm
from core.foundation import WNN, PhaseKind
from core.reconstruction import BILINEAR_START, RECORDS, refinement

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("brief_uncertainty")]

REFINED = Settings(rank=2, starts=2, rotations="truth", objective="depths", noise=0.0)
COMPARED = REFINED.with_changes(starts=1, rotations="tracks")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=16, points=24, occlusion=0.1, noise=0.0, seed=3)


@pytest.fixture(scope="module")
def refined(sequence):
    return tuple(iterate(sequence, REFINED))


@pytest.fixture(scope="module")
def narrow():
    """Return a sequence whose camera moves along a line, so that two shapes explain its tracks."""
    return simulate("paper", path="line", frames=16, points=24, noise=0.0, seed=3)


@pytest.fixture(scope="module")
def compared(narrow):
    return tuple(iterate(narrow, COMPARED))


def test_a_continued_run_that_changes_its_objective_shows_that_and_refines_the_earlier_shape_too(
    sequence, refined
):
    poor = REFINED.with_changes(rank=1)
    alone = refined[-1].alternatives[BILINEAR_START]
    *_, without = iterate(sequence, poor, start=alone)
    steps = list(iterate(sequence, poor, start=refined[-1]))
    bilinear = [each for each in steps if each.record.energy is None]
    assert bilinear and all(each.depth is None and each.view is None for each in bilinear)
    assert len({id(each.earlier) for each in bilinear}) == 1
    np.testing.assert_allclose(bilinear[0].earlier.best.depths, refined[-1].depth.best.depths, rtol=1e-9)
    assert any(
        (each.phase.kind, each.phase.name) == (PhaseKind.ALL_POINTS, "refined shape") for each in steps
    )
    end = steps[-1]
    assert end.earlier is None and end.depth.best_energy <= without.depth.best_energy + 1e-6
    wrong, right = (procrustes_mm(each.result().points, sequence.truth).mean for each in (bilinear[-1], end))
    assert right < 1.05 * procrustes_mm(refined[-1].result().points, sequence.truth).mean < wrong
    # A movement changes the objective many times before anything is refined again.
    search = next(each for each in steps if each.phase.kind is PhaseKind.DEPTH_START)
    assert search.earlier is bilinear[-1].earlier
    assert procrustes_mm(search.geometry.points, sequence.truth).mean > 1.5 * right
    # Then nothing that is tried is shown: the refined shape stays until there is another.
    later = [
        each for each in steps if each.depth is not None and each.phase.kind is not PhaseKind.DEPTH_START
    ]
    assert len({each.phase for each in later}) > 5
    assert {id(each.depth.best) for each in later[:-1]} == {id(search.earlier.best)}
    assert [each.shows_earlier for each in later] == [True] * (len(later) - 1) + [False]
    assert not any(each.shows_earlier for each in steps if each not in later)
    assert all(each.record.energy == each.depth.energy for each in later)
    np.testing.assert_allclose(later[0].geometry.points, refined[-1].geometry.points, rtol=1e-9, atol=1e-9)
    for start in bilinear[0], search:
        *_, last = iterate(sequence, REFINED.with_changes(rank=1, eta=0.1), start=start)
        assert last.depth.best_energy == pytest.approx(end.depth.best_energy, abs=0.01)


def test_the_earlier_shape_stays_while_lighter_lengths_are_searched():
    scene = replace(simulate("stretch", frames=24, points=40, path="zigzag", noise=0.3), companion=None)
    settings = PRESETS["recommended"].with_changes(starts=1)
    *_, refined = iterate(scene, settings)
    steps = list(iterate(scene, settings.with_changes(rank=2, eta=0.2), start=refined))
    lighter = [each for each in steps if each.phase.name.endswith(LIGHT)]
    assert lighter and all(each.shows_earlier for each in lighter)
    assert len({id(each.depth.best) for each in lighter}) == 1


def test_a_continued_run_of_the_same_objective_shows_the_refined_shape_throughout(
    sequence, refined, tmp_path
):
    shown = refined[-1].geometry.points
    path = refined[-1].result().save(tmp_path / "first.npz")
    for start in refined[-1], load_start(path, sequence):
        steps = list(iterate(sequence, REFINED.with_changes(seed=1), start=start))
        first = [each for each in steps if each.phase.objective == WNN]
        assert first and all(each.record.energy == refined[-1].record.energy for each in first)
        for each in first:
            np.testing.assert_array_equal(each.geometry.points, start.geometry.points)
            assert each.geometry.std is start.geometry.std
            assert np.array_equal(each.alternatives[BILINEAR_START].best.factors.B, each.best.factors.B)
        assert first[-1].result().energy == refined[-1].record.energy
        *running, end = steps[len(first) :]
        assert all(each.shows_earlier for each in (*first, *running)) and not end.shows_earlier
        assert all(each.depth.best_energy == refined[-1].record.energy for each in running)
        for each in running:
            np.testing.assert_allclose(each.geometry.points, shown, atol=1e-9 * np.abs(shown).max())
            assert each.geometry.std is start.geometry.std and each.record.energy == each.depth.energy
        errors = [procrustes_mm(points, sequence.truth).mean for points in (end.result().points, shown)]
        assert end.geometry.std is not start.geometry.std and errors[0] < 1.1 * errors[1]


def test_rotations_that_were_compared_give_further_starts(compared):
    phases = [each.phase for each in compared]
    names = {phase.name for phase in phases if phase.kind is PhaseKind.ROTATIONS}
    starts = [phase.name for phase in phases if phase.kind is PhaseKind.DEPTH_START]
    first, *others = dict.fromkeys(starts)
    assert first == "bilinear solution"
    assert len(others) == refinement.CANDIDATES < len(names) and set(others) < names
    fractions = [each.fraction for each in compared]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    share = max(each.fraction for each in compared if each.depth is None)
    assert 0.1 < share < 0.9 and all(each.fraction >= share for each in compared if each.depth)


def test_further_ends_are_made_again_by_their_steps_and_their_command(narrow, compared):
    ends = list(compared[-1].alternatives.values())[1:]
    assert ends
    for number, end in enumerate(ends, start=2):
        made = end.provenance
        assert made.steps == (SolveStep(COMPARED, end=number),) and not made.plain
        written = RECORDS.write(made.steps)
        assert RECORDS.read(tuple[SolveStep, ...], json.loads(json.dumps(written)), "steps") == made.steps
        meta = end.result().meta
        assert f"end={number}" in meta["python"] and meta["steps"] == written
        words = shlex.split(meta["command"], comments=True)
        assert steps_from(parser().parse_args(words[1:])) == made.steps
    lowest = compared[-1]
    end = max(ends, key=lambda each: np.abs(each.geometry.points - lowest.geometry.points).max())
    *_, further = iterate(narrow, COMPARED.with_changes(isometry=0.2), start=end)
    assert further.best is end.best  # it is followed from itself, not from the lowest one
    apart = [np.abs(further.geometry.points - each.geometry.points).max() for each in (end, lowest)]
    assert apart[0] < 0.5 * apart[1]
    again = list(iterate(narrow, steps=further.provenance.steps))
    for expected, each in ((end, again[len(compared) - 1]), (further, again[-1])):
        one, two = expected.result(), each.result()
        assert np.array_equal(one.C, two.C) and one.energy == two.energy
        assert one.meta["command"] == two.meta["command"]
