"""How a file is to be read: the options of `read_sequence`, of the command line and of the window."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

from ...data.sequence import CameraModel
from ...foundation.exceptions import InputError
from ...foundation.parameters import chosen_of
from ...foundation.representation import OneLine

ORDERS = ("tnxy", "ntxy")  # frames first, points first
COORDINATES = ("xy", "yx")
NO_MASK = "none"
_SIZE = re.compile(r"([1-9]\d{0,5})x([1-9]\d{0,5})", re.IGNORECASE)


@dataclass(frozen=True)
class ReadingOptions(OneLine):
    """What decides how a file is read, where the file alone does not; `read_sequence` says what each is."""

    camera: CameraModel | str | None = None
    layout: str | None = None
    frame_base: int = 1
    tracks: str | None = None
    visible: str | None = None
    threshold: float | None = None
    order: str | None = None
    xy: str | None = None
    size: str | None = None
    individual: str | None = None
    columns: str | None = None

    def __post_init__(self) -> None:
        if self.camera is not None:
            object.__setattr__(self, "camera", chosen_of(CameraModel, "camera", self.camera))
        for name, accepted in {"order": ORDERS, "xy": COORDINATES}.items():
            value = getattr(self, name)
            if value is not None and value not in accepted:
                raise InputError(f"{name} is {value!r}; accepted are {', '.join(accepted)}")
        if self.frame_base not in (0, 1):
            raise InputError(f"frame base is {self.frame_base}; accepted are 1 and 0")
        if self.size is not None and _SIZE.fullmatch(self.size) is None:
            raise InputError(f"size is {self.size!r}; accepted is WIDTHxHEIGHT in pixels, like 1280x720")
        if self.threshold is not None:
            try:
                object.__setattr__(self, "threshold", float(self.threshold))
            except (TypeError, ValueError):
                raise InputError(f"threshold is {self.threshold!r}; accepted is a number") from None
            if self.threshold != self.threshold:
                raise InputError("threshold is NaN; accepted is a number")

    @property
    def image_size(self) -> tuple[int, int] | None:
        """Width and height of the picture, where `size` gives them."""
        match = None if self.size is None else _SIZE.fullmatch(self.size)
        return None if match is None else (int(match[1]), int(match[2]))

    @property
    def camera_model(self) -> CameraModel | None:
        """The camera model to assume."""
        return None if self.camera is None else CameraModel(self.camera)

    def given(self) -> dict[str, str | int | float]:
        """Return the options that are not the defaults, as `Sequence.reading` has them."""
        changed: dict[str, Any] = {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if getattr(self, entry.name) != entry.default
        }
        if self.camera is not None:
            changed["camera"] = CameraModel(self.camera).value
        return changed


READING_OPTIONS = tuple(entry.name for entry in fields(ReadingOptions))
