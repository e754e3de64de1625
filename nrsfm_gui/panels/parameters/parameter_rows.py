"""The words of the form of parameters: labels, tips, titles of choices, and which fields apply when."""

from __future__ import annotations

from core import METHODS, CameraModel, Settings
from nrsfm_gui.widgets.drag_number import Scale

PRESET_TIPS = {
    "recommended": "rotation candidates chosen by loss, rigid start, rank grown at the final xi",
    "paper": "the paper's settings exactly: ADMM, then the bilinear form",
    "lowrank": "a rigid scene from uncalibrated tracks: rank 4, and what goes beyond it is suppressed",
    "custom": "none of the presets",
}
PROBLEM_TITLES = {"nonrigid": "non-rigid shape", "lowrank": "low-rank matrix"}
ROTATION_TITLES = {
    "best": "best of the candidates",
    "truth": "true cameras",
    "companion": "companion tracks",
    "tracks": "the tracks themselves",
}
INTRINSICS_TITLES = {
    "auto": "automatic",
    "gt": "from the ground truth",
    "calibrated": "tracks are calibrated",
}
# name: label, whole, optional, tip
NUMBERS: dict[str, tuple[str, bool, bool, str]] = {
    "rank": ("rank K", True, False, "Number of basis shapes: a whole number, 1 to min(F, 3P)."),
    "eta": ("eta", False, False, "pOSE weight, above 0 and at most 1: near 0 is perspective, 1 is affine."),
    "rotation_rank": (
        "rotation rank",
        True,
        True,
        "Rank of the factorization that the rotations come from, at least 1. Empty: several, chosen by loss.",
    ),
    "starts": (
        "starts",
        True,
        False,
        "Starting points that are searched, at least 1: rigid then grown, then random.",
    ),
    "seed": (
        "seed",
        True,
        False,
        "Seed of the random starts: a whole number, 0 or more. Same seed, same result.",
    ),
    "tolerance": ("tolerance", False, False, "Stop at a predicted relative decrease below this; 0 to 1."),
    "max_iterations": ("max. iterations", True, False, "Iterations per phase, at least 1."),
}
SCALES = {"rank": Scale(1, 20, whole=True), "eta": Scale(1e-3, 1.0)}  # of the numbers that can be dragged
DEFAULTS = {name: float(getattr(Settings(), name)) for name in SCALES}
TIPS = {name: row[3] for name, row in NUMBERS.items()} | {
    "preset": "A whole set of parameters at once.",
    "problem": "What is minimized.",
    "method": "How the minimum is searched.",
    "rotations": "Where the rotation of every frame comes from.",
    "intrinsics": "How pixels become calibrated units.",
}
LOW_RANK_TIPS = {
    "rank": "Rank of the matrix: a whole number, 1 to min(P, 3F). 4 is a rigid scene in perspective.",
    "eta": "pOSE weight, above 0 and below 1: near 0 is perspective, near 1 is affine.",
    "starts": "Starting points at most, at least 1: closed form, grown, then random, until three agree.",
    "intrinsics": "K of the metric upgrade that shows the scene in 3-D; the matrix itself needs none.",
}
SECTIONS = (("Model", ("rank", "eta")), ("Cameras", ("rotation_rank",)), ("Solver", ("starts",)))
ADVANCED = ("seed", "tolerance", "max_iterations")


def tips(problem: str) -> dict[str, str]:
    """Return the tips of all rows of a problem."""
    return TIPS | (LOW_RANK_TIPS if problem == "lowrank" else {})


def without_effect(settings: Settings, camera: CameraModel | None) -> dict[str, str]:
    """Return the rows that change nothing under these settings, each with the reason in a sentence."""
    reasons: dict[str, str] = {}
    method = METHODS[settings.method]
    if settings.problem == "lowrank":
        free = "The low-rank problem has no rotations: its cameras are free matrices."
        reasons |= {"rotations": free, "rotation_rank": free}
        if camera is CameraModel.ORTHOGONAL:
            reasons["intrinsics"] = "Orthogonal tracks come without K: the metric upgrade finds its own."
    elif camera is CameraModel.ORTHOGONAL:
        reasons["eta"] = "Orthogonal tracks are always solved at eta = 1."
        reasons["intrinsics"] = "Orthogonal tracks need no intrinsics."
    if method.on_matrix:
        closed = f"{method.title} starts from the closed form."
        reasons |= {"starts": closed, "seed": closed}
        if method.refined is None:
            reasons["tolerance"] = f"{method.title} has no second-order step that it would end."
    return reasons
