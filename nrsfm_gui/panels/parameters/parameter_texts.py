"""What the panel Parameters calls presets and parameters, explains of them, and which have no effect."""

from __future__ import annotations

from core import METHODS, PRESETS, CameraModel, ExplicitWeights, Settings
from core.foundation import DEPTHS, WNN
from core.penalties import penalty_name
from core.reconstruction import LOW_RANK_TIPS, OBJECTIVE_OF, SETTINGS, nearest_preset
from nrsfm_gui.model.changes import Difference, differences
from nrsfm_gui.panels.parameters.kind_editors import FIRST, METHOD_TIP
from nrsfm_gui.widgets.form import value_details

CUSTOM, SAVE, REMOVE = "custom", "save...", "remove..."  # entries of the list of presets besides their names
PRESET_TIPS = {
    "recommended": "the bilinear solution, then the depths along the rays from it and from other rotations",
    "bilinear": "rotation candidates chosen by loss, rigid start, rank grown at the final xi",
    "paper": "the paper's settings exactly: ADMM, then the bilinear form",
    "lowrank": "a rigid scene from uncalibrated tracks: rank 4, and what goes beyond it is suppressed",
    CUSTOM: "none of the presets",
}
ROTATION_TITLES = {
    "best": "best of the candidates",
    "truth": "true cameras",
    "companion": "companion tracks",
    "tracks": "the tracks themselves",
}
CAMERA_TITLES = {"auto": "auto: the sequence's"}
INTRINSICS_TITLES = {
    "auto": "automatic",
    "estimate": "estimated from the tracks",
    "gt": "from the ground truth",
    "calibrated": "tracks are calibrated",
}
LOSS_TITLES = {"squared": "squared: least squares", "huber": "Huber", "cauchy": "Cauchy"}
LOWRANK = "lowrank"  # the objective of the low-rank problem, which has one only
OBJECTIVE_TITLES = {DEPTHS: "depths along the rays", WNN: "weighted nuclear norm", LOWRANK: "low-rank matrix"}
TIPS = {name: described.tip for name, described in SETTINGS.items()} | {
    "preset": "All parameters at once.",
    "objective": "What is minimized, and with it which parameters there are.",
    "method": METHOD_TIP,
    "mode_weights": "Weights of the modes in which the shape deviates from its mean, the largest mode first, "
    "such as 1, 1, 20; they do not decrease, and the last one is of all smaller modes. A heavier mode occurs "
    "less.",
}
DETAILS = {name: value_details(described, getattr(Settings(), name)) for name, described in SETTINGS.items()}
PLAIN = ("mode_weights", *(name for name in SETTINGS if name != "objective"))  # settings that are rows
OF_DEPTHS = tuple(name for name, objective in OBJECTIVE_OF.items() if objective == DEPTHS)
USUAL_CAMERAS = ("camera_model", "intrinsics")  # the other parameters of cameras are folded
START = "The weighted nuclear norm gives the start. Changes here are for the next run."
START_TITLES = {DEPTHS: "Start", WNN: "Options"}
FOLDED = ("Start", "Cameras", "Search", "Data")  # sections; "Start" has another title where it is no start
SYMBOLS = {
    "rank": ("K", "r"),
    "eta": ("η",),
    "xi": ("ξ",),
    "mu": ("μ",),
    "gamma": ("γ",),
    "epsilon": ("ε",),
    "theta": ("θ",),
    "rho": ("ρ",),
    "tau": ("τ",),
    "damping": ("λ", "lambda"),
    "intrinsics": ("K", "f", "focal length"),
    "rotations": ("R",),
    "weights": ("a", "σ", "sigma", "singular values"),
    "noise": ("σ", "sigma"),
    "objective": ("problem",),
    "mode_weights": ("w", "weights", "λ", "σ", "sigma", "modes", "singular values"),
    "smallest_movement": ("eps", "ε"),
}
WEIGHTS_TIP = "The weight of each singular value, dragged in the plot of the singular values."


def changes_of(settings: Settings) -> tuple[Difference, ...]:
    """Return what differs from the nearest preset.

    The numbers of a penalty that is not that of the preset are compared with those that it has at first. The
    unit and what is up are of no preset.
    """
    preset, penalty = PRESETS[nearest_preset(settings, differences)], settings.penalty
    settings = settings.shown_as(preset)
    if type(penalty) is type(preset.penalty) or isinstance(penalty, ExplicitWeights):
        return differences(preset, settings)
    first = preset.with_changes(penalty=FIRST[penalty_name(penalty)])
    own = differences(preset, settings.with_changes(penalty=first.penalty))
    return own + tuple(each for each in differences(first, settings) if each not in own)


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
    if not settings.searches_starts:
        reasons["starts"] = "Depths start from the candidates for the rotations."
    if method.on_matrix:
        closed = f"{method.title} starts from the closed form."
        reasons |= {"starts": closed, "seed": closed}
        if method.refined is None:
            reasons["tolerance"] = f"{method.title} has no second-order step that it would end."
    if settings.loss == "squared":
        reasons["loss_scale"] = "Least squares has no scale: choose a robust loss first."
    return reasons
