"""The rows of the form of parameters, section by section; what they hold is read by `parameters`."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from core import METHODS, PRESETS, CameraModel, Settings
from core.reconstruction import INTRINSICS_SOURCES, ROTATION_SOURCES
from core.solvers import PROBLEMS
from nrsfm_gui.panels.parameters.method_editor import METHOD_TIP, MethodEditor
from nrsfm_gui.panels.parameters.penalty_editor import PenaltyEditor
from nrsfm_gui.widgets.drag_number import Scale
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.form import Collapsible, Form
from nrsfm_gui.widgets.sources import Choice, SourceChoice

PRESET_TIPS = {
    "recommended": "rotation candidates chosen by loss, rigid start, rank grown at the final xi",
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
INTRINSICS_TITLES = {
    "auto": "automatic",
    "gt": "from the ground truth",
    "calibrated": "tracks are calibrated",
}
# name: label, whole, optional, tip
NUMBERS: dict[str, tuple[str, bool, bool, str]] = {
    "rank": ("rank K", True, False, "Number of basis shapes: a whole number, 1 to min(F, 3P)."),
    "eta": ("eta", False, False, "pOSE weight, above 0 and at most 1: near 0 is perspective, 1 is affine."),
    "rotation_rank": (
        "rotation rank",
        True,
        True,
        "Rank of the factorization that the rotations come from, at least 1. Empty: several, chosen by loss.",
    ),
    "starts": (
        "starts",
        True,
        False,
        "Starting points that are searched, at least 1: rigid then grown, then random.",
    ),
    "seed": (
        "seed",
        True,
        False,
        "Seed of the random starts: a whole number, 0 or more. Same seed, same result.",
    ),
    "tolerance": ("tolerance", False, False, "Stop at a predicted relative decrease below this; 0 to 1."),
    "max_iterations": ("max. iterations", True, False, "Iterations per phase, at least 1."),
}
SCALES = {"rank": Scale(1, 20, whole=True), "eta": Scale(1e-3, 1.0)}  # of the numbers that can be dragged
DEFAULTS = {name: float(getattr(Settings(), name)) for name in SCALES}
TIPS = {name: row[3] for name, row in NUMBERS.items()} | {
    "preset": "A whole set of parameters at once.",
    "problem": "What is minimized.",
    "method": METHOD_TIP,
    "rotations": "Where the rotation of every frame comes from.",
    "intrinsics": "How pixels become calibrated units.",
}
LOW_RANK_TIPS = {
    "rank": "Rank of the matrix: a whole number, 1 to min(P, 3F). 4 is a rigid scene in perspective.",
    "eta": "pOSE weight, above 0 and below 1: near 0 is perspective, near 1 is affine.",
    "starts": "Starting points at most, at least 1: closed form, grown, then random, until three agree.",
    "intrinsics": "K of the metric upgrade that shows the scene in 3-D; the matrix itself needs none.",
}
SECTIONS = (("Model", ("rank", "eta")), ("Cameras", ("rotation_rank",)), ("Solver", ("starts",)))
ADVANCED = ("seed", "tolerance", "max_iterations")


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
