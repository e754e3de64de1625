"""The table of methods: their titles, options and algorithms, and which problems and penalties they accept.

The command line, the application, the benchmark and the test of all combinations read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..foundation.parameters import Parameter, ParameterValue, parameters_of
from ..foundation.representation import OneLine
from ..penalties import ConcavePenalty, NuclearNorm, Penalty, RankPenalty, WeightedNuclearNorm
from ..problem.nonrigid import Problem
from .admm import ADMM
from .agd import AGD
from .algorithm_one import AlgorithmOne
from .bmm import BMM, RBMM
from .irnn import IRNN
from .levenberg_marquardt import LevenbergMarquardt
from .majorized import Majorized
from .reweighted import Reweighted
from .solver import Algorithm
from .variable_projection import VariableProjection

PROBLEMS = {
    "nonrigid": "non-rigid shapes in calibrated cameras (Section 5.3)",
    "lowrank": "low-rank matrix recovery, uncalibrated, with missing data (Section 5.2)",
}


@dataclass(frozen=True)
class Method(OneLine):
    """One row of the table."""

    title: str
    meaning: str
    algorithm: type[Any]  # of core.solvers; of a two-step method the first step's
    option_names: tuple[str, ...] = ()  # of its parameters, those that a user chooses
    refined: type[Any] | None = None  # the second step's algorithm
    penalty: Penalty | None = None  # that of its paper, where it accepts no other kind
    recommended: bool = False  # whether for reconstructions; else for comparison with them

    @property
    def on_matrix(self) -> bool:
        """Whether it works on X itself, from the closed form, and is cut to rank K."""
        return bool(self.algorithm.on_matrix)

    @property
    def options(self) -> tuple[Parameter, ...]:
        """The parameters that a user chooses."""
        described = parameters_of(self.refined or self.algorithm) | parameters_of(self.algorithm)
        return tuple(described[name] for name in self.option_names)

    def default(self, option: str) -> ParameterValue:
        """Return the value that an option has where it is not given."""
        first = option in parameters_of(self.algorithm)
        value: ParameterValue = getattr(self.algorithm if first else self.refined, option)
        return value

    def first(self, options: Mapping[str, ParameterValue], **common: object) -> Algorithm[Any]:
        """Return the algorithm of the method, or of its first step, with its share of the options."""
        return _made(self.algorithm, options, common)

    def second(self, options: Mapping[str, ParameterValue], **common: object) -> Algorithm[Any]:
        """Return the algorithm that refines what the first step leaves; `refined` must not be None."""
        assert self.refined is not None
        return _made(self.refined, options, common)


def _made(
    algorithm: type[Any], options: Mapping[str, ParameterValue], common: Mapping[str, object]
) -> Algorithm[Any]:
    own = {name: value for name, value in options.items() if name in parameters_of(algorithm)}
    made: Algorithm[Any] = algorithm(**common, **own)
    return made


ADMM_OPTIONS = ("rho", "relaxation", "progress", "patience")

METHODS: dict[str, Method] = {
    "bilinear": Method(
        "bilinear (Newton)",
        "bilinear form, variable projection (Newton): the default",
        VariableProjection,
        ("damping",),
        recommended=True,
    ),
    "lm": Method(
        "bilinear (Levenberg-Marquardt)",
        "bilinear form, Levenberg-Marquardt on the Schur complement",
        LevenbergMarquardt,
        ("damping",),
        recommended=True,
    ),
    "paper": Method(
        "ADMM, then Algorithm 1",
        "ADMM, then Algorithm 1 of the paper as printed, on the sparse Jacobian",
        ADMM,
        (*ADMM_OPTIONS, "damping", "alpha"),
        refined=AlgorithmOne,
    ),
    "admm": Method("ADMM", "ADMM on the structure matrix, cut to rank K", ADMM, ADMM_OPTIONS),
    "admm+bilinear": Method(
        "ADMM, then bilinear",
        "ADMM, then the bilinear form from where it ends: the paper's pipeline",
        ADMM,
        ADMM_OPTIONS,
        refined=VariableProjection,
    ),
    "irnn": Method(
        "IRNN",
        "iteratively reweighted nuclear norms (proximal gradient where the penalty is linear), cut to rank K",
        IRNN,
        ("margin",),
    ),
    "agd": Method(
        "AGD", "accelerated proximal gradient, cut to rank K", AGD, ("acceptance", "restart", "step_size")
    ),
    "bmm": Method(
        "BMM",
        "block matrix method of Dai et al. for orthogonal cameras: nuclear norm as mu -> 0, cut to rank K",
        BMM,
        ("tau", "shrinkage"),
        penalty=NuclearNorm(),
    ),
    "r-bmm": Method(
        "R-BMM",
        "reweighted BMM of Kumar for orthogonal cameras: weighted nuclear norm by ADMM, cut to rank K",
        RBMM,
        ("rho", "growth"),
        penalty=WeightedNuclearNorm(),
    ),
}


def adapted(algorithm: Algorithm[Any], problem: Problem) -> Algorithm[Any]:
    """Return an algorithm for least squares and linear penalties so that it minimizes a problem's own."""
    if problem.robust is not None:
        algorithm = Reweighted(algorithm, algorithm.damping)  # type: ignore[attr-defined]  # second order
    if problem.spectral is not None and algorithm.linear_only:
        algorithm = Majorized(algorithm)
    return algorithm


def refusal(method: str, problem: str, penalty: Penalty, *, affine: bool) -> str | None:
    """Return the reason why a method is not offered for a problem and a penalty; None where it is.

    `affine` is whether the problem is posed at eta = 1, as it is for orthogonal cameras.
    """
    if problem == "lowrank" and affine:
        return "the low-rank problem needs eta below 1: at 1 nothing measures the third row of a camera"
    if method in ("bmm", "r-bmm") and (problem == "lowrank" or not affine):
        return f"{METHODS[method].title} is for orthogonal cameras of known rotations (eta = 1); choose admm"
    return penalty_refusal(method, penalty)


def penalty_refusal(method: str, penalty: Penalty) -> str | None:
    """Return the reason why a method does not accept a penalty, for any problem; None where it does."""
    if method == "paper" and isinstance(penalty, ConcavePenalty):
        return "Algorithm 1 takes penalties that are linear in the singular values; choose bilinear or lm"
    if method == "irnn" and isinstance(penalty, RankPenalty):
        return "IRNN weighs singular values by the slope of the penalty, and the rank has none; choose agd"
    if method == "bmm" and not isinstance(penalty, NuclearNorm):
        return "BMM minimizes the nuclear norm, by its own continuation; choose the penalty nn"
    if method == "r-bmm" and not isinstance(penalty, WeightedNuclearNorm):
        return "R-BMM's weights are xi / (sigma_k + gamma); choose the penalty wnn"
    return None
