"""`nrsfm solve` reaches on the bundled sequences what it reached at commit a4c4b43.

`tests/fixtures/a4c4b43/make_solve_numbers.py` recorded the numbers. Where the cameras are given, or none are
needed, they are the same to six digits under any kernels: first-order methods stop a few iterations earlier
or later. Estimated rotations are others since: the estimate was made to not depend on the last bits of the
tracks, so that a loss may be a few percent higher or lower. What was the preset `recommended` then is
`bilinear` now.

ADMM on stretch/circle amplifies the last bits, at a4c4b43 as now: its problem is not convex with the weights,
and after some 300 iterations it approaches one of two minima, 0.18157 or 0.17747, by the kernels.

Every preset solves with every camera one of the objects on one of the three paths of the camera, by turns,
and every method and penalty one sequence. `make test-kernels` runs the others, too, those whose last bits are
amplified, and first-order methods on the low-rank problem, which take long.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from core import load_result
from core.cli import main
from core.evaluation import errors_of

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "a4c4b43" / "solve_numbers.json").read_text())
SAME = 1e-6  # relative
ESTIMATED = 0.1  # relative, of the loss where rotations are estimated, or last bits are amplified
AMPLIFIED = tuple(
    f"stretch/circle: {method}" for method in ("admm", "admm+bilinear", "paper", "lowrank admm")
)
LONG = ("stretch/circle: lowrank paper", "stretch/circle: lowrank agd")
BRIEF = (
    *(f"{kind}/zigzag: recommended, true cameras" for kind in ("articulated", "balloon", "paper", "tearing")),
    "stretch/circle/orthogonal: recommended, true cameras",
    "stretch/circle: lowrank",
)
KINDS = ("articulated", "balloon", "paper", "stretch", "tearing")
PATHS = ("tricky", "zigzag", "circle")
PRESETS_OF_ALL = ("recommended", "recommended, true cameras", "paper, true cameras", "paper", "lowrank")


def is_turn(name):
    """Tell whether it is this sequence's turn; what was recorded on one sequence alone has no turns."""
    sequence, preset = name.split(": ")
    if preset not in PRESETS_OF_ALL:
        return True
    kind, path, *orthogonal = sequence.split("/")
    number = PRESETS_OF_ALL.index(preset) + 2 * len(orthogonal)
    return (kind, path) == (KINDS[number % len(KINDS)], PATHS[number % len(PATHS)])


def marked(name):
    if name in BRIEF:
        return name
    brief = is_turn(name) and name not in (*AMPLIFIED, *LONG)
    return pytest.param(name, marks=[pytest.mark.slow, *([] if brief else [pytest.mark.kernels])])


@pytest.mark.parametrize("name", [marked(name) for name in RECORDED])
def test_the_numbers_are_those_of_a4c4b43(name, tmp_path):
    recorded = RECORDED[name]
    path = tmp_path / "result.npz"
    arguments = recorded["arguments"].replace("--preset recommended", "--preset bilinear")
    words = [*shlex.split(arguments), "--objective", "wnn"]  # as no run was refined then
    assert main(["solve", *words, "--quiet", "-o", str(path)]) == 0
    result = load_result(path)
    if name in AMPLIFIED or result.meta["rotations"] not in ("", "truth"):
        assert result.loss == pytest.approx(recorded["loss"], rel=ESTIMATED)
        return
    assert result.loss == pytest.approx(recorded["loss"], rel=SAME)
    errors = errors_of(result)
    if result.low_rank:  # was recorded of the projective cameras
        errors["reprojection_px"] = errors.get("reprojection_px_projective", errors["reprojection_px"])
    for error in ("procrustes_mm", "reprojection_px"):
        assert errors[error] == pytest.approx(recorded[error], rel=SAME)
