"""The preferences of the user on this machine, for all sequences: a frozen value, no Qt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core import InputError
from core.foundation import Parameter
from nrsfm_gui.model.appearance import COLOR_MAPS, POINT_SIZES
from nrsfm_gui.model.arguments import RENDERERS

SYSTEM = "system"
SIZES = (100, 125, 150, 175, 200)  # that the dialog offers
PROCESSORS = os.cpu_count() or 1
LOOKS, WORK = "Looks", "Work"
PREFERENCES = {each.name: each for each in (  # in the order of the dialog
    Parameter("theme", "Colors of the window", "Theme", LOOKS, choices=(SYSTEM, "dark", "light")),
    Parameter("size", "Size of text, buttons and lines, in percent of what suits the screen; the variable "
              "QT_SCALE_FACTOR goes before it", "Text and buttons", LOOKS, integer=True,
              least=SIZES[0], most=SIZES[-1]),
    Parameter("point_size", "Times the size that suits the number of points", "Size of points", LOOKS,
              least=POINT_SIZES[0], most=POINT_SIZES[1]),
    Parameter("color_map", "Colors of errors, depths and the like", "Color map", LOOKS, choices=COLOR_MAPS),
    Parameter("renderer", "Automatic uses OpenGL where it works; software paints without it", "3-D drawing",
              LOOKS, choices=RENDERERS),
    Parameter("autosave_seconds", "How often the session is saved by itself, in seconds; 0 for never",
              "Save the session", WORK, integer=True, most=3600),
    Parameter("threads", "Threads of the solver's linear algebra, from the next run on", "Solver's threads",
              WORK, integer=True, least=1, most=PROCESSORS),
    Parameter("file_memory", "What the content of one file may need; a file that asks for more is refused",
              "Memory for a file", WORK, integer=True, least=1, most=1000),
)}  # fmt: skip


@dataclass(frozen=True)
class Preferences:
    """The preferences. Raises InputError for a value that is none of the accepted ones."""

    theme: str = "dark"
    size: int = 100  # percent, from the next start on
    point_size: float = 1.0
    color_map: str = COLOR_MAPS[0]
    threads: int = 1
    autosave_seconds: int = 15
    renderer: str = "auto"  # from the next start on
    file_memory: int = 2  # GB

    def __post_init__(self) -> None:
        for name, described in PREFERENCES.items():
            value = getattr(self, name)
            # A stored file may have what Python takes for a number.
            if isinstance(value, bool) or (isinstance(value, str) and not described.choices):
                raise InputError(f"{name} is {value!r}; accepted is {described.accepted}")
            object.__setattr__(self, name, described.checked(value))
        if self.size not in SIZES:
            raise InputError(f"size is {self.size}; accepted are {', '.join(map(str, SIZES))}")


def from_values(values: Mapping[str, Any]) -> tuple[Preferences, tuple[str, ...]]:
    """Return the preferences among stored values, and the names of those that cannot be read."""
    result, refused = Preferences(), []
    for name in PREFERENCES:
        try:
            result = replace(result, **{name: values.get(name, getattr(result, name))})
        except InputError:
            refused.append(name)
    return result, tuple(refused)
