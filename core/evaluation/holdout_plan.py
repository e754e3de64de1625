"""What a series of held-out solves is asked for; apart from `cross_validation`, which needs the solvers."""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.exceptions import InputError

SHARE = 0.1  # of the visible observations that is hidden
FOLDS = 6
HIDING = {
    "runs": "points over half of the frames: asks for their depth",
    "single": "observations one by one: hardly asks for depth",
}


@dataclass(frozen=True)
class Plan:
    """Which values of which parameter are tried.

    Raises
    ------
    InputError
        where there are none, one twice, or a share or number of folds is outside its range.
    """

    parameter: str  # one of `core.evaluation.parameter_grid.parameters_of`
    values: tuple[float, ...]
    share: float = SHARE
    folds: int = FOLDS  # so many times something is hidden
    hiding: str = "runs"  # a key of HIDING
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) != len(self.values):
            raise InputError(f"the values are {self.values}; accepted is at least one, each once")
        if not 0 < self.share <= 0.5:
            raise InputError(f"the held-out share is {self.share:g}; accepted is above 0, at most 0.5")
        if self.hiding not in HIDING:
            raise InputError(f"hiding is {self.hiding!r}; accepted are {', '.join(HIDING)}")
        if self.folds < 1:
            raise InputError(f"folds is {self.folds}; accepted is at least 1")
