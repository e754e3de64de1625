"""Verdicts are of known kinds, survive JSON, and are found where an answer is wrong or its like is near."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core import InputError
from core.depth import (
    Alternative,
    DepthEnd,
    DepthOptions,
    DepthPoint,
    FrameBlock,
    OwnEnd,
    Pausing,
    find_alternatives,
    find_mirrored,
    mirror_in_depth,
)
from core.reconstruction import RECORDS, VERDICT_ACTIONS, VERDICT_KINDS, Verdict, find_verdicts, worth_of


def test_verdicts_survive_json():
    verdicts = [Verdict(kind, f"{meaning}.") for kind, meaning in VERDICT_KINDS.items()]
    verdicts += [Verdict("jump", "Frame 12.", (11, 11), action) for action in VERDICT_ACTIONS]
    plain = json.loads(json.dumps(RECORDS.write(verdicts)))
    assert RECORDS.read(list[Verdict], plain, "verdicts") == verdicts
    assert worth_of(["jump", "parallax"]) == "the depth is hardly measured"  # the most serious one
    assert worth_of([]) == "the tracks determine the shape"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"kind": "wrong"}, "kind of a verdict is 'wrong'; accepted are outliers, parallax"),
        ({"action": "delete"}, "action of a verdict is 'delete'; accepted are look, compare, mirror"),
        ({"frames": (3, 2)}, "frames of a verdict are 3 to 2; accepted are 0 or more, in order"),
        ({"color": "red"}, "the verdict holds 'color'; accepted are kind, sentence, frames, action"),
        ({"frames": 3}, "the verdict.frames is 3; accepted is a list"),
    ],
)
def test_other_values_are_refused(fields, sentence):
    with pytest.raises(InputError, match=sentence):
        RECORDS.read(Verdict, {"kind": "jump", "sentence": "The rotations jump."} | fields, "the verdict")


def verdicts_on(problem, point, *, ends=(), std=0.01, compared=False):
    """Return the verdicts by kind, the standard deviations being a constant, without alternatives or with."""
    problem, options, alternatives = problem.anchored(point), DepthOptions(), ()
    if compared:
        own = OwnEnd.of_solution(problem, point, options)
        judged = Pausing(find_mirrored(problem, point, own, options, loose=False))
        for _ in judged:
            continue
        alternatives = (*find_alternatives(own, options), *judged.value)
    known = np.broadcast_to(std, (len(point.depths), 3, point.depths.shape[1]))
    found = find_verdicts(problem, point, alternatives, ends, known)
    return {verdict.kind: verdict for verdict in found}


def in_frames(point, other, first, last):
    """Return the point with the frames `first` to `last` of another."""
    frames = np.arange(len(point.depths))
    inside = (frames >= first) & (frames <= last)
    return DepthPoint(
        np.where(inside[:, None, None], other.rotations, point.rotations),
        np.where(inside[:, None], other.depths, point.depths),
        point.rays,
        point.affine,
    )


@pytest.mark.parametrize("affine", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_right_shape_has_no_verdict(object_in_view, affine):
    assert verdicts_on(*object_in_view(frames=12, points=16, affine=affine), compared=True) == {}


@pytest.mark.slow
def test_a_mirrored_shape_can_be_mirrored_back(object_in_view):
    problem, point = object_in_view(frames=20, points=24)
    verdict = verdicts_on(problem, mirror_in_depth(point), compared=True)["mirrored"]
    assert verdict.sentence == "The shape may be mirrored in depth: the mirror image fits better."
    assert verdict.frames == (0, 19) and verdict.action == "mirror"


def test_frames_that_are_nearly_as_good_mirrored_are_named_unless_they_overlap(object_in_view):
    problem, point = object_in_view(frames=24, points=24)
    blocks = ((0.02, FrameBlock(8, 15)), (0.05, FrameBlock(10, 12)), (0.1, FrameBlock(20, 21)))
    others = [Alternative("mirrored", excess, block, point) for excess, block in blocks]
    others.append(Alternative("mirrored", 0.5, FrameBlock(2, 3), point))
    run, single = find_verdicts(problem.anchored(point), point, others, (), None)
    assert run.frames == (8, 14) and run.action == "mirror"
    assert run.sentence == ("Frames 9-15 may be mirrored in depth: the mirror image fits about as well.")
    assert single.frames == (20, 20)


def test_a_camera_that_does_not_move_measures_no_depth(object_in_view):
    problem, point = object_in_view(frames=16, turn=0.0)
    verdict = verdicts_on(problem, point)["parallax"]
    assert verdict.sentence == (
        "The camera moves too little to measure depth: its viewing directions vary by 0.0 degrees."
    )
    assert verdict.action is None


def test_a_rigid_object_needs_one_shape(object_in_view):
    bending, rigid = (verdicts_on(*object_in_view(frames=16, bend=bend)) for bend in (0.3, 1e-4))
    assert "rigid" not in bending
    assert rigid["rigid"].sentence.startswith("A rigid shape would do as well: it misses the tracks by 0.0")


def test_noise_hides_small_deformations(object_in_view):
    problem, point = object_in_view(frames=16, bend=0.02)
    assert "rigid" not in verdicts_on(problem, point)
    assert "rigid" in verdicts_on(problem.with_noise(0.05 * problem.size), point)


def test_a_jump_of_the_rotation_names_the_frames(object_in_view):
    problem, point = object_in_view(frames=24, turn=0.3)
    turned = replace(point, rotations=point.rotations @ np.diag([-1.0, 1.0, -1.0]))
    verdict = verdicts_on(problem, in_frames(point, turned, 12, 23))["jump"]
    assert verdict.frames == (11, 12) and verdict.action == "look"
    assert "at frame 13, " in verdict.sentence
    degrees = float(verdict.sentence.split("by ")[1].split()[0])
    assert degrees == pytest.approx(180, abs=2)


def test_ends_of_one_energy_that_differ_are_compared(object_in_view):
    problem, point = object_in_view(frames=20, points=24)
    other = mirror_in_depth(point)

    def verdicts(end, energy, problem=problem, point=point):
        ends = (DepthEnd("a", point, -2.0, -2.0), DepthEnd("rigid", end, energy, -2.0))
        return verdicts_on(problem, point, ends=ends)

    tied = verdicts(other, -1.9995)["ambiguous"]
    assert tied.action == "compare"
    assert tied.sentence.startswith("Two shapes explain the tracks equally well, ")
    assert tied.sentence.endswith("or add views from other directions. The other one began at rigid.")
    assert verdicts(other, -1.9) == verdicts(point, -2.0) == {}
    problem, point = object_in_view(frames=20, points=24, affine=True)
    assert verdicts(mirror_in_depth(point), -2.0, problem, point) == {}  # of these it is no other shape


def test_large_standard_deviations_are_a_verdict_on_the_worst_frame(object_in_view):
    problem, point = object_in_view(frames=20, points=24)
    std = np.full((20, 3, 24), 0.01)
    std[7] = 1.0
    verdict = verdicts_on(problem, point, std=std)["uncertain"]
    assert verdict.frames == (7, 7) and verdict.action == "look"
    assert verdict.sentence.startswith("The points are uncertain: their standard deviation is")
