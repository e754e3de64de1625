"""The form of the parameters, section by section; `parameters_panel` reads its values."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QFrame, QLabel, QLineEdit, QVBoxLayout, QWidget

from core import METHODS, PRESETS, CameraModel, Settings
from core.problem import LOSSES
from core.reconstruction import (
    CAMERA_MODELS,
    INTRINSICS_SOURCES,
    LOW_RANK_TIPS,
    REFINEMENTS,
    ROTATION_SOURCES,
    SETTINGS,
)
from core.solvers import PROBLEMS
from nrsfm_gui.panels.parameters.given_intrinsics import GivenIntrinsics
from nrsfm_gui.panels.parameters.method_editor import METHOD_TIP, MethodEditor
from nrsfm_gui.panels.parameters.penalty_editor import PenaltyEditor
from nrsfm_gui.panels.parameters.source_choice import SourceChoice
from nrsfm_gui.widgets.drag_number import scale_of
from nrsfm_gui.widgets.fields import Choice, NumberField
from nrsfm_gui.widgets.form import Collapsible, Form

PRESET_TIPS = {
    "recommended": "the bilinear solution, then the depths along the rays from it and from other rotations",
    "bilinear": "rotation candidates chosen by loss, rigid start, rank grown at the final xi",
    "paper": "the paper's settings exactly: ADMM, then the bilinear form",
    "lowrank": "a rigid scene from uncalibrated tracks: rank 4, and what goes beyond it is suppressed",
    "custom": "none of the presets",
}
PROBLEM_TITLES = {"nonrigid": "non-rigid shape", "lowrank": "low-rank matrix"}
ROTATION_TITLES = {
    "best": "best of the candidates",
    "truth": "true cameras",
    "companion": "companion tracks",
    "tracks": "the tracks themselves",
}
CAMERA_TITLES = {"auto": "auto: the sequence's"}
INTRINSICS_TITLES = {
    "auto": "automatic",
    "estimate": "estimated from the tracks",
    "gt": "from the ground truth",
    "calibrated": "tracks are calibrated",
}
LOSS_TITLES = {"squared": "squared: least squares", "huber": "Huber", "cauchy": "Cauchy"}
REFINEMENT_TITLES = {"depth": "on, along the rays", "none": "off"}
TIPS = {name: described.tip for name, described in SETTINGS.items()} | {
    "preset": "All parameters at once.",
    "problem": "What is minimized.",
    "method": METHOD_TIP,
}
NUMBERS = {
    name: described for name, described in SETTINGS.items() if not (described.text or described.choices)
}
AUTOMATIC = "auto"  # in the field of a number that need not be given, next to a slider
OF_REFINEMENT = ("noise", "isometry", "neighbors", "mirror")
SOURCES = ("rotations", "intrinsics")  # texts that have editors of their own
TEXTS = tuple(name for name, described in SETTINGS.items() if described.text and name not in SOURCES)
ADVANCED = tuple(name for name, described in SETTINGS.items() if described.section == "Advanced")


def tips(problem: str) -> dict[str, str]:
    """Return the tips of all rows of a problem."""
    return TIPS | (LOW_RANK_TIPS if problem == "lowrank" else {})


def without_effect(settings: Settings, camera: CameraModel | None) -> dict[str, str]:
    """Return the rows that change nothing under these settings, each with the reason in a sentence."""
    reasons: dict[str, str] = {}
    method = METHODS[settings.method]
    if settings.problem == "lowrank":
        free = "The low-rank problem has no rotations: its cameras are free matrices."
        reasons |= {"rotations": free, "rotation_rank": free}
        rays = "The low-rank problem has no depth refinement: its cameras are not calibrated."
        reasons |= dict.fromkeys(("refine", *OF_REFINEMENT), rays)
        if camera is CameraModel.ORTHOGONAL:
            reasons["intrinsics"] = "Orthogonal tracks come without K: the metric upgrade finds its own."
    elif camera is CameraModel.ORTHOGONAL:
        reasons["eta"] = "Orthogonal tracks are always solved at eta = 1."
        reasons["intrinsics"] = "Orthogonal tracks need no intrinsics."
    if method.on_matrix:
        closed = f"{method.title} starts from the closed form."
        reasons |= {"starts": closed, "seed": closed}
        if method.refined is None:
            reasons["tolerance"] = f"{method.title} has no second-order step that it would end."
    if settings.loss == "squared":
        reasons["loss_scale"] = "Least squares has no scale: choose a robust loss first."
    if settings.refine == "none":
        off = "It is a parameter of the depth refinement, which is off."
        reasons = dict.fromkeys(OF_REFINEMENT, off) | reasons
    return reasons


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
        self.camera_model = Choice(CAMERA_MODELS, titles=CAMERA_TITLES)
        self.given = GivenIntrinsics()
        self.intrinsics = SourceChoice(
            INTRINSICS_SOURCES,
            titles=INTRINSICS_TITLES,
            file_tip="a file that holds K (3, 3)",
            numbers=self.given,
        )
        self.penalty = PenaltyEditor()
        self.refine = Choice(REFINEMENTS, titles=REFINEMENT_TITLES)
        self.loss = Choice(LOSSES, titles=LOSS_TITLES)
        self.texts = {name: self._text_field(name) for name in TEXTS}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 6, 10, 10)
        self._layout.setSpacing(6)
        self._build()
        for source in (self.rotations, self.intrinsics, self.method, self.penalty):
            source.edited.connect(self.edited)
        self.method.chosen.connect(self.chosen)
        for choice in (self.refine, self.camera_model, self.loss):
            choice.chosen.connect(lambda _key: self.chosen.emit())
        self.penalty.moved.connect(self.dragged)

    def set_noise_estimate(self, noise: float | None, unit: str) -> None:
        """Show in the empty field of the noise what was estimated; None where nothing is known yet."""
        known = "" if noise is None else f"estimated: {noise:.2g} {unit}"
        self.fields["noise"].setPlaceholderText(known or NUMBERS["noise"].absent)

    def _build(self) -> None:
        top = Form()
        top.add("preset", "preset", self.preset, tip=TIPS["preset"])
        self._layout.addWidget(top)
        for title in ("Model", "Cameras", "Solver"):
            form = self._section(title)
            if title == "Model":
                self._add(form, "problem", "problem", self.problem)
            if title == "Cameras":
                self._add(form, "camera_model", SETTINGS["camera_model"].title, self.camera_model)
                self._add(form, "intrinsics", "intrinsics", self.intrinsics)
                self._add(form, "rotations", "rotations", self.rotations)
            if title == "Solver":
                self._layout.insertWidget(self._layout.count() - 1, self.method)
            for name, described in NUMBERS.items():
                if name == "loss_scale" and title == described.section:
                    self._add(form, "loss", SETTINGS["loss"].title, self.loss)
                if described.section == title:
                    self._add_number(form, name)
            if title == "Solver":
                self._add(form, "refine", SETTINGS["refine"].title, self.refine)
            if title == "Model":
                self._layout.addWidget(self.penalty)
        advanced = Form()
        for name in ADVANCED:
            if name in NUMBERS:
                self._add_number(advanced, name)
        for name, text in self.texts.items():
            self._add(advanced, name, SETTINGS[name].title, text)
        self.advanced = Collapsible("Advanced", advanced)
        self._layout.addWidget(self.advanced)
        self._layout.addStretch(1)

    def _text_field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(SETTINGS[name].absent)
        field.textEdited.connect(lambda _text: self.edited.emit())
        return field

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
        described = NUMBERS[name]
        field = NumberField(integer=described.integer, optional=described.optional)
        if described.optional:
            field.setPlaceholderText(described.absent if described.slider is None else AUTOMATIC)
        field.edited.connect(self.edited)
        field.dragged.connect(self.dragged)
        self.fields[name] = field
        if described.slider is None:
            self._add(form, name, described.title, field)
            return
        default = getattr(Settings(), name)
        scale = scale_of(described)
        form.add_draggable(name, described.title, field, scale, tip=described.tip, default=default)
        self.forms[name] = form
