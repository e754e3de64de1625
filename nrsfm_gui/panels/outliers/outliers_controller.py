"""Outliers of the reconstruction that is shown: found, hidden and counted in rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject

from core.evaluation import bilinear_residuals, find_outliers
from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.model.excluded import with_excluded
from nrsfm_gui.panels.outliers.outliers_panel import OutliersState
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.text.status_text import solved_point
from nrsfm_gui.widgets.dock_title import show_dock_of

if TYPE_CHECKING:
    from core import Iterate, Sequence
    from core.evaluation import Outliers
    from core.foundation import Floats
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.outliers.outliers_panel import OutliersPanel


class OutliersController(QObject):
    """Finds outliers while the panel is visible and no run is active."""

    def __init__(self, session: Session, panel: OutliersPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._panel, self._notifier = session, panel, session.notifier
        # Of an iterate, under what is hidden.
        self._residuals: tuple[Iterate, str | None, Floats] | None = None
        self._threshold: float | None = None  # that was dragged; None for the suggested one
        self._suggested = 0.0
        self._found: Outliers | None = None
        self._rounds: list[str] = []  # what was hidden after each round
        self._updater = PanelUpdater(self._resolve, panel.set_state, self)
        panel.threshold_requested.connect(self._on_threshold_requested)
        panel.hide_requested.connect(self.hide_all)
        panel.observation_chosen.connect(self._on_observation_chosen)
        panel.became_visible.connect(self._updater.run)
        session.sequence_changed.connect(self._on_sequence_changed)
        for signal in (
            session.settings_changed, session.shown_changed, session.run_changed, session.moment_changed,
            session.sequence_changed,
        ):  # fmt: skip
            signal.connect(self._request)

    def show(self) -> None:
        """Bring the panel to the front."""
        show_dock_of(self._panel)
        self._updater.run()

    def hide_all(self) -> None:
        """Hide all outliers from the solver."""
        session, sequence, found = self._session, self._session.sequence, self._found
        if sequence is None or found is None or not found.count:
            return
        before = session.excluded
        mask = found.mask if before is None else found.mask | before
        empty = np.flatnonzero(~(sequence.visible & ~mask).any(axis=1))
        if len(empty):
            self._notifier.warn(f"Nothing is hidden: frame {empty[0] + 1} would be left without any point.")
            return
        session.set_settings(with_excluded(session.settings, mask))
        hide = session.settings.hide
        assert hide is not None  # something was found
        self._rounds.append(hide)
        many = f"{found.count} observation{'s' * (found.count != 1)} hidden from the solver"
        self._notifier.show_status(f"{many}: Ctrl+Z shows them again")

    @property
    def round(self) -> int:
        """The number of the present round, from 1: one more than those whose outliers are hidden."""
        hide = self._session.settings.hide
        if hide is None:
            return 1
        return 2 + (self._rounds.index(hide) if hide in self._rounds else len(self._rounds) - 1)

    def _request(self, *_: object) -> None:
        if self._panel.isVisible():
            self._updater.request()

    def _on_sequence_changed(self, _sequence: Sequence) -> None:
        self._residuals, self._found, self._threshold, self._rounds = None, None, None, []

    def _on_threshold_requested(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._updater.run()

    def _on_observation_chosen(self, frame: int, point: int) -> None:
        self._session.set_frame(frame)
        self._session.set_point(point)

    def _resolve(self) -> OutliersState:
        session, sequence, seen = self._session, self._session.sequence, self._session.seen
        excluded = session.excluded
        hidden = 0 if excluded is None or sequence is None else int((excluded & sequence.visible).sum())
        active = session.active_run is not None
        if sequence is None or seen is None:
            return OutliersState(can_show=bool(hidden))
        unsolved = seen.settings.hide != session.settings.hide
        if not active:
            self._find(sequence, seen)
        found, of = self._found, solved_point(seen)
        return OutliersState(
            found,
            self._suggested,
            sequence.units,
            of,
            sentence=self._words(found, hidden, unsolved, active, of),
            can_hide=bool(found is not None and found.count and not active),
            can_solve=(unsolved or bool(hidden)) and not active,
            can_show=bool(hidden),
        )

    def _find(self, sequence: Sequence, seen: Iterate) -> None:
        """Find the outliers of an iterate among what is not hidden now."""
        known, hide = self._residuals, self._session.settings.hide
        if known is None or known[0] is not seen or known[1] != hide:
            residuals = bilinear_residuals(sequence, seen)
            excluded = self._session.excluded
            if excluded is not None:
                residuals = np.where(excluded, np.nan, residuals)
            if known is None or known[0] is not seen:
                self._threshold, self._suggested = None, find_outliers(residuals).threshold
            self._residuals = seen, hide, residuals
            self._found = None
        assert self._residuals is not None  # as just made
        threshold = self._threshold or self._suggested
        if self._found is None or self._found.threshold != threshold:
            usable = threshold if threshold > 0 else None
            self._found = find_outliers(self._residuals[2], threshold=usable)

    def _words(self, found: Outliers | None, hidden: int, unsolved: bool, active: bool, of: str) -> str:
        """Return what was found, in words. The residuals are `of` a solution, "" of what is shown."""
        session = self._session
        unit = "" if session.sequence is None else session.sequence.units
        if active:
            return "A run is under way"
        if unsolved:
            what = f"{hidden} observation{'s' * (hidden != 1)} hidden" if hidden else "None is hidden now"
            return f"{what}: press Solve again"
        if found is None:
            return ""
        head = f"Round {self.round}: " if self.round > 1 else ""
        more = " more" if self.round > 1 else ""
        limit = measure(found.threshold, unit) + (f" in {of}" if of else "")
        if not found.count:
            return f"{head}no{more} observation exceeds {limit}"
        drifting = len(found.drifting)
        words = (
            f"{head}{found.count}{more} of {int(np.isfinite(found.residuals).sum())} "
            f"({100 * found.share:.2g} %) exceed{'s' * (found.count == 1)} {limit}"
        )
        return words + (f"; {drifting} point{'s drift' if drifting > 1 else ' drifts'}" if drifting else "")
