"""Everything that determines a reconstruction besides the sequence, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..data.sequence import CameraModel
from ..foundation.exceptions import InputError
from ..penalties.linear import Penalty, TruncatedNuclearNorm, WeightedNuclearNorm
from ..solvers.methods import METHODS, PROBLEMS, OptionValue, penalty_refusal, refusal

RECOMMENDED_PENALTY = WeightedNuclearNorm(xi=0.5)

ROTATION_SOURCES = {
    "best": "candidates from companion and tracks, chosen by loss",
    "truth": "the true cameras, where the sequence has them",
    "companion": "Dai et al. on the companion orthogonal tracks (the paper's way)",
    "tracks": "Dai et al. on the calibrated tracks themselves",
}
INTRINSICS_SOURCES = {
    "auto": "the sequence's own K, else estimated from its ground-truth frame",
    "gt": "estimated from the ground-truth frame",
    "calibrated": "tracks are already calibrated (K = I)",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of a reconstruction. The defaults are the `recommended` preset.

    Raises
    ------
    InputError
        where a value is outside its range; the sentence names it and what is accepted.
    """

    problem: str = "nonrigid"  # a key of PROBLEMS
    method: str = "bilinear"  # a key of METHODS
    options: tuple[tuple[str, OptionValue], ...] = ()  # of the method, those that are not its defaults
    rank: int = 6  # K
    eta: float = 0.05  # pOSE weight in (0, 1]; orthogonal tracks are always solved at 1
    penalty: Penalty = RECOMMENDED_PENALTY
    rotations: str | Path = "best"  # a key of ROTATION_SOURCES, or an .npz file with R (F, 3, 3)
    rotation_rank: int | None = None  # rank of Dai et al.'s factorization; None = several, chosen by loss
    intrinsics: str | Path | tuple[float, float, float, float] = "auto"  # a key, a file, or (fx, fy, cx, cy)
    starts: int = 32  # so many starting points: rigid and grown, the closed form, then random ones
    seed: int = 0
    tolerance: float = 1e-18  # of second-order methods: the predicted relative decrease to stop at
    max_iterations: int = 1000  # per phase

    def __post_init__(self) -> None:
        if self.problem not in PROBLEMS:
            raise InputError(f"problem is {self.problem!r}; accepted are {', '.join(PROBLEMS)}")
        if self.method not in METHODS:
            raise InputError(f"method is {self.method!r}; accepted are {', '.join(METHODS)}")
        if isinstance(self.rotations, str) and self.rotations not in ROTATION_SOURCES:
            object.__setattr__(self, "rotations", Path(self.rotations))
        if isinstance(self.intrinsics, str) and self.intrinsics not in INTRINSICS_SOURCES:
            object.__setattr__(self, "intrinsics", Path(self.intrinsics))
        if not 0 < self.eta <= 1:
            raise InputError(f"eta is {self.eta:g}; accepted is 0 < eta <= 1")
        if not 0 <= self.tolerance < 1:
            raise InputError(f"tolerance is {self.tolerance:g}; accepted is 0 <= tolerance < 1")
        for name, least in (("rank", 1), ("starts", 1), ("max_iterations", 1), ("seed", 0)):
            value = getattr(self, name)
            if value < least or value != int(value):
                raise InputError(f"{name} is {value}; accepted is a whole number of at least {least}")
        if self.rotation_rank is not None and self.rotation_rank < 1:
            raise InputError(f"rotation rank is {self.rotation_rank}; accepted is at least 1")
        object.__setattr__(self, "options", _checked_options(self.method, dict(self.options)))

    def with_changes(self, **changes: Any) -> Settings:
        """Return a copy with some fields changed; another method keeps the options that it has too."""
        if "method" in changes and "options" not in changes and changes["method"] in METHODS:
            known = {option.name for option in METHODS[changes["method"]].options}
            changes["options"] = tuple(entry for entry in self.options if entry[0] in known)
        return replace(self, **changes)

    def refusal(self, camera: CameraModel) -> str | None:
        """Say why these are not offered together for a camera model; None where they are."""
        affine = self.eta == 1 or (self.problem == "nonrigid" and camera is CameraModel.ORTHOGONAL)
        return refusal(self.method, self.problem, self.penalty, affine=affine)


def _checked_options(method: str, options: dict[str, OptionValue]) -> tuple[tuple[str, OptionValue], ...]:
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


PRESETS: dict[str, Settings] = {
    "recommended": Settings(),
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
    """Return a penalty where a method takes it, else the method's own, else that of the problem's preset."""
    if penalty_refusal(method, penalty) is None:
        return penalty
    return METHODS[method].penalty or PRESETS[DEFAULT_PRESETS[problem]].penalty
