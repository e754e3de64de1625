"""The form of the parameters: those that are changed often, and the section "Advanced" with the others.

`parameters_panel` reads its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, pyqtSignal
from PyQt6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from core import METHODS, PRESETS, CameraModel, ExplicitWeights, Settings
from core.foundation import DEPTHS, WNN
from core.penalties import penalty_name
from core.problem import LOSSES
from core.reconstruction import (
    CAMERA_MODELS,
    INTRINSICS_SOURCES,
    LOW_RANK_TIPS,
    OBJECTIVES,
    ROTATION_SOURCES,
    SETTINGS,
)
from core.solvers import PROBLEMS
from nrsfm_gui.model.changes import Difference, differences
from nrsfm_gui.panels.parameters.given_intrinsics import GivenIntrinsics
from nrsfm_gui.panels.parameters.method_editor import METHOD_TIP, MethodEditor
from nrsfm_gui.panels.parameters.penalty_editor import ADVANCED_NUMBERS, FIRST, PenaltyEditor
from nrsfm_gui.panels.parameters.source_choice import SourceChoice
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.widgets.drag_number import scale_of
from nrsfm_gui.widgets.fields import Choice, NumberField
from nrsfm_gui.widgets.form import ROW_GAP, Collapsible, Form, align, value_details
from nrsfm_gui.widgets.labels import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Iterator

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
OBJECTIVE_TITLES = {DEPTHS: "depths along the rays", WNN: "weighted nuclear norm"}
TIPS = {name: described.tip for name, described in SETTINGS.items()} | {
    "preset": "All parameters at once.",
    "problem": "What is minimized.",
    "method": METHOD_TIP,
}
NUMBERS = {
    name: described for name, described in SETTINGS.items() if not (described.text or described.choices)
}
DETAILS = {name: value_details(described, getattr(Settings(), name)) for name, described in SETTINGS.items()}
AUTOMATIC = "auto"  # in the field of a number that need not be given, next to a slider
OF_DEPTHS = ("isometry", "smallest_movement", "noise", "neighbors", "mirror")
SOURCES = ("rotations", "intrinsics")  # texts that have editors of their own
TEXTS = tuple(name for name, described in SETTINGS.items() if described.text and name not in SOURCES)
# The settings of the section "Advanced", by heading; to "Search" and "Penalty" belong the options of the
# method and the numbers of the penalty that are changed less often.
ADVANCED = {
    "Search": ("starts", "seed", "tolerance", "max_iterations"),
    "Penalty": (),
    "Cameras": ("rotations", "rotation_rank"),
    "Loss": ("loss", "loss_scale"),
    "Depths": ("objective", *OF_DEPTHS),
    "Data": ("hide", "scale"),
}
ADVANCED_KEYS = {  # of differences
    "method",
    *(name for names in ADVANCED.values() for name in names),
    *(f"penalty {name}" for name in ADVANCED_NUMBERS),
}
SYMBOLS = {
    "rank": ("K", "r"),
    "eta": ("η",),
    "xi": ("ξ",),
    "mu": ("μ",),
    "gamma": ("γ",),
    "epsilon": ("ε",),
    "theta": ("θ",),
    "rho": ("ρ",),
    "tau": ("τ",),
    "damping": ("λ", "lambda"),
    "intrinsics": ("K", "f", "focal length"),
    "rotations": ("R",),
    "weights": ("a", "σ", "sigma", "singular values"),
    "noise": ("σ", "sigma"),
}
WEIGHTS_TIP = "The weight of each singular value, dragged in the plot of the singular values."


def preset_of(settings: Settings) -> str:
    """Return the preset of the same problem from which settings differ least."""
    names = [name for name, preset in PRESETS.items() if preset.problem == settings.problem]
    return min(names, key=lambda name: len(differences(PRESETS[name], settings)))


def advanced_differences(settings: Settings) -> tuple[Difference, ...]:
    """Return what of the section "Advanced" differs from the preset.

    The numbers of a penalty that is not that of the preset are compared with those that it has at first.
    """
    preset, penalty = PRESETS[preset_of(settings)], settings.penalty
    if type(penalty) is not type(preset.penalty) and not isinstance(penalty, ExplicitWeights):
        preset = preset.with_changes(penalty=FIRST[penalty_name(penalty)])
    return tuple(
        difference
        for difference in differences(preset, settings)
        if difference.key in ADVANCED_KEYS or difference.key.startswith("option ")
    )


@dataclass(frozen=True)
class ParameterEntry:
    """A parameter that can be found by its name."""

    key: str  # as `ParametersPanel.focus_parameter` accepts it
    label: str
    symbols: tuple[str, ...]  # other names of it
    description: str
    reason: str = ""  # why it has no effect at present


@dataclass(frozen=True)
class ValueEntry:
    """A value of a parameter that is chosen from a list, which can be found by its name."""

    key: str  # of the parameter
    value: str
    title: str
    description: str
    chosen: bool
    reason: str = ""  # why it cannot be chosen at present


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
        rays = "The low-rank problem has no energy of depths: its cameras are not calibrated."
        reasons |= dict.fromkeys(("objective", *OF_DEPTHS), rays)
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
    if settings.objective == WNN:
        off = "It is a parameter of the energy of the depths, which is not the objective."
        reasons = dict.fromkeys(OF_DEPTHS, off) | reasons
    return reasons


class ParameterForm(QWidget):
    """An editor for every setting."""

    edited = pyqtSignal()
    dragged = pyqtSignal()
    chosen = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[str, NumberField] = {}  # of the numbers, by setting
        self.forms: dict[str, Form] = {}  # that the row of a setting is in
        self.preset = Choice({name: PRESET_TIPS[name] for name in (*PRESETS, "custom")}, explained=True)
        self.problem = Choice(PROBLEMS, titles=PROBLEM_TITLES, explained=True)
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
        self.objective = Choice(OBJECTIVES, titles=OBJECTIVE_TITLES)
        self.loss = Choice(LOSSES, titles=LOSS_TITLES)
        self.texts = {name: self._text_field(name) for name in TEXTS}
        self.spectrum_plot = SpectrumPlot()
        self.advanced = self._build()
        for source in (self.rotations, self.intrinsics, self.method, self.penalty):
            source.edited.connect(self.edited)
        self.method.chosen.connect(self.chosen)
        for choice in (self.objective, self.camera_model, self.loss):
            choice.chosen.connect(lambda _key: self.chosen.emit())
        self.penalty.moved.connect(self.dragged)

    def set_noise_estimate(self, noise: float | None, unit: str) -> None:
        """Show in the empty field of the noise what was estimated; None where nothing is known yet."""
        known = "" if noise is None else f"estimated: {noise:.2g} {unit}"
        self.fields["noise"].setPlaceholderText(known or NUMBERS["noise"].absent)

    def set_preset(self, settings: Settings) -> None:
        """Show which preset settings are, or from which they differ, and what of them is in "Advanced"."""
        base = preset_of(settings)
        changed = differences(PRESETS[base], settings)
        self.preset.set_key("custom" if changed else base)
        self.preset.setItemText(self.preset.findData("custom"), f"{base}, changed" if changed else "custom")
        tip = f"Changed: {', '.join(map(str, changed))}." if changed else PRESET_TIPS[base]
        self.forms["preset"].set_tip("preset", f"{TIPS['preset']}\n{tip}")
        folded = [difference.name for difference in advanced_differences(settings)]
        self.advanced.set_summary(f"{len(folded)} changed: {', '.join(folded)}" if folded else "")

    def entries(self) -> Iterator[tuple[str, Form]]:
        """Return the rows that the present problem, method and penalty have, with their forms."""
        for form in self._all_forms:
            yield from ((name, form) for name in form.names if form.is_row_visible(name))

    @property
    def least_width(self) -> int:
        """Pixels that the rows need, also those of a section that is closed."""
        margins = self.contentsMargins() if (layout := self.layout()) is None else layout.contentsMargins()
        return max(form.minimumSizeHint().width() for form in self._all_forms) + (
            margins.left() + margins.right()
        )

    def is_advanced(self, form: Form) -> bool:
        """Return whether a form is in the section "Advanced"."""
        return self.advanced.isAncestorOf(form)

    def changeEvent(self, event: QEvent | None) -> None:
        """Align the rows again under another font."""
        super().changeEvent(event)
        if event is not None and event.type() == QEvent.Type.FontChange and hasattr(self, "_all_forms"):
            self._align()

    def _align(self) -> None:
        align(*self._usual_forms)
        align(*(form for form in self._all_forms if form not in self._usual_forms))

    def _build(self) -> Collapsible:
        model, cameras = Form(), Form()
        for form, name, label, editor in (
            (model, "preset", "preset", self.preset),
            (model, "problem", "problem", self.problem),
        ):
            self._add(form, name, label, editor)
        for name in ("rank", "eta"):
            self._add_setting(model, name)
        for name in ("camera_model", "intrinsics"):
            self._add_setting(cameras, name)
        content = QWidget()
        sections = QVBoxLayout(content)
        sections.setContentsMargins(0, 0, 0, 0)
        sections.setSpacing(4)
        forms = []
        for title, names in ADVANCED.items():
            heading = PlainLabel(title)
            heading.setProperty("role", "heading")
            sections.addWidget(heading)
            if title == "Search":
                sections.addWidget(self.method)
                forms.append(self.method.form)
            if title == "Penalty":
                sections.addWidget(self.penalty.advanced)
                sections.addWidget(self.penalty.weights_list)
                forms.append(self.penalty.advanced)
                continue
            form = Form()
            for name in names:
                self._add_setting(form, name)
            sections.addWidget(form)
            forms.append(form)
        advanced = Collapsible("Advanced", content)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 4, 10, 6)
        layout.setSpacing(2 * ROW_GAP)
        for part in (model, self.penalty, self.spectrum_plot, cameras, advanced):
            layout.addWidget(part, int(part is self.spectrum_plot))
        layout.addStretch(0)
        self._usual_forms = (model, self.penalty.usual, cameras)
        self._all_forms = (*self._usual_forms, *forms)
        self._align()
        return advanced

    def _text_field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(SETTINGS[name].absent)
        field.textEdited.connect(lambda _text: self.edited.emit())
        return field

    def _add_setting(self, form: Form, name: str) -> None:
        if name in NUMBERS:
            self._add_number(form, name)
        else:
            editors: dict[str, QWidget] = {
                "camera_model": self.camera_model,
                "intrinsics": self.intrinsics,
                "rotations": self.rotations,
                "objective": self.objective,
                "loss": self.loss,
            }
            self._add(form, name, SETTINGS[name].title, editors.get(name) or self.texts[name])

    def _add(self, form: Form, name: str, label: str, editor: QWidget) -> None:
        form.add(name, label, editor, tip=TIPS[name], details=DETAILS.get(name, ""))
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
        form.add_draggable(
            name, described.title, field, scale, tip=described.tip, default=default, details=DETAILS[name]
        )
        self.forms[name] = form
