"""Everything that determines a reconstruction besides the sequence, as one immutable value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from ..data.hidden import normalize_hidden
from ..data.sequence import CameraModel
from ..depth import FINEST_EPS, check_mode_weights
from ..foundation.exceptions import InputError
from ..foundation.parameters import (
    ParameterValue,
    accepted_words,
    check_parameters,
    parameter,
    parameters_of,
    tips_of,
    with_parameters,
)
from ..foundation.phases import DEPTHS, WNN
from ..foundation.records import check_kind, refused
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..penalties import (
    ExplicitWeights,
    Penalty,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
    penalty_name,
    penalty_named,
)
from ..problem.robust import LOSSES
from ..solvers.methods import METHODS, PROBLEMS, penalty_refusal, refusal
from .orientation import parse_upright
from .scale import parse_scale

RECOMMENDED_PENALTY = WeightedNuclearNorm(xi=0.5)

ROTATION_SOURCES = {
    "best": "candidates from companion and tracks, chosen by loss",
    "truth": "the true cameras, where the sequence has them",
    "companion": "Dai et al. on the companion orthogonal tracks (as in the paper)",
    "tracks": "Dai et al. on the calibrated tracks themselves",
}
CAMERA_MODELS = {
    "auto": "the sequence's own",
    "perspective": "a pinhole camera; depths are divided by",
    "orthogonal": "a camera far away; depths have no effect on the picture",
}
INTRINSICS_SOURCES = {
    "auto": "the sequence's own K, else from its ground-truth frame, else f = 1.2 x the longer image side",
    "estimate": "self-calibrated by the tracks, where they determine f; takes twice as long",
    "gt": "estimated from the ground-truth frame",
    "calibrated": "tracks are already calibrated (K = I)",
}
OBJECTIVES = {
    DEPTHS: "the energy of the depths along the observed rays, which the bilinear solution is a start for",
    WNN: "the weighted nuclear norm of the shapes plus the pOSE error of the tracks, as in the paper",
}
REFINED_METHODS = ("bilinear", "lm")  # whose ends are starts for depths; they have robust losses
MOST_MODE_WEIGHT = 100.0  # that a penalty gives a mode
# What `parameter` is given for each parameter of a group.
NORM_PARAMETER = {"section": "Weighted nuclear norm", "objective": WNN, "live": True}
DEPTHS_PARAMETER = {"section": "Depths", "objective": DEPTHS, "live": True}
TEXT_PARAMETER = {"section": "Data", "text": True, "optional": True}
COUNT = {"least": 1, "most": 10_000, "integer": True}


class SettingsFields(TypedDict, total=False):
    """The fields of `Settings`, as keywords, and the name of the preset that they change."""

    preset: str
    problem: str
    method: str
    options: tuple[tuple[str, ParameterValue], ...]
    rank: int
    eta: float
    penalty: Penalty | str
    camera_model: str
    rotations: str | Path
    rotation_rank: int | None
    intrinsics: str | Path | tuple[float, float, float, float]
    starts: int
    seed: int
    tolerance: float
    max_iterations: int
    objective: str
    noise: float | None
    isometry: float
    neighbors: int
    mode_weights: tuple[float, ...]
    smallest_movement: float
    mirror: str | None
    scale: str | None
    upright: str | None
    hide: str | None
    loss: str
    loss_scale: float | None


def _with_parameters(kind: type[Settings]) -> type[Settings]:
    """Say in the docstring of the settings what each one means, as it is said where it is declared."""
    tips = tips_of(kind)
    tips["rotations"] += accepted_words(ROTATION_SOURCES, "or an .npz file with R (F, 3, 3)")
    tips["intrinsics"] += accepted_words(INTRINSICS_SOURCES, "a file, or (fx, fy, cx, cy)")
    kind.__doc__ = with_parameters(kind.__doc__, tips)
    return kind


@_with_parameters
@dataclass(frozen=True, kw_only=True)
class Settings(OneLine):
    """The parameters of a reconstruction. The defaults are the `recommended` preset.

    {parameters}

    Examples
    --------
    >>> import core
    >>> core.Settings(rank=4, penalty=core.NuclearNorm(0.01)).with_changes(eta=0.1).rank
    4
    """

    problem: str = field(default="nonrigid", metadata={"tip": "A key of `core.solvers.PROBLEMS`."})
    method: str = field(default="bilinear", metadata={"tip": "A key of `core.solvers.METHODS`."})
    options: tuple[tuple[str, ParameterValue], ...] = field(
        default=(), metadata={"tip": "Of the method, those that are not its defaults."}
    )
    rank: int = parameter(
        6,
        "Number of basis shapes K: a whole number, 1 to min(F, 3P).",
        label="shapes K",
        **NORM_PARAMETER,
        **COUNT,
        slider=(1, 20),
    )
    eta: float = parameter(  # orthogonal tracks are always solved at 1
        0.05,
        "pOSE weight, above 0 and at most 1: near 0 is perspective, 1 is affine.",
        label="affine part η",
        **NORM_PARAMETER,
        open_below=True,
        most=1.0,
        slider=(1e-3, 1.0),
    )
    penalty: Penalty = field(
        default=RECOMMENDED_PENALTY,
        metadata={"tip": "On the singular values; in arguments also its key in `core.penalties.PENALTIES`."},
    )
    camera_model: str = parameter(
        "auto", "How a point becomes an observation.", section="Cameras", choices=tuple(CAMERA_MODELS)
    )
    rotations: str | Path = parameter(
        "best", "Where the rotation of every frame comes from.", section="Cameras", text=True
    )
    rotation_rank: int | None = parameter(
        None,
        "Rank of the factorization that the rotations come from, at least 1. "
        "Without it several are tried, and chosen by loss.",
        section="Cameras",
        **COUNT,
        optional=True,
        absent="several, chosen by loss",
    )
    intrinsics: str | Path | tuple[float, float, float, float] = parameter(
        "auto", "How pixels become calibrated units.", section="Cameras", text=True
    )
    starts: int = parameter(
        32,
        "Starting points that are searched, at least 1: rigid and grown, closed form, random, rank raised. "
        "Depths start from the candidates for the rotations, where these have several ranks.",
        section="Search",
        **COUNT,
    )
    seed: int = parameter(
        0,
        "Seed of the random starts: a whole number, 0 or more. The same seed gives the same result.",
        section="Search",
        integer=True,
    )
    tolerance: float = parameter(
        1e-18,
        "Second-order methods stop at a predicted relative decrease below this: at least 0, and below 1.",
        section="Search",
        most=1.0,
        open_above=True,
    )
    max_iterations: int = parameter(
        1000,
        "Iterations per phase, at least 1.",
        label="iterations per phase",
        section="Search",
        least=1,
        integer=True,
    )
    # Where it is empty: the energy of the depths of a non-rigid problem, unless a parameter of the weighted
    # nuclear norm alone is not the default one.
    objective: str = parameter("", "What is minimized.", section="Objective", choices=tuple(OBJECTIVES))
    isometry: float = parameter(
        0.3,
        "Weight of the lengths between neighbors in the energy of the depths, 0 or more. "
        "The last level has twice this weight where parts move against each other, half of it elsewhere, "
        "unless lengths are left loose; all levels have a sixth of it where lengths do not stay.",
        **DEPTHS_PARAMETER,
        slider=(1e-2, 10.0),
    )
    smallest_movement: float = parameter(
        FINEST_EPS,
        "Deviations from the mean shape well below it cost nothing; over the size of the object, above 0.",
        **DEPTHS_PARAMETER,
        open_below=True,
        most=1.0,
        slider=(2e-4, 0.1),
    )
    noise: float | None = parameter(
        None,
        "Standard deviation of a track's coordinate, in the units of the tracks, 0 or more; at 0 the rays "
        "are kept exactly. Without it the tracks give it.",
        **DEPTHS_PARAMETER,
        slider=(0.01, 20.0),
        optional=True,
        absent="estimated from the tracks",
    )
    neighbors: int = parameter(
        8,
        "Neighbors of a point whose distances the energy of the depths keeps, at least 1. Where parts of the "
        "object move against each other, the most rigid ones remain.",
        **DEPTHS_PARAMETER,
        least=1,
        most=1000,
        integer=True,
        slider=(1, 30),
    )
    mode_weights: tuple[float, ...] = field(
        default=(1.0,),
        metadata={
            "tip": "Of the singular values of the deviations from the mean shape in the energy of the "
            "depths, the largest first; they do not decrease, and the last one is that of all which follow."
        },
    )
    # What is mirrored is the refined shape of the run that is continued, else the bilinear solution; the
    # refinement then follows this start only.
    mirror: str | None = parameter(
        None,
        "Frames whose depths are mirrored before the refinement, counted from 1, such as 31-40.",
        label="mirrored frames",
        section="Search",
        objective=DEPTHS,
        text=True,
        optional=True,
        absent="none",
    )
    hide: str | None = parameter(
        None,
        "Observations that are left out: points and their frames, counted from 1, such as "
        "3:12-18,40;17:45-;20:*.",
        label="hidden",
        **TEXT_PARAMETER,
        absent="none",
        live=True,
    )
    # Under a robust one, rotations and starts are searched without gross outliers, and the refinement of the
    # depths does not use what has little weight.
    loss: str = parameter(
        "squared",
        "What the residuals of observations cost. A robust loss gives outliers little weight.",
        section="Data",
        choices=tuple(LOSSES),
        live=True,
    )
    loss_scale: float | None = parameter(
        None,
        "Residual up to which a robust loss is about that of least squares, in the units of the tracks. "
        "Without it the residuals and the noise give it.",
        label="loss scale",
        section="Data",
        open_below=True,
        slider=(0.1, 100.0),
        optional=True,
        absent="from the residuals",
        live=True,
    )

    # It changes no number of a run, only the units that its result is given in.
    scale: str | None = parameter(
        None,
        "A length that is known, which gives the result its units: the distance of two points counted from "
        "1, such as 3-17=85mm, or the size of the object, such as size=200mm.",
        **TEXT_PARAMETER,
        absent="none: calibrated units",
    )
    # Likewise, how it stands in the 3-D view and in exports.
    upright: str | None = parameter(
        None,
        "How the result stands: up=X,Y,Z and front=X,Y,Z in the axes of the first camera, and floor=FRAME:"
        "POINTS, such as floor=12:3-5-9. Without it the pictures are upright, and the first shows the front.",
        **TEXT_PARAMETER,
        absent="as the pictures",
    )

    def __post_init__(self) -> None:
        for name, known in (("problem", PROBLEMS), ("method", METHODS)):
            if getattr(self, name) not in list(known):  # of what cannot be hashed, too
                raise InputError(f"{name} is {getattr(self, name)!r}; accepted are {', '.join(known)}")
        check_kind("rotations", self.rotations, str | Path, f"a file, {', '.join(ROTATION_SOURCES)}")
        check_kind("options", self.options, tuple | list | Mapping, "names and values")
        check_kind("mode_weights", self.mode_weights, tuple | list | np.ndarray, "numbers")
        for name, known in (("rotations", ROTATION_SOURCES), ("intrinsics", INTRINSICS_SOURCES)):
            if isinstance(source := getattr(self, name), str) and source not in known:
                object.__setattr__(self, name, Path(source))
        if not isinstance(self.intrinsics, str | Path):
            object.__setattr__(self, "intrinsics", _checked_intrinsics(self.intrinsics))
        if not self.objective:
            defaults = {entry.name: entry.default for entry in fields(self)}
            given = {name: getattr(self, name) for name in ("problem", *OBJECTIVE_OF)}
            given = {name: value for name, value in given.items() if value != defaults[name]}
            object.__setattr__(self, "objective", chosen_objective(given))
        check_parameters(self)
        object.__setattr__(self, "mode_weights", tuple(float(weight) for weight in self.mode_weights))
        check_mode_weights(self.mode_weights)
        for name, in_one_form in _FORMS.items():
            if getattr(self, name) is not None:
                check_kind(name, getattr(self, name), str, "a text")
                object.__setattr__(self, name, in_one_form(getattr(self, name)))
        object.__setattr__(self, "penalty", penalty_named(self.penalty))
        penalty_name(self.penalty)  # one that no file could name is refused before anything is solved
        object.__setattr__(self, "options", _checked_options(self.method, dict(self.options)))

    def with_changes(self, **changes: Any) -> Settings:
        """Return a copy with some fields changed; another method keeps the options that it has too.

        Another method or problem whose solutions are no starts for depths makes the weighted nuclear norm the
        objective, unless another one is asked for.

        Raises InputError where there is no such field.
        """
        names = [entry.name for entry in fields(self)]
        for name in sorted(changes.keys() - set(names)):
            near = get_close_matches(name, names, n=1)
            hint = f"the nearest is {near[0]!r}" if near else f"accepted are {', '.join(names)}"
            raise InputError(f"there is no setting {name!r}; {hint}")
        if "method" in changes and "options" not in changes and changes["method"] in METHODS:
            known = {option.name for option in METHODS[changes["method"]].options}
            changes["options"] = tuple(entry for entry in self.options if entry[0] in known)
        problem, method = changes.get("problem", self.problem), changes.get("method", self.method)
        if (problem, method) != (self.problem, self.method) and not gives_depths(method, problem):
            changes.setdefault("objective", WNN)
        return replace(self, **changes)

    def shown_as(self, other: Settings) -> Settings:
        """Return these with what changes no number of a run: the units and the orientation of others."""
        return self.with_changes(scale=other.scale, upright=other.upright)

    def agrees(self, other: Settings, *names: str) -> bool:
        """Return whether some fields are the same in others."""
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def camera_of(self, camera: CameraModel) -> CameraModel:
        """Return the camera model that a sequence is reconstructed with, whose own is given."""
        return camera if self.camera_model == "auto" else CameraModel(self.camera_model)

    @property
    def start_count(self) -> int:
        """How many starts are searched: one, where depths start from several candidates for the rotations."""
        return self.starts if self.searches_starts else 1

    @property
    def searches_starts(self) -> bool:
        """Whether `starts` has an effect."""
        candidates = self.rotations in ("best", "companion", "tracks") and self.rotation_rank is None
        return not (candidates and self.objective == DEPTHS)

    def refusal(self, camera: CameraModel) -> str | None:
        """Return the reason why these are not offered together for a camera model; None where they are."""
        if self.problem == "lowrank" and self.objective != WNN:
            return "the low-rank problem has no energy of depths: its cameras are not calibrated"
        if self.loss != "squared" and self.method not in REFINED_METHODS:
            return (
                f"{METHODS[self.method].title} minimizes squares only; a robust loss needs the method "
                f"{' or '.join(REFINED_METHODS)}"
            )
        orthogonal = self.problem == "nonrigid" and self.camera_of(camera) is CameraModel.ORTHOGONAL
        affine = self.eta == 1 or orthogonal
        return refusal(self.method, self.problem, self.penalty, affine=affine)


def gives_depths(method: str, problem: str) -> bool:
    """Return whether the solutions of a method are starts for the energy of the depths by themselves."""
    return problem == "nonrigid" and method in REFINED_METHODS


def chosen_objective(given: Mapping[str, Any]) -> str:
    """Return the objective that given parameters choose.

    It is that of the depths, unless there are parameters of the weighted nuclear norm and none of the depths.
    """
    if not gives_depths(given.get("method", REFINED_METHODS[0]), given.get("problem", "nonrigid")):
        return WNN
    of = {OBJECTIVE_OF.get(name, "") for name in given}
    return WNN if WNN in of and DEPTHS not in of else DEPTHS


def mode_weights_by(penalty: Penalty, values: Floats, smallest: float) -> tuple[float, ...]:
    """Return the weights that a penalty gives modes, over that of the largest, or the last if 0; at most 100.

    `values` are sqrt(lambda_k) (N,), the largest first, of which those above `smallest` have weights.
    """
    count = max(1, int(np.count_nonzero(values > smallest)))
    if isinstance(penalty, ExplicitWeights):
        penalty = penalty.with_rank(count)
    weights = penalty.weights(count, values[:count])
    base = next((weight for weight in (weights[0], weights[-1]) if weight > 0), 1.0)
    relative = np.minimum(weights / base, MOST_MODE_WEIGHT)
    return tuple(relative.tolist()) if relative[-1] > 0 else (*relative.tolist(), 1.0)


def frame_range(text: str) -> tuple[int, int]:
    """Return the first and last frame, counted from 0, that a text such as "31-40" or "7" names from 1."""
    found = re.fullmatch(r"\s*([0-9]+)\s*(?:[-\u2013]\s*([0-9]+)\s*)?", text)
    first, last = (0, 0) if found is None else (int(found[1]), int(found[2] or found[1]))
    if not 1 <= first <= last:
        raise InputError(
            f"mirror is {text!r}; accepted are one frame or the first and the last one, from 1, such as 31-40"
        )
    return first - 1, last - 1


def _mirrored_frames(text: str) -> str:
    first, last = frame_range(text)
    return f"{first + 1}" if first == last else f"{first + 1}-{last + 1}"


# Texts that are kept in one form; each function raises InputError where a text is none.
_FORMS: dict[str, Callable[[str], str | None]] = {
    "mirror": _mirrored_frames,
    "hide": normalize_hidden,
    "scale": lambda text: str(parse_scale(text)),
    "upright": lambda text: str(parse_upright(text)),
}


def _checked_intrinsics(intrinsics: Collection[float]) -> tuple[float, float, float, float]:
    """Return the four numbers of K; `core.cameras` checks their range when the tracks are calibrated."""
    try:
        fx, fy, cx, cy = map(float, intrinsics)
    except (TypeError, ValueError):
        raise InputError(
            f"intrinsics is {intrinsics!r}; accepted are four numbers fx, fy, cx, cy, an existing file, "
            f"{', '.join(INTRINSICS_SOURCES)}"
        ) from None
    return fx, fy, cx, cy


def _checked_options(
    method: str, options: dict[str, ParameterValue]
) -> tuple[tuple[str, ParameterValue], ...]:
    """Return the options of a method that are not its defaults, checked, in the order of their names."""
    known = {option.name: option for option in METHODS[method].options}
    unknown = sorted(set(options) - set(known))
    if unknown:
        takes = f"takes {', '.join(known)}" if known else "has none"
        raise InputError(f"{unknown[0]} is not an option of the method {method!r}, which {takes}")
    values = {name: known[name].checked(value) for name, value in options.items()}
    return tuple(
        (name, value) for name, value in sorted(values.items()) if value != METHODS[method].default(name)
    )


SETTINGS = parameters_of(Settings)  # the fields that are one number or one text, by name
# The parameters that belong to one objective only, and which one.
OBJECTIVE_OF = {
    "method": WNN,
    "options": WNN,
    "penalty": WNN,
    "mode_weights": DEPTHS,
    **{name: description.objective for name, description in SETTINGS.items() if description.objective},
}
# A run continues under changes of these; every other change needs another search.
_LIVE = ("penalty", "mode_weights", *(name for name, description in SETTINGS.items() if description.live))
LIVE = {
    objective: tuple(name for name in _LIVE if OBJECTIVE_OF.get(name, objective) == objective)
    for objective in OBJECTIVES
}
# Tips that are others where the problem is low-rank.
LOW_RANK_TIPS = {
    "rank": "Rank of the matrix: a whole number, 1 to min(P, 3F). 4 is a rigid scene in perspective.",
    "eta": "pOSE weight, above 0 and below 1: near 0 is perspective, near 1 is affine.",
    "starts": "Starting points at most, at least 1: closed form, grown, then random, until three agree.",
    "intrinsics": "K of the metric upgrade that shows the scene in 3-D; the matrix itself needs none.",
}
PRESETS: dict[str, Settings] = {
    "recommended": Settings(),
    "bilinear": Settings(objective=WNN),
    "paper": Settings(
        method="admm+bilinear",
        rank=2,
        penalty=WeightedNuclearNorm(xi=5e-3),
        rotations="companion",
        rotation_rank=2,
        intrinsics="gt",
    ),
    "lowrank": Settings(problem="lowrank", rank=4, penalty=TruncatedNuclearNorm(mu=1.0, free=4)),
}
DEFAULT_PRESETS = {"nonrigid": "recommended", "lowrank": "lowrank"}  # of each problem


def suited_penalty(method: str, problem: str, penalty: Penalty) -> Penalty:
    """Return a penalty where a method accepts it, else the method's own, else that of the preset."""
    if penalty_refusal(method, penalty) is None:
        return penalty
    return METHODS[method].penalty or PRESETS[DEFAULT_PRESETS[problem]].penalty


def settings_of(settings: Settings | str | None = None, **changes: Unpack[SettingsFields]) -> Settings:
    """Return settings, given as they are or by the name of a preset, with some fields changed.

    Without either, the fields choose the objective, see `chosen_objective`. A method that does not accept the
    penalty of the preset brings its own; a value of `Settings` keeps its penalty.
    """
    if "preset" in changes:
        if settings is not None:
            raise InputError("settings and a preset are given; accepted is one of them")
        settings = changes.pop("preset")
    if isinstance(settings, Settings):
        return settings.with_changes(**changes)
    if settings is not None and not (isinstance(settings, str) and settings in PRESETS):
        raise refused("settings", settings, f"Settings(...), or a preset: {', '.join(PRESETS)}")
    preset = Settings() if settings is None else PRESETS[settings]
    if settings is None:
        changes.setdefault("objective", chosen_objective(changes))
    changed = preset.with_changes(**changes)
    if "penalty" in changes:
        return changed
    return changed.with_changes(penalty=suited_penalty(changed.method, changed.problem, changed.penalty))
