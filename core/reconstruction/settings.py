"""Everything that determines a reconstruction besides the sequence, as one immutable value."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ..data.hidden import normalize_hidden
from ..data.sequence import CameraModel
from ..foundation.exceptions import InputError
from ..foundation.parameters import ParameterValue, check_parameters, parameter, parameters_of
from ..foundation.representation import one_line_repr
from ..penalties import Penalty, TruncatedNuclearNorm, WeightedNuclearNorm, penalty_name
from ..problem.robust import LOSSES
from ..solvers.methods import METHODS, PROBLEMS, penalty_refusal, refusal
from .scale import parse_scale

if TYPE_CHECKING:
    from collections.abc import Collection

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
REFINEMENTS = {
    "depth": "unknown depths along the observed rays, from the end of the bilinear form",
    "none": "the bilinear solution as it is",
}
REFINED_METHODS = ("bilinear", "lm")  # that a refinement follows unless declined; they have robust losses


def suited_refinement(method: str, problem: str) -> str:
    """Return the refinement that follows a method by itself."""
    return "depth" if problem == "nonrigid" and method in REFINED_METHODS else "none"


class SettingsFields(TypedDict, total=False):
    """The fields of `Settings`, as keywords."""

    problem: str
    method: str
    options: tuple[tuple[str, ParameterValue], ...]
    rank: int
    eta: float
    penalty: Penalty
    camera_model: str
    rotations: str | Path
    rotation_rank: int | None
    intrinsics: str | Path | tuple[float, float, float, float]
    starts: int
    seed: int
    tolerance: float
    max_iterations: int
    refine: str
    noise: float | None
    isometry: float
    neighbors: int
    mirror: str | None
    scale: str | None
    hide: str | None
    loss: str
    loss_scale: float | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of a reconstruction. The defaults are the `recommended` preset.

    Parameters
    ----------
    problem
        a key of `core.solvers.PROBLEMS`.
    method
        a key of `core.solvers.METHODS`.
    options
        of the method, those that are not its defaults.
    rank
        K, the number of basis shapes; of a low-rank problem the rank of the matrix.
    eta
        the pOSE weight: near 0 is perspective, 1 is affine (Section 5.1).
    penalty
        the penalty on the singular values.
    camera_model
        a key of `CAMERA_MODELS`; "auto" is that of the sequence.
    rotations
        a key of `ROTATION_SOURCES`, or an .npz file with R (F, 3, 3).
    rotation_rank
        K of the factorization that estimates rotations; None compares several.
    intrinsics
        a key of `INTRINSICS_SOURCES`, a file, or (fx, fy, cx, cy).
    starts
        number of starts of the search.
    seed
        of the random starts.
    tolerance
        predicted decrease over the loss at which the last phase ends.
    max_iterations
        of a phase.
    refine
        a key of `REFINEMENTS`: what follows the solution of a non-rigid problem. By default "depth" after the
        methods `bilinear` and `lm`, "none" after the others, as their papers have it.
    noise
        standard deviation of a coordinate of the tracks, in their units; None estimates it, 0 keeps the
        observed rays exactly.
    isometry
        weight of the lengths between neighbors in the depth refinement.
    neighbors
        of each point, whose distances the depth refinement keeps.
    mirror
        frames whose depths are mirrored before the refinement, counted from 1: "31-40", or "7". What is
        mirrored is the refined shape of the run that is continued, else the bilinear solution; the
        refinement then follows this start only.
    hide
        observations that are left out: points and their frames, counted from 1, such as
        "3:12-18,40;17:45-;20:*" (`core.data.parse_hidden`).
    loss
        a key of `LOSSES`: what the residuals of observations cost. Under a robust one, rotations and starts
        are searched without gross outliers, and the refinement of depths does not use what has little weight.
    loss_scale
        residual up to which a robust loss is about that of least squares, in the units of the tracks; None:
        a multiple of the median residual, or of the noise where that is larger.

    scale
        a length that is known, see `core.reconstruction.scale`: the units of the result.

    Raises
    ------
    InputError
        where a value is outside its range; the sentence names it and what is accepted.

    Examples
    --------
    >>> import core
    >>> core.Settings(rank=4, penalty=core.NuclearNorm(0.01)).with_changes(eta=0.1).rank
    4
    """

    problem: str = "nonrigid"
    method: str = "bilinear"
    options: tuple[tuple[str, ParameterValue], ...] = ()
    rank: int = parameter(
        6,
        "Number of basis shapes K: a whole number, 1 to min(F, 3P).",
        label="rank K",
        section="Model",
        least=1,
        most=10_000,
        integer=True,
        slider=(1, 20),
        live=True,
    )
    eta: float = parameter(  # orthogonal tracks are always solved at 1
        0.05,
        "pOSE weight, above 0 and at most 1: near 0 is perspective, 1 is affine.",
        section="Model",
        open_below=True,
        most=1.0,
        slider=(1e-3, 1.0),
        live=True,
    )
    penalty: Penalty = RECOMMENDED_PENALTY
    camera_model: str = parameter(
        "auto", "How a point becomes an observation.", section="Cameras", choices=tuple(CAMERA_MODELS)
    )
    # A key of ROTATION_SOURCES, or an .npz file with R (F, 3, 3).
    rotations: str | Path = parameter(
        "best", "Where the rotation of every frame comes from.", section="Cameras", text=True
    )
    rotation_rank: int | None = parameter(
        None,
        "Rank of the factorization that the rotations come from, at least 1. "
        "Without it several are tried, and chosen by loss.",
        section="Cameras",
        least=1,
        most=10_000,
        integer=True,
        optional=True,
        absent="several, chosen by loss",
    )
    # A key of INTRINSICS_SOURCES, a file, or (fx, fy, cx, cy).
    intrinsics: str | Path | tuple[float, float, float, float] = parameter(
        "auto", "How pixels become calibrated units.", section="Cameras", text=True
    )
    starts: int = parameter(
        32,
        "Starting points that are searched, at least 1: rigid and grown, closed form, random, rank raised.",
        section="Solver",
        least=1,
        most=10_000,
        integer=True,
    )
    seed: int = parameter(
        0,
        "Seed of the random starts: a whole number, 0 or more. The same seed gives the same result.",
        section="Advanced",
        integer=True,
    )
    tolerance: float = parameter(
        1e-18,
        "Second-order methods stop at a predicted relative decrease below this; 0 to 1.",
        section="Advanced",
        most=1.0,
        open_above=True,
    )
    max_iterations: int = parameter(
        1000,
        "Iterations per phase, at least 1.",
        label="iterations per phase",
        section="Advanced",
        least=1,
        integer=True,
    )
    # Where it is empty it becomes what suits the method and the problem.
    refine: str = parameter(
        "",
        "What follows the bilinear solution of a non-rigid problem.",
        label="refine depths",
        section="Solver",
        choices=tuple(REFINEMENTS),
    )
    noise: float | None = parameter(
        None,
        "Standard deviation of a track's coordinate, in the units of the tracks, 0 or more; at 0 the depth "
        "refinement keeps the rays exactly. Without it the tracks give it.",
        section="Advanced",
        optional=True,
        absent="estimated from the tracks",
    )
    isometry: float = parameter(
        0.3,
        "Weight of the lengths between neighbors in the depth refinement, 0 or more.",
        section="Advanced",
    )
    neighbors: int = parameter(
        8,
        "Neighbors of a point whose distances the depth refinement keeps, at least 1.",
        section="Advanced",
        least=1,
        integer=True,
    )
    mirror: str | None = parameter(
        None,
        "Frames whose depths are mirrored before the refinement, counted from 1, such as 31-40.",
        label="mirrored frames",
        section="Advanced",
        text=True,
        optional=True,
        absent="none",
    )
    hide: str | None = parameter(
        None,
        "Observations that are left out: points and their frames, counted from 1, such as "
        "3:12-18,40;17:45-;20:*.",
        label="hidden",
        section="Advanced",
        text=True,
        optional=True,
        absent="none",
        live=True,
    )
    loss: str = parameter(
        "squared",
        "What the residuals of observations cost. A robust loss gives outliers little weight.",
        section="Model",
        choices=tuple(LOSSES),
        live=True,
    )
    loss_scale: float | None = parameter(
        None,
        "Residual up to which a robust loss is about that of least squares, in the units of the tracks. "
        "Without it the residuals and the noise give it.",
        label="loss scale",
        section="Model",
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
        section="Advanced",
        text=True,
        optional=True,
        absent="none: calibrated units",
    )

    __repr__ = one_line_repr

    def __post_init__(self) -> None:
        if self.problem not in PROBLEMS:
            raise InputError(f"problem is {self.problem!r}; accepted are {', '.join(PROBLEMS)}")
        if self.method not in METHODS:
            raise InputError(f"method is {self.method!r}; accepted are {', '.join(METHODS)}")
        if isinstance(self.rotations, str) and self.rotations not in ROTATION_SOURCES:
            object.__setattr__(self, "rotations", Path(self.rotations))
        if isinstance(self.intrinsics, str) and self.intrinsics not in INTRINSICS_SOURCES:
            object.__setattr__(self, "intrinsics", Path(self.intrinsics))
        if not isinstance(self.intrinsics, str | Path):
            object.__setattr__(self, "intrinsics", _checked_intrinsics(self.intrinsics))
        if not self.refine:
            object.__setattr__(self, "refine", suited_refinement(self.method, self.problem))
        check_parameters(self)
        if self.mirror is not None:
            object.__setattr__(self, "mirror", _checked_frames(self.mirror))
        if self.hide is not None:
            object.__setattr__(self, "hide", normalize_hidden(self.hide))
        if self.scale is not None:
            object.__setattr__(self, "scale", str(parse_scale(self.scale)))
        penalty_name(self.penalty)  # one that no file could name is refused before anything is solved
        object.__setattr__(self, "options", _checked_options(self.method, dict(self.options)))

    def with_changes(self, **changes: Any) -> Settings:
        """Return a copy with some fields changed; another method keeps the options that it has too.

        A method that is not followed by a refinement by itself ends one that was not asked for again.
        """
        if "method" in changes and "options" not in changes and changes["method"] in METHODS:
            known = {option.name for option in METHODS[changes["method"]].options}
            changes["options"] = tuple(entry for entry in self.options if entry[0] in known)
        if self.refine == "depth" and not {"problem", "method"}.isdisjoint(changes):
            changes.setdefault("refine", "")
        return replace(self, **changes)

    def camera_of(self, camera: CameraModel) -> CameraModel:
        """Return the camera model that a sequence is reconstructed with, whose own is given."""
        return camera if self.camera_model == "auto" else CameraModel(self.camera_model)

    def refusal(self, camera: CameraModel) -> str | None:
        """Return the reason why these are not offered together for a camera model; None where they are."""
        if self.problem == "lowrank" and self.refine != "none":
            return "the low-rank problem has no depth refinement: its cameras are not calibrated"
        if self.loss != "squared" and self.method not in REFINED_METHODS:
            return (
                f"{METHODS[self.method].title} minimizes squares only; a robust loss needs the method "
                f"{' or '.join(REFINED_METHODS)}"
            )
        orthogonal = self.problem == "nonrigid" and self.camera_of(camera) is CameraModel.ORTHOGONAL
        affine = self.eta == 1 or orthogonal
        return refusal(self.method, self.problem, self.penalty, affine=affine)


