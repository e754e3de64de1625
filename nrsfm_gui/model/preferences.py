"""The preferences of the user on this machine, for all sequences: a frozen value, no Qt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from core import InputError
from nrsfm_gui.model.appearance import COLOR_MAPS, POINT_SIZES, check_accepted
from nrsfm_gui.model.arguments import RENDERERS

SYSTEM = "system"
THEME_NAMES = (SYSTEM, "dark", "light")
SIZES = (100, 125, 150, 175, 200)
MOST_AUTOSAVE_SECONDS = 3600
MOST_FILE_MEMORY = 1000  # GB
PROCESSORS = os.cpu_count() or 1


@dataclass(frozen=True)
class Preferences:
    """The preferences. Raises InputError for a value that is none of the accepted ones."""

    theme: str = "dark"  # one of THEME_NAMES
    size: int = 100  # of text and all else, in percent of what suits the screen, from the next start on
    point_size: float = 1.0  # times the size that suits the number of points
    color_map: str = COLOR_MAPS[0]
    threads: int = 1  # of the solver's linear algebra
    autosave_seconds: int = 15  # how often the session is saved by itself; 0: never
    renderer: str = "auto"  # of the 3-D view, from the next start on
    file_memory: int = 2  # GB that the content of one file may need

    def __post_init__(self) -> None:
        check_accepted(self, theme=THEME_NAMES, size=SIZES, color_map=COLOR_MAPS, renderer=RENDERERS)
        for name, low, high in (
            ("point_size", *POINT_SIZES),
            ("threads", 1, PROCESSORS),
            ("file_memory", 1, MOST_FILE_MEMORY),
            ("autosave_seconds", 0, MOST_AUTOSAVE_SECONDS),
        ):
            if not low <= getattr(self, name) <= high:
                raise InputError(f"{name} is {getattr(self, name)}; accepted are {low} to {high}")


def from_values(values: Mapping[str, Any]) -> tuple[Preferences, tuple[str, ...]]:
    """Return the preferences among stored values, and the names of those that cannot be read."""
    result, refused = Preferences(), []
    for field in fields(Preferences):
        default = getattr(result, field.name)
        kind, value = type(default), values.get(field.name, default)
        accepted = (float, int) if kind is float else (kind,)
        try:
            if type(value) not in accepted:
                raise TypeError(f"{field.name} is {value!r}")
            result = replace(result, **{field.name: kind(value)})
        except (TypeError, InputError, OverflowError):
            refused.append(field.name)
    return result, tuple(refused)
