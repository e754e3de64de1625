"""The dialog of the scale of the object, which is one of the parameters."""

from __future__ import annotations

from collections.abc import Collection

from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QVBoxLayout, QWidget

from core import InputError
from core.reconstruction import UNITS, parse_scale
from nrsfm_gui.model.session import Session
from nrsfm_gui.widgets.dialogs import show_on_screen
from nrsfm_gui.widgets.fields import Choice, NumberField, PairField, filled, form_layout, with_tip
from nrsfm_gui.widgets.labels import PlainLabel, known

DISTANCE, SIZE, NOTHING = "distance", "size", "nothing"
KINDS = {
    DISTANCE: "the distance of two points, on average over the frames",
    SIZE: "the largest distance of two points of a frame, in the median frame",
    NOTHING: "shapes have no unit",
}
TITLES = {DISTANCE: "distance of two points", SIZE: "size of the object", NOTHING: "nothing"}
HINT = "Two points that are selected in a view appear here."


class ScaleDialog(QDialog):
    """Edits the rule of the scale; never modal, so that points can be selected meanwhile."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Set the scale")
        self._session = session
        self._point_count = 0
        self._remark = ""  # where the rule has no effect
        self.kind = Choice(KINDS, titles=TITLES)
        self._points = PairField("and", ("First point, counted from 1", "Second point, counted from 1"))
        self.points = self._points.first, self._points.second
        self.length = NumberField()
        self.unit = Choice(dict.fromkeys(UNITS, "unit of the length, and of all shapes"))
        self.unit.set_key("mm")
        for widget, title in (
            (self.kind, "What is known"),
            (self.length, "Length"),
            (self.unit, "Unit of the length"),
        ):
            with_tip(widget, title, title)
        self._length_row = QWidget()
        filled(QHBoxLayout(self._length_row), self.length, self.unit)
        self._form = form_layout()
        self._form.addRow("Known is the", self.kind)
        self._form.addRow("of points", self._points)
        self._form.addRow("which is", self._length_row)
        self.note = PlainLabel(role="muted", wraps=True)
        self.note.setMinimumWidth(320)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        filled(QVBoxLayout(self), self._form, self.note, self.buttons, margins=None)
        for changed in (self._points.edited, self.length.edited, self.kind.chosen, self.unit.chosen):
            changed.connect(self._show)
        session.selection_changed.connect(self._on_selection_changed)

    def show_scale(self) -> None:
        """Show the dialog with the present scale, or the two points that are selected."""
        session, sequence = self._session, self._session.sequence
        if sequence is None:
            return
        self._point_count, self._remark = sequence.point_count, ""
        if sequence.truth is not None and session.alignment.compares:
            self._remark = (
                f"Shapes are aligned with the {sequence.truth_name} at present, and in its unit "
                f"({sequence.truth_units}); the scale is used without an alignment, and in exports."
            )
        text = session.settings.scale
        rule = None if text is None else parse_scale(text)
        self.kind.set_key(SIZE if rule is not None and rule.points is None else DISTANCE)
        if rule is not None:
            self.length.set_value(rule.length)
            self.unit.set_key(rule.unit)
            self._show_points(rule.points or ())
        self._show_points(session.selection)
        self._show()
        show_on_screen(self)

    def rule(self) -> str | None:
        """Return the rule that the fields hold, None for none. Raises ValueError where they hold no rule."""
        if self.kind.key == NOTHING:
            return None
        length, distance = self.length.value(), self.kind.key == DISTANCE
        what = "-".join(str(field.value()) for field in self.points) if distance else SIZE
        rule = parse_scale(f"{what}={length}{self.unit.key}")
        rule.check(self._point_count)
        return str(rule)

    def _on_selection_changed(self, points: tuple[int, ...]) -> None:
        if self.isVisible():
            self._show_points(points)
            self._show()

    def _show_points(self, points: Collection[int]) -> None:
        """Show two points, counted from 0; other numbers of points change nothing."""
        if len(points) == 2:
            for field, point in zip(self.points, sorted(points), strict=True):
                field.set_value(point + 1)

    def _show(self, *_: object) -> None:
        """Show the rows of what is known, and whether it can be accepted."""
        kind = self.kind.key
        self._form.setRowVisible(self._points, kind == DISTANCE)
        self._form.setRowVisible(self._length_row, kind != NOTHING)
        ok = known(self.buttons.button(QDialogButtonBox.StandardButton.Ok))  # it is one of the two
        try:
            self.rule()
            refusal = ""
        except (ValueError, InputError) as error:
            refusal = str(error)
        ok.setEnabled(not refusal)
        needed = {DISTANCE: (*self.points, self.length), SIZE: (self.length,)}.get(kind, ())
        empty = any(not field.text().strip() for field in needed)
        hint = HINT if kind == DISTANCE else ""
        sentences = [hint if empty or not refusal else f"{refusal[0].upper()}{refusal[1:]}.", self._remark]
        self.note.setText(" ".join(sentence for sentence in sentences if sentence))

    def accept(self) -> None:
        """Give the parameters the rule."""
        rule = self.rule()
        self._session.set_settings(self._session.settings.with_changes(scale=rule))
        self._session.notifier.show_status("Shapes have no unit" if rule is None else f"The scale is {rule}")
        super().accept()
