"""The view of a session, as a session file contains it: camera, colors, frame, points, solution, panels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QByteArray

from core import Alignment, InputError
from core.foundation import Records
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.theme import THEMES
from nrsfm_gui.scene.orbit_camera import Orbit
from nrsfm_gui.widgets.dock_state import restore_docks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PyQt6.QtWidgets import QMainWindow

    from nrsfm_gui.model.session import Session


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
    saved_views: dict[str, Orbit] = field(default_factory=dict)  # by the key that shows it

    @classmethod
    def of(cls, session: Session, orbit: Orbit, saved_views: Mapping[str, Orbit]) -> ViewState:
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
            dict(saved_views),
        )

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise InputError(f"theme is {self.theme!r}; accepted are {', '.join(THEMES)}")
        for orbit in (self.orbit, *self.saved_views.values()):
            numbers = (*orbit.center, orbit.distance, orbit.azimuth, orbit.elevation)
            if not all(map(math.isfinite, numbers)) or not orbit.distance > 0:
                raise InputError("the orbit holds a number that is not finite, or no distance")
            if not abs(math.hypot(*orbit.up) - 1.0) < 1e-6:  # written so that NaN is refused, too
                raise InputError("the orbit holds an upward axis that is not a unit vector")

    def as_plain(self) -> dict[str, Any]:
        """Return values that JSON can hold; a loaded triangulation is left out, its file has it."""
        source = self.appearance.mesh_source
        shown = replace(self.appearance, mesh_source="automatic" if source == "loaded" else source)
        values: dict[str, Any] = _VIEW.write(replace(self, appearance=shown))
        return values

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> ViewState:
        """Return what `as_plain` gave.

        Raises InputError where an entry is absent or is not what it should be.
        """
        state: ViewState = _VIEW.read(cls, values, "the view")
        return state

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


_VIEW = Records(
    names={
        "Alignment": Alignment,
        "Appearance": Appearance,
        "Background": Background,
        "Orbit": Orbit,
        "Path": Path,
    },
    left_out={Appearance: ("triangulation",)},
)
