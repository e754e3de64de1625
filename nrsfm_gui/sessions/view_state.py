"""The view of a session, as a session file contains it: camera, colors, frame, points, solution, panels."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QByteArray

from core import Alignment, InputError
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.theme import THEMES
from nrsfm_gui.scene.orbit_camera import DEFAULT_UP, Orbit
from nrsfm_gui.widgets.dock_state import restore_docks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from PyQt6.QtWidgets import QMainWindow

    from nrsfm_gui.model.session import Session

ACCEPTED = "accepted are the entries that the application writes"


@dataclass(frozen=True)
class ViewState:
    """The view of a session; the session limits points and frames to its sequence."""

    frame: int
    point: int
    selection: tuple[int, ...]
    hidden: tuple[int, ...]
    frame_range: tuple[int, int] | None
    alignment: Alignment
    theme: str  # a key of THEMES
    orbit: Orbit
    appearance: Appearance
    background: Background | None = None  # pictures behind the tracks

    @classmethod
    def of(cls, session: Session, orbit: Orbit) -> ViewState:
        """Return that of a session whose 3-D view is seen from somewhere."""
        return cls(
            session.frame,
            session.point,
            session.selection,
            tuple(sorted(session.hidden)),
            session.frame_range,
            session.alignment,
            session.theme.name,
            orbit,
            session.appearance,
            session.background,
        )

    def as_plain(self) -> dict[str, Any]:
        """Return values that JSON can hold."""
        return {
            "frame": self.frame,
            "point": self.point,
            "selection": list(self.selection),
            "hidden": list(self.hidden),
            "frame_range": None if self.frame_range is None else list(self.frame_range),
            "alignment": self.alignment.key,
            "theme": self.theme,
            "orbit": asdict(self.orbit),
            "appearance": self.appearance.as_plain(),
            "background": {} if self.background is None else self.background.as_plain(),
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> ViewState:
        """Return what `as_plain` gave.

        Raises InputError where an entry is absent or is not what it should be.
        """
        try:
            frames = values["frame_range"]
            if values["theme"] not in THEMES:
                raise InputError(f"theme is {values['theme']!r}; accepted are {', '.join(THEMES)}")
            return cls(
                _integer(values["frame"]),
                _integer(values["point"]),
                tuple(_integer(point) for point in values["selection"]),
                tuple(_integer(point) for point in values["hidden"]),
                None if frames is None else (_integer(frames[0]), _integer(frames[1])),
                Alignment.from_key(values["alignment"]),
                values["theme"],
                _orbit(values["orbit"]),
                Appearance.from_plain(values["appearance"]),
                Background.from_plain(values.get("background", {})),
            )
        except KeyError as error:
            raise InputError(f"the view lacks {error}; {ACCEPTED}") from error
        except InputError:
            raise
        except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise InputError(f"the view cannot be read ({error}); {ACCEPTED}") from error

    def show(self, session: Session, *, theme: bool = True) -> None:
        """Apply this view to a session, with or without its theme; the caller sets the orbit."""
        sequence = session.sequence
        assert sequence is not None  # a session that is shown has one
        inside = range(sequence.point_count)
        session.set_appearance(self.appearance, undoable=False)
        session.set_alignment(self.alignment, undoable=False)
        if theme:
            session.set_theme(THEMES[self.theme])
        session.set_frame(self.frame)
        session.set_frame_range(self.frame_range)
        session.set_hidden((point for point in self.hidden if point in inside), undoable=False)
        session.set_selection((point for point in self.selection if point in inside), self.point)
        session.set_background(self.background)


def layout_of(window: QMainWindow) -> dict[str, str]:
    """Return where the panels of a window stand, as text; the window itself is its screen's matter."""
    return {"docks": bytes(window.saveState().toBase64().data()).decode("ascii")}


def show_layout(window: QMainWindow, layout: Mapping[str, str]) -> None:
    """Restore the layout of the panels; what does not fit is not changed."""
    if "docks" in layout:
        restore_docks(window, QByteArray.fromBase64(layout["docks"].encode("ascii", "replace")))


def _integer(value: object) -> int:
    if type(value) is not int:
        raise InputError(f"the view holds {value!r}; accepted is a whole number there")
    return value


def _orbit(values: Mapping[str, Any]) -> Orbit:
    known = {entry.name for entry in fields(Orbit)}
    if not known - {"up"} <= set(values) <= known:  # earlier versions wrote none
        raise InputError(
            f"the orbit holds {', '.join(sorted(values))}; accepted are {', '.join(sorted(known))}"
        )
    x, y, z = (float(part) for part in values["center"])
    up = _unit_vector(values.get("up", DEFAULT_UP))
    numbers = {name: float(values[name]) for name in ("distance", "azimuth", "elevation")}
    if not all(map(math.isfinite, (x, y, z, *numbers.values()))) or not numbers["distance"] > 0:
        raise InputError("the orbit holds a number that is not finite, or no distance")
    return Orbit((x, y, z), orthographic=bool(values["orthographic"]), up=up, **numbers)


def _unit_vector(values: Iterable[Any]) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in values)
    if not abs(math.hypot(x, y, z) - 1.0) < 1e-6:  # written so that NaN is refused, too
        raise InputError("the orbit holds an upward axis that is not a unit vector")
    return x, y, z
