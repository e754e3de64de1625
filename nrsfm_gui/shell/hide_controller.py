"""Observations that the user hides from the solver: a change of the parameters, undone like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject

from nrsfm_gui.model.excluded import with_excluded

if TYPE_CHECKING:
    from core.foundation import Bools
    from nrsfm_gui.model.session import Session

SELECT_FIRST = "Select points first: click one, or draw a lasso around some with Ctrl+drag"


class HideController(QObject):
    """Hides observations of the selected points from the solver, and shows them again."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._notifier = session, session.notifier

    def hide_observation(self) -> None:
        """Hide the selected points in the frame that is shown."""
        self._hide(slice(self._session.frame, self._session.frame + 1))

    def hide_onwards(self) -> None:
        """Hide the selected points from the frame that is shown to the last one."""
        self._hide(slice(self._session.frame, None))

    def hide_range(self) -> None:
        """Hide the selected points in the frames that are played."""
        frames = self._session.frame_range
        if frames is None:
            self._notifier.show_status("Choose frames first: drag over the strip below, or press [ and ]")
        else:
            self._hide(slice(frames[0], frames[1] + 1))

    def hide_point(self) -> None:
        """Hide the selected points in all frames."""
        self._hide(slice(None))

    def show_again(self) -> None:
        """Let the solver use the selected points again, in all frames."""
        self._hide(slice(None), hidden=False)

    def show_all_again(self) -> None:
        """Let the solver use all observations again."""
        session = self._session
        if session.settings.hide is None:
            self._notifier.show_status("No observation is hidden from the solver")
        else:
            session.set_settings(session.settings.with_changes(hide=None))
            self._notifier.show_status("The solver uses all observations")

    def _hide(self, frames: slice, *, hidden: bool = True) -> None:
        """Hide the selected points in frames, or show them again."""
        session, sequence = self._session, self._session.sequence
        if sequence is None or not session.selection:
            self._notifier.show_status(SELECT_FIRST)
            return
        before = session.excluded
        mask: Bools = np.zeros(sequence.visible.shape, dtype=bool) if before is None else before.copy()
        mask[frames, list(session.selection)] = hidden
        if hidden and not (sequence.visible & ~mask).any(axis=1).all():
            frame = int(np.flatnonzero(~(sequence.visible & ~mask).any(axis=1))[0])
            self._notifier.warn(f"Nothing is hidden: frame {frame + 1} would be left without any point.")
            return
        changed = 0 if before is None else int((before & sequence.visible).sum())
        changed = abs(int((mask & sequence.visible).sum()) - changed)
        session.set_settings(with_excluded(session.settings, mask))
        count = f"{changed} observation{'s' * (changed != 1)}"
        done = "hidden from the solver" if hidden else "used again"
        self._notifier.show_status(f"{count} {done}{self._what_follows() if changed else ''}")

    def _what_follows(self) -> str:
        return "" if self._session.live else ": press Run (Ctrl+R) to solve without them"
