"""Phases as values: which values compare, their words, and their form in files."""

import pytest

from core import InputError
from core.foundation import DEPTHS, WNN, Phase, PhaseKind, Records, phase_text

PHASES = {
    "rotations 1 of 7: tracks, rank 3": Phase(PhaseKind.ROTATIONS, 1, 7, "tracks", rank=3),
    "start 2 of 32: closed form, cut": Phase(PhaseKind.START, 2, 32, "closed form, cut"),
    "start 3: views added 1, 12 of 24 views": Phase(
        PhaseKind.START, 3, name="views added 1", part=12, parts=24, subset=True
    ),
    "starts 3 to 31 (subset)": Phase(PhaseKind.SCREENING, 3, 31, subset=True),
    "ADMM": Phase(PhaseKind.MATRIX, name="ADMM"),
    "refine": Phase(PhaseKind.REFINE),
    "focal length, refine": Phase(PhaseKind.REFINE, focal=True),
    "focal length, 3 of the energies over it": Phase(PhaseKind.FOCAL, 3),
    "depth, start 1 of 2: tracks 5, level 2 of 2": Phase(
        PhaseKind.DEPTH_START, 1, 2, "tracks 5", part=2, parts=2
    ),
    "depth, mirror: tracks 5, frames 3-8": Phase(
        PhaseKind.MIRROR, name="tracks 5, frames 3-8", part=1, parts=1
    ),
    "depth, finest, level 3 of 3": Phase(PhaseKind.FINEST, part=3, parts=3),
    "depth, uncertainty": Phase(PhaseKind.UNCERTAINTY, part=3, parts=3),
}


@pytest.mark.parametrize("words", PHASES)
def test_a_phase_has_words_and_survives_a_file(words):
    phase = PHASES[words]
    assert phase_text(phase) == str(phase) == words
    assert Records().read(Phase, Records().write(phase), "phase") == phase


def test_every_kind_has_an_objective():
    of_wnn = {kind for kind in PhaseKind if Phase(kind).objective == WNN}
    assert of_wnn == {
        *(PhaseKind.ROTATIONS, PhaseKind.START, PhaseKind.SCREENING, PhaseKind.MATRIX, PhaseKind.REFINE)
    }
    assert {Phase(kind).objective for kind in set(PhaseKind) - of_wnn} == {DEPTHS}


@pytest.mark.parametrize(
    ("one", "other", "compare"),
    [
        (Phase(PhaseKind.START, 2, 4), Phase(PhaseKind.REFINE), True),
        (Phase(PhaseKind.START, 1, 4, rank=2), Phase(PhaseKind.START, 1, 4, rank=3), False),
        (Phase(PhaseKind.REFINE, subset=True), Phase(PhaseKind.REFINE), False),
        (Phase(PhaseKind.ROTATIONS, 1, 2, rank=2), Phase(PhaseKind.ROTATIONS, 2, 2, rank=2), False),
        (Phase(PhaseKind.REFINE), Phase(PhaseKind.REFINE, focal=True), False),
        (
            Phase(PhaseKind.DEPTH_START, 1, part=2, parts=2),
            Phase(PhaseKind.DEPTH_START, 2, part=2, parts=2),
            True,
        ),
        (Phase(PhaseKind.FINEST, part=1, parts=3), Phase(PhaseKind.FINEST, part=2, parts=3), False),
        (Phase(PhaseKind.FINEST, part=3, parts=3), Phase(PhaseKind.UNCERTAINTY, part=3, parts=3), True),
        (Phase(PhaseKind.FINEST), Phase(PhaseKind.REFINE), False),
    ],
)
def test_values_compare_at_the_same_level_of_one_objective(one, other, compare):
    assert one.comparable(other) is other.comparable(one) is compare


def test_the_attempt_is_that_of_the_run_itself():
    assert Phase(PhaseKind.START, 1, 2, "grown", rank=3).attempt == "grown"
    assert not Phase(PhaseKind.START, 1, 2, "grown", focal=True).attempt
    assert not Phase(PhaseKind.DEPTH_START, 1, 2, "grown").attempt


@pytest.mark.parametrize("values", [{}, {"kind": "refine", "number": -1}, {"kind": "refine", "more": 1}])
def test_what_is_no_phase_is_refused(values):
    with pytest.raises(InputError, match="phase"):
        Records().read(Phase, values, "phase")
