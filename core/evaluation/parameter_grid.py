"""One parameter of settings by name: its value, settings with another value, and grids of values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..data.sequence import CameraModel
from ..foundation.exceptions import InputError
from ..penalties import ExplicitWeights

if TYPE_CHECKING:
    from ..reconstruction.settings import Settings

SCALE = "scale"  # the parameter by which explicit weights are multiplied
DECADES = 1.5  # that a suggested range reaches to each side
COUNTS = {"rank": 8, "eta": 7}  # how many values are suggested
COUNT = 9  # of the strength of a penalty
LEAST_ETA = 1e-4  # smaller values have the same result
MOST_RANK = 24  # that a suggested range reaches to, unless the present rank is above it


def parameters_of(settings: Settings, camera: CameraModel) -> tuple[str, ...]:
    """Return the parameters to vary: the penalty's mu or xi (of explicit weights `SCALE`), the rank, eta.

    Parameters
    ----------
    settings
        the settings of a run.
    camera
        the camera model: eta of an orthogonal camera is 1.

    Returns
    -------
    tuple[str, ...]
        the names.
    """
    strength = next(iter(vars(settings.penalty)))  # every penalty has its strength first
    names = (SCALE if isinstance(settings.penalty, ExplicitWeights) else strength, "rank", "eta")
    fixed = settings.problem == "nonrigid" and camera is CameraModel.ORTHOGONAL
    return names[:2] if fixed else names


def parameter_value(settings: Settings, parameter: str) -> float:
    """Return the value of a parameter in settings; 1 for `SCALE`.

    Parameters
    ----------
    settings
        the settings of a run.
    parameter
        its name, one of `parameters_of`.

    Returns
    -------
    float
        the value.
    """
    if parameter == SCALE:
        return 1.0
    source: Any = settings if parameter in ("rank", "eta") else settings.penalty
    return float(getattr(source, parameter))


def with_parameter(settings: Settings, parameter: str, value: float) -> Settings:
    """Return settings with another value of one parameter.

    Parameters
    ----------
    settings
        the settings of a run.
    parameter
        its name, one of `parameters_of`.
    value
        the new value.

    Returns
    -------
    Settings
        a copy.

    Raises
    ------
    InputError
        where the value is refused.
    """
    if parameter == SCALE:
        assert isinstance(settings.penalty, ExplicitWeights)  # `parameters_of` offers it for no other
        return settings.with_changes(penalty=ExplicitWeights(tuple(value * a for a in settings.penalty.a)))
    if parameter == "rank":
        if not (math.isfinite(value) and value == int(value) and value >= 1):
            raise InputError(f"rank is {value:g}; accepted is a whole number, 1 or more")
        penalty = settings.penalty
        if isinstance(penalty, ExplicitWeights):
            penalty = penalty.with_rank(int(value))
        return settings.with_changes(rank=int(value), penalty=penalty)
    if parameter == "eta":
        return settings.with_changes(eta=float(value))
    return settings.with_changes(penalty=replace(settings.penalty, **{parameter: float(value)}))  # type: ignore[type-var]


def suggest_range(settings: Settings, parameter: str) -> tuple[float, float, int]:
    """Return a lowest value, a highest one and a count for a series around the present value.

    Parameters
    ----------
    settings
        the settings of a run.
    parameter
        its name, one of `parameters_of`.

    Returns
    -------
    tuple[float, float, int]
        the lowest value, the highest one, and how many.
    """
    now = parameter_value(settings, parameter)
    count = COUNTS.get(parameter, COUNT)
    if parameter == "rank":
        first = max(1, int(now) - count // 2)
        return float(first), float(min(first + count - 1, max(MOST_RANK, int(now)))), count
    low, high = ((now or 1.0) * 10.0**power for power in (-DECADES, DECADES))
    if parameter == "eta":
        low, high = min(max(now / 10, 1e-3), now), max(min(10 * now, 0.9), now)
    return float(f"{low:.2g}"), float(f"{high:.2g}"), count


def values_outside(parameter: str, values: tuple[float, ...], *, above: bool) -> tuple[float, ...]:
    """Return about half as many values again, at the same ratios, below or above a series that ascends.

    None of the rank, because the hidden observations depend on the highest one; of eta only accepted values.

    Parameters
    ----------
    parameter
        its name, one of `parameters_of`.
    values
        an ascending series.
    above
        whether the new values are above the series.

    Returns
    -------
    tuple[float, ...]
        the new values, ascending.
    """
    if parameter == "rank" or len(values) < 2:
        return ()
    ratio = (values[-1] / values[0]) ** (1 / (len(values) - 1))
    count = max(2, len(values) // 2)
    end, factor = (values[-1], ratio) if above else (values[0], 1 / ratio)
    more = sorted({float(f"{end * factor**k:.3g}") for k in range(1, count + 1)} - set(values))
    return tuple(value for value in more if parameter != "eta" or LEAST_ETA <= value < 1.0)


def values_in_range(parameter: str, low: float, high: float, count: int) -> tuple[float, ...]:
    """Return a series: every rank in a range, or so many values of anything else at equal ratios.

    Parameters
    ----------
    parameter
        its name, one of `parameters_of`.
    low, high
        the ends of the range.
    count
        how many values; of the rank every one is in it.

    Returns
    -------
    tuple[float, ...]
        ascending values.

    Examples
    --------
    >>> values_in_range("xi", 0.01, 1.0, 3)
    (0.01, 0.1, 1.0)
    """
    if parameter == "rank":
        return tuple(float(rank) for rank in range(math.ceil(low), math.floor(high) + 1))
    ratio = high / low
    return tuple(sorted({float(f"{low * ratio ** (k / (count - 1)):.3g}") for k in range(count)}))
