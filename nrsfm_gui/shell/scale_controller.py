"""Sets the scale: shows its dialog, follows the selection meanwhile, and changes the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.shell.scale_dialog import ScaleDialog
from nrsfm_gui.widgets.fit_to_screen import show_on_screen

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.model.session import Session


class ScaleController(QObject):
    """Owns the dialog of the scale."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._dialog: ScaleDialog | None = None
        session.selection_changed.connect(self._on_selection_changed)

    def show(self) -> None:
        """Show the dialog with the present scale, or the two points that are selected."""
        session, sequence = self._session, self._session.sequence
        if sequence is None:
            return
        if self._dialog is None:
            self._dialog = ScaleDialog(self._window)
            self._dialog.chosen.connect(self._on_chosen)
        remark = ""
        if sequence.truth is not None and session.alignment.compares:
            remark = (
                f"Shapes are aligned with the {sequence.truth_name} at present, and in its unit "
                f"({sequence.truth_units}); the scale is used without an alignment, and in exports."
            )
        self._dialog.set_scale(session.settings.scale, point_count=sequence.point_count, remark=remark)
        self._dialog.set_selection(session.selection)
        show_on_screen(self._dialog)

    def _on_selection_changed(self, points: tuple[int, ...]) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.set_selection(points)

    def _on_chosen(self, rule: str | None) -> None:
        session = self._session
        session.set_settings(session.settings.with_changes(scale=rule))
        session.notifier.show_status("Shapes have no unit" if rule is None else f"The scale is {rule}")
