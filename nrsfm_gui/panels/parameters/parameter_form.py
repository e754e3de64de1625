"""The rows of the form of parameters, section by section; what they hold is read by `parameters`."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from core import PRESETS
from core.reconstruction import INTRINSICS_SOURCES, ROTATION_SOURCES
from core.solvers import PROBLEMS
from nrsfm_gui.panels.parameters.method_editor import MethodEditor
from nrsfm_gui.panels.parameters.parameter_rows import (
    ADVANCED,
    DEFAULTS,
    INTRINSICS_TITLES,
    NUMBERS,
    PRESET_TIPS,
    PROBLEM_TITLES,
    ROTATION_TITLES,
    SCALES,
    SECTIONS,
    TIPS,
)
from nrsfm_gui.panels.parameters.penalty_editor import PenaltyEditor
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.form import Collapsible, Form
from nrsfm_gui.widgets.sources import Choice, SourceChoice


class ParameterForm(QWidget):
    """An editor for every setting.

    Signals
    -------
    edited(), dragged(), chosen()
        something was typed; a number was dragged; one of a few was chosen.
    """

    edited = pyqtSignal()
    dragged = pyqtSignal()
    chosen = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[str, NumberField] = {}  # of the numbers, by setting
        self.forms: dict[str, Form] = {}  # that the row of a setting is in
        self.preset = Choice({name: PRESET_TIPS[name] for name in (*PRESETS, "custom")})
        self.problem = Choice(PROBLEMS, titles=PROBLEM_TITLES)
        self.method = MethodEditor()
        self.rotations = SourceChoice(
            ROTATION_SOURCES, titles=ROTATION_TITLES, file_tip="an .npz file that holds R (F, 3, 3)"
        )
        self.intrinsics = SourceChoice(
            INTRINSICS_SOURCES,
            titles=INTRINSICS_TITLES,
            file_tip="a file that holds K (3, 3)",
            numbers_tip="focal lengths and principal point, in pixels",
        )
        self.penalty = PenaltyEditor()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 6, 10, 10)
        self._layout.setSpacing(6)
        self._build()
        for source in (self.rotations, self.intrinsics, self.method, self.penalty):
            source.edited.connect(self.edited)
        self.method.chosen.connect(self.chosen)
        self.penalty.moved.connect(self.dragged)

    def _build(self) -> None:
        top = Form()
        top.add("preset", "preset", self.preset, tip=TIPS["preset"])
        self._layout.addWidget(top)
        for title, names in SECTIONS:
            form = self._section(title)
            if title == "Model":
                self._add(form, "problem", "problem", self.problem)
            if title == "Cameras":
                self._add(form, "rotations", "rotations", self.rotations)
            if title == "Solver":
                self._layout.insertWidget(self._layout.count() - 1, self.method)
            for name in names:
                self._add_number(form, name)
            if title == "Cameras":
                self._add(form, "intrinsics", "intrinsics", self.intrinsics)
            if title == "Model":
                self._layout.addWidget(self.penalty)
        advanced = Form()
        for name in ADVANCED:
            self._add_number(advanced, name)
        self.advanced = Collapsible("Advanced", advanced)
        self._layout.addWidget(self.advanced)
        self._layout.addStretch(1)

    def _section(self, title: str) -> Form:
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        line = QFrame()
        line.setProperty("role", "line")
        form = Form()
        top = QVBoxLayout()
        top.setSpacing(3)
        top.setContentsMargins(0, 6, 0, 0)
        top.addWidget(heading)
        top.addWidget(line)
        self._layout.addLayout(top)
        self._layout.addWidget(form)
        return form

    def _add(self, form: Form, name: str, label: str, editor: QWidget) -> None:
        form.add(name, label, editor, tip=TIPS[name])
        self.forms[name] = form

    def _add_number(self, form: Form, name: str) -> None:
        label, whole, optional, _tip = NUMBERS[name]
        field = NumberField(whole=whole, optional=optional)
        if optional:
            field.setPlaceholderText("several, chosen by loss")
        field.edited.connect(self.edited)
        field.dragged.connect(self.dragged)
        self.fields[name] = field
        if name in SCALES:
            form.add_scrubbed(name, label, field, SCALES[name], tip=TIPS[name], default=DEFAULTS[name])
            self.forms[name] = form
        else:
            self._add(form, name, label, field)