def frame_range(text: str) -> tuple[int, int]:
    """Return the frames that a text such as "31-40" or "7" names.

    `text`: one frame or the first and the last one, counted from 1. Raises InputError where it names no
    frames.

    >>> frame_range("31-40")
    (30, 39)
    """
    found = re.fullmatch(r"\s*([0-9]+)\s*(?:[-\u2013]\s*([0-9]+)\s*)?", text)
    first, last = (0, 0) if found is None else (int(found[1]), int(found[2] or found[1]))
    if not 1 <= first <= last:
        raise InputError(
            f"mirror is {text!r}; accepted are one frame or the first and the last one, from 1, such as 31-40"
        )
    return first - 1, last - 1


def _checked_frames(text: str) -> str:
    """Return frames in the form of the documentation."""
    first, last = frame_range(text)
    return f"{first + 1}" if first == last else f"{first + 1}-{last + 1}"


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
# A run continues under changes of these; every other change needs another search.
LIVE = ("penalty", *(name for name, description in SETTINGS.items() if description.live))
# Tips that are others where the problem is low-rank.
LOW_RANK_TIPS = {
    "rank": "Rank of the matrix: a whole number, 1 to min(P, 3F). 4 is a rigid scene in perspective.",
    "eta": "pOSE weight, above 0 and below 1: near 0 is perspective, near 1 is affine.",
    "starts": "Starting points at most, at least 1: closed form, grown, then random, until three agree.",
    "intrinsics": "K of the metric upgrade that shows the scene in 3-D; the matrix itself needs none.",
}
PRESETS: dict[str, Settings] = {
    "recommended": Settings(),
    "bilinear": Settings(refine="none"),
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

    A method that does not accept the penalty of the preset brings its own. Where `settings` is a value of
    `Settings`, its penalty was given.

    `settings`: a value, the name of a preset, or None for the default preset. Raises InputError where there
    is no such preset, or a value is refused.

    >>> settings_of("paper", rank=2).rank
    2
    """
    if isinstance(settings, Settings):
        return settings.with_changes(**changes)
    if settings is not None and settings not in PRESETS:
        raise InputError(f"preset is {settings!r}; accepted are {', '.join(PRESETS)}")
    preset = Settings() if settings is None else PRESETS[settings]
    changed = preset.with_changes(**changes)
    if "penalty" in changes:
        return changed
    return changed.with_changes(penalty=suited_penalty(changed.method, changed.problem, changed.penalty))
