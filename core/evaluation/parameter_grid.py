"""One parameter of settings by name: its value, settings with another value, and grids of values.

A value is a number. That of a parameter whose values are words is the place of the word among its choices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..data.sequence import CameraModel, Sequence
from ..depth import estimate_noise
from ..foundation.exceptions import InputError
from ..foundation.phases import DEPTHS
from ..penalties import ExplicitWeights
from ..reconstruction.settings import SETTINGS, Settings, chosen_objective

SCALE = "scale"  # the parameter by which explicit weights are multiplied
OBJECTIVE = "objective"  # the parameter whose values are words
OF_DEPTHS = ("isometry", "smallest_movement", "noise", "neighbors")
DECADES = 1.5  # that a suggested range reaches to each side
NARROWER = dict.fromkeys(OF_DEPTHS, 1.0) | {"neighbors": 0.5}  # decades of other parameters
COUNTS = {"rank": 8, "eta": 7} | dict.fromkeys(OF_DEPTHS, 5)  # how many values are suggested
COUNT = 9  # of the strength of a penalty
LEAST_ETA = 1e-4  # smaller values have the same result
MOST_RANK = 24  # that a suggested range reaches to, unless the present rank is above it


def parameters_of(settings: Settings, camera: CameraModel) -> tuple[str, ...]:
    """Return the parameters to vary: those of the objective, and of a non-rigid problem the objective itself.

    Of the weighted nuclear norm they are the penalty's strength (of explicit weights `SCALE`), the rank and
    eta.
    """
    if settings.objective == DEPTHS:
        return (*OF_DEPTHS, OBJECTIVE)
    strength = next(iter(vars(settings.penalty)))  # every penalty has its strength first
    names: tuple[str, ...] = (
        SCALE if isinstance(settings.penalty, ExplicitWeights) else strength,
        "rank",
        "eta",
    )
    if settings.problem != "nonrigid":
        return names
    if settings.camera_of(camera) is CameraModel.ORTHOGONAL:
        names = names[:2]
    return (*names, OBJECTIVE)


def objective_to_vary(parameter: str, given: Mapping[str, Any]) -> str:
    """Return the objective that a parameter to vary chooses together with given ones."""
    varied = parameter if parameter in SETTINGS else "penalty"
    return chosen_objective({**given, varied: None})


def is_whole(parameter: str) -> bool:
    """Return whether the values of a parameter are whole numbers, or the numbers of words."""
    described = SETTINGS.get(parameter)
    return described is not None and (described.integer or bool(described.choices))


def value_text(parameter: str, value: float) -> str:
    """Return a value as a command line accepts it: the word of one that is a choice, else the number."""
    return SETTINGS[OBJECTIVE].choices[int(value)] if parameter == OBJECTIVE else f"{value:.6g}"


def parse_value(parameter: str, given: float | str) -> float:
    """Return the value that a number or a text names. Raises InputError where it names none."""
    if parameter == OBJECTIVE and isinstance(given, str):
        return float(SETTINGS[OBJECTIVE].choices.index(str(SETTINGS[OBJECTIVE].checked(given.strip()))))
    try:
        return float(given)
    except ValueError:
        raise InputError(
            f"a value of {parameter} is {given!r}; accepted are numbers with commas between them"
        ) from None


def parameter_value(settings: Settings, parameter: str) -> float:
    """Return the value of a parameter in settings; 1 for `SCALE`, NaN for a noise that is estimated."""
    if parameter == SCALE:
        return 1.0
    if parameter == OBJECTIVE:
        return parse_value(parameter, settings.objective)
    source: Any = settings if parameter in SETTINGS else settings.penalty
    value = getattr(source, parameter)
    return math.nan if value is None else float(value)


def with_parameter(settings: Settings, parameter: str, value: float) -> Settings:
    """Return settings with another value of one parameter. Raises InputError where the value is refused."""
    if parameter == SCALE:
        assert isinstance(settings.penalty, ExplicitWeights)  # `parameters_of` offers it for no other
        return settings.with_changes(penalty=ExplicitWeights(tuple(value * a for a in settings.penalty.a)))
    if parameter == "rank":
        rank, penalty = int(SETTINGS["rank"].checked(value)), settings.penalty
        if isinstance(penalty, ExplicitWeights):
            penalty = penalty.with_rank(rank)
        return settings.with_changes(rank=rank, penalty=penalty)
    if parameter == OBJECTIVE:
        return settings.with_changes(objective=value_text(parameter, value))
    if parameter in SETTINGS:
        return settings.with_changes(**{parameter: float(value)})
    return settings.with_changes(penalty=replace(settings.penalty, **{parameter: float(value)}))  # type: ignore[type-var]


def suggest_range(settings: Settings, parameter: str, noise: float = 1.0) -> tuple[float, float, int]:
    """Return a lowest value, a highest one and a count for a series around the present value."""
    if parameter == OBJECTIVE:
        return 0.0, len(SETTINGS[OBJECTIVE].choices) - 1.0, len(SETTINGS[OBJECTIVE].choices)
    now = parameter_value(settings, parameter)
    now = noise if math.isnan(now) else now
    count = COUNTS.get(parameter, COUNT)
    if parameter == "rank":
        first = max(1, int(now) - count // 2)
        return float(first), float(min(first + count - 1, max(MOST_RANK, int(now)))), count
    decades = NARROWER.get(parameter, DECADES)
    low, high = ((now or 1.0) * 10.0**power for power in (-decades, decades))
    if parameter == "eta":
        low, high = min(max(now / 10, 1e-3), now), max(min(10 * now, 0.9), now)
    if is_whole(parameter):
        low, high = max(round(low), 1), round(high)
    high = min(high, _most(parameter))
    return float(f"{low:.2g}"), float(f"{high:.2g}"), count


def suggest_values(sequence: Sequence, settings: Settings, parameter: str) -> tuple[float, ...]:
    """Return a series of values around the present one."""
    noise = present_noise(sequence) if parameter == "noise" else 1.0
    return values_in_range(parameter, *suggest_range(settings, parameter, noise))


def present_noise(sequence: Sequence) -> float:
    """Return the noise that tracks have where settings do not give it; 1 where they are too few to tell."""
    return estimate_noise(sequence.tracks, sequence.visible) or 1.0


def values_outside(parameter: str, values: tuple[float, ...], *, above: bool) -> tuple[float, ...]:
    """Return about half as many values again, at the same ratios, below or above a series that ascends.

    None of the rank, because the hidden observations depend on the highest one, and none of words; of eta
    only accepted values.
    """
    if parameter in ("rank", OBJECTIVE) or len(values) < 2:
        return ()
    ratio = (values[-1] / values[0]) ** (1 / (len(values) - 1))
    count = max(2, len(values) // 2)
    end, factor = (values[-1], ratio) if above else (values[0], 1 / ratio)
    more = sorted({_rounded(parameter, end * factor**k) for k in range(1, count + 1)} - set(values))
    least, most = (LEAST_ETA, 1.0) if parameter == "eta" else (0.0, _most(parameter))
    return tuple(value for value in more if least <= value <= most)


def values_in_range(parameter: str, low: float, high: float, count: int) -> tuple[float, ...]:
    """Return a series: every rank or word in a range, or so many other values at equal ratios."""
    if parameter in ("rank", OBJECTIVE):
        return tuple(float(rank) for rank in range(math.ceil(low), math.floor(high) + 1))
    ratio = high / low
    return tuple(sorted({_rounded(parameter, low * ratio ** (k / (count - 1))) for k in range(count)}))


def _most(parameter: str) -> float:
    """Return the largest value that settings accept of a parameter; one of a penalty has none."""
    return SETTINGS[parameter].most if parameter in SETTINGS else math.inf


def _rounded(parameter: str, value: float) -> float:
    return float(max(round(value), 1)) if is_whole(parameter) else float(f"{value:.3g}")
