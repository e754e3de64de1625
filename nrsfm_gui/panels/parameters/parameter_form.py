"""The form of the parameters: those of the present objective, and the others in sections that are folded.

The weighted nuclear norm is the objective, or gives the start of another one: then its parameters are folded,
too. `parameters_panel` reads the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from PyQt6.QtCore import QEvent, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core import METHODS, PRESETS, CameraModel, ExplicitWeights, Settings
from core.foundation import DEPTHS, WNN
from core.penalties import penalty_name
from core.problem import LOSSES
from core.reconstruction import (
    CAMERA_MODELS,
    INTRINSICS_SOURCES,
    LOW_RANK_TIPS,
    OBJECTIVE_OF,
    OBJECTIVES,
    ROTATION_SOURCES,
    SETTINGS,
    nearest_preset,
)
from core.solvers import PROBLEMS
from nrsfm_gui.model.changes import Difference, differences
from nrsfm_gui.panels.parameters.kind_editors import FIRST, METHOD_TIP, MethodEditor, PenaltyEditor
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.panels.parameters.value_editors import (
    Editor,
    GivenIntrinsics,
    ModesField,
    ParameterRows,
    SourceChoice,
)
from nrsfm_gui.widgets.fields import Choice, NumberField, filled
from nrsfm_gui.widgets.form import ROW_GAP, FoldedSections, Form, align, order_focus, value_details
from nrsfm_gui.widgets.labels import PlainLabel

CUSTOM, SAVE, REMOVE = "custom", "save...", "remove..."  # entries of the list of presets besides their names
PRESET_TIPS = {
    "recommended": "the bilinear solution, then the depths along the rays from it and from other rotations",
    "bilinear": "rotation candidates chosen by loss, rigid start, rank grown at the final xi",
    "paper": "the paper's settings exactly: ADMM, then the bilinear form",
    "lowrank": "a rigid scene from uncalibrated tracks: rank 4, and what goes beyond it is suppressed",
    CUSTOM: "none of the presets",
}
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
LOWRANK = "lowrank"  # the objective of the low-rank problem, which has one only
OBJECTIVE_TITLES = {DEPTHS: "depths along the rays", WNN: "weighted nuclear norm", LOWRANK: "low-rank matrix"}
OBJECTIVE_TIP = "What is minimized, and with it which parameters there are."
MODES_TIP = (
    "Weights of the modes in which the shape deviates from its mean, the largest mode first, such as "
    "1, 1, 20; they do not decrease, and the last one is of all smaller modes. A heavier mode occurs less."
)
TIPS = {name: described.tip for name, described in SETTINGS.items()} | {
    "preset": "All parameters at once.",
    "objective": OBJECTIVE_TIP,
    "method": METHOD_TIP,
    "mode_weights": MODES_TIP,
}
DETAILS = {name: value_details(described, getattr(Settings(), name)) for name, described in SETTINGS.items()}
AUTOMATIC = "auto"  # in the field of a number that need not be given, next to a slider
ALIKE = "1: all alike"  # in the empty field of the weights of the modes
SOURCES = ("rotations", "intrinsics")  # texts that have editors of their own
PLAIN = ("mode_weights", *(name for name in SETTINGS if name != "objective"))  # settings that are rows
OF_DEPTHS = tuple(name for name, objective in OBJECTIVE_OF.items() if objective == DEPTHS)
USUAL_CAMERAS = ("camera_model", "intrinsics")  # the other parameters of cameras are folded
START = "The weighted nuclear norm gives the start. Changes here are for the next run."
START_TITLES = {DEPTHS: "Start", WNN: "Options"}
FOLDED = ("Start", "Cameras", "Search", "Data")  # sections; "Start" has another title where it is no start
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
    "objective": ("problem",),
    "mode_weights": ("w", "weights", "λ", "σ", "sigma", "modes", "singular values"),
    "smallest_movement": ("eps", "ε"),
}
WEIGHTS_TIP = "The weight of each singular value, dragged in the plot of the singular values."


def changes_of(settings: Settings) -> tuple[Difference, ...]:
    """Return what differs from the nearest preset.

    The numbers of a penalty that is not that of the preset are compared with those that it has at first. The
    unit and what is up are of no preset.
    """
    preset, penalty = PRESETS[nearest_preset(settings, differences)], settings.penalty
    settings = settings.shown_as(preset)
    if type(penalty) is type(preset.penalty) or isinstance(penalty, ExplicitWeights):
        return differences(preset, settings)
    first = preset.with_changes(penalty=FIRST[penalty_name(penalty)])
    own = differences(preset, settings.with_changes(penalty=first.penalty))
    return own + tuple(each for each in differences(first, settings) if each not in own)


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
    if not settings.searches_starts:
        reasons["starts"] = "Depths start from the candidates for the rotations."
    if method.on_matrix:
        closed = f"{method.title} starts from the closed form."
        reasons |= {"starts": closed, "seed": closed}
        if method.refined is None:
            reasons["tolerance"] = f"{method.title} has no second-order step that it would end."
    if settings.loss == "squared":
        reasons["loss_scale"] = "Least squares has no scale: choose a robust loss first."
    return reasons


class ParameterForm(QWidget):
    """An editor for every setting; `rows` has all that are in rows of one parameter."""

    folded_changed = pyqtSignal(str)  # what is folded and not as in the preset, in words; "" for nothing

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = ParameterRows(self)
        self.own_presets: Mapping[str, Settings] = {}  # by the names that a person gave them
        self.preset = Choice({}, explained=True)
        tip = "an .npz file that holds R (F, 3, 3)"
        self.rotations = SourceChoice(ROTATION_SOURCES, titles=ROTATION_TITLES, file_tip=tip)
        self.camera_model = Choice(CAMERA_MODELS, titles=CAMERA_TITLES)
        self.given, tip = GivenIntrinsics(), "a file that holds K (3, 3)"
        self.intrinsics = SourceChoice(
            INTRINSICS_SOURCES, titles=INTRINSICS_TITLES, file_tip=tip, numbers=self.given
        )
        self.objective = Choice(
            {**OBJECTIVES, LOWRANK: PROBLEMS["lowrank"]}, titles=OBJECTIVE_TITLES, explained=True
        )
        self.loss = Choice(LOSSES, titles=LOSS_TITLES)
        self.spectrum_plot = SpectrumPlot()
        self.sections = self._build()
        self._align()

    def set_noise_estimate(self, noise: float | None, unit: str) -> None:
        """Show the noise that the last refinement estimated, in the units of the tracks; None for none."""
        known = AUTOMATIC if noise is None else f"{noise:.2g} {unit}"
        self.rows.forms["noise"].set_automatic("noise", known, noise)

    def set_objective(self, settings: Settings) -> None:
        """Show the parameters of an objective, and those of a start below "Start"."""
        depths = settings.objective == DEPTHS
        self.objective.set_key(LOWRANK if settings.problem == "lowrank" else settings.objective)
        for name in OF_DEPTHS:
            self.rows.forms[name].set_row_visible(name, depths)
        place = self._start if depths else self._top
        if place.indexOf(self.norm) < 0:
            place.insertWidget(1, self.norm)
            self.norm.show()  # another parent hides it
            order_focus(self)
        self._start_note.setVisible(depths)
        self.sections.set_title("Start", START_TITLES[settings.objective])

    def set_own_presets(self, presets: Mapping[str, Settings]) -> None:
        """Offer presets that a person has named, after the others."""
        self.own_presets = presets
        self.preset.clear()
        for name in (*PRESETS, CUSTOM):
            self.preset.add(name, name, PRESET_TIPS[name])
        for name, settings in presets.items():
            changed = ", ".join(each.name for each in changes_of(settings))
            self.preset.add(name, name, f"your own: {nearest_preset(settings, differences)}, other {changed}")
        self.preset.add(SAVE, "Save as preset…", "gives these parameters a name")
        self.preset.add(REMOVE, "Remove preset", "forgets the name of these parameters")

    def set_preset(self, settings: Settings) -> None:
        """Show which preset settings are, or from which they differ, and what of them is folded."""
        base = nearest_preset(settings, differences)
        changed = differences(PRESETS[base], settings)
        own = next((name for name, each in self.own_presets.items() if each == settings), None)
        self.preset.set_key(own or (CUSTOM if changed else base))
        self.preset.setItemText(self.preset.findData(CUSTOM), f"{base}, changed" if changed else CUSTOM)
        self.preset.set_available(
            SAVE, own is None and bool(changed), why_not="These parameters are a preset already."
        )
        self.preset.set_available(REMOVE, own is not None, why_not="Choose one of your own first.")
        tip = f"Changed: {', '.join(map(str, changed))}." if changed else PRESET_TIPS[base]
        self._model.set_tip("preset", f"{TIPS['preset']}\n{tip}")
        folded: dict[str, list[str]] = {name: [] for name in FOLDED}
        for each in changes_of(settings):
            row = "penalty" if each.key == "weights" else each.key.rpartition(" ")[2]
            form = next((form for form in self._all_forms if row in form), None)
            folded.get(self.sections.section_of(form), []).append(each.name)
        self.sections.set_changes(folded)
        names = ", ".join(name for names in folded.values() for name in names)
        self.folded_changed.emit(f"Changed: {names}" if names else "")

    def entries(self) -> Iterator[tuple[str, Form]]:
        """Return the rows that the present problem, method and penalty have, with their forms."""
        for form in self._all_forms:
            yield from ((name, form) for name in form.rows if form.is_row_visible(name))

    @property
    def least_width(self) -> int:
        """Pixels that the rows need, also those of a section that is closed."""
        margins = self._top.contentsMargins()
        widest = max(part.minimumSizeHint().width() for part in (*self._all_forms, self.sections))
        return widest + margins.left() + margins.right()

    def changeEvent(self, event: QEvent | None) -> None:
        """Align the rows again under another font."""
        super().changeEvent(event)
        if event is not None and event.type() == QEvent.Type.FontChange and hasattr(self, "sections"):
            self._align()

    def _align(self) -> None:
        folded = [form for form in self._all_forms if self.sections.section_of(form)]
        usual = [form for form in self._all_forms if form not in folded or form is self.norm]
        align(*usual)
        align(*(form for form in self._all_forms if form not in usual))

    def _build(self) -> FoldedSections:
        model, norm, depths, cameras, options, numbers = (Form() for _ in range(6))
        self._model, self.norm = model, norm  # `norm` is of the objective, or of its start
        self.set_own_presets({})
        model.add("preset", "preset", self.preset, tip=TIPS["preset"])
        model.add("objective", "objective", self.objective, tip=OBJECTIVE_TIP, details=DETAILS["objective"])
        modes = ModesField(ALIKE)
        depths.add("mode_weights", "weights", modes, tip=MODES_TIP)
        self.rows.keep(depths, "mode_weights", modes)
        self.method = MethodEditor(self.rows, norm, options)
        self._add_settings(norm, ("rank", "eta"))
        self.penalty = PenaltyEditor(self.rows, norm, numbers)
        self.penalty.weights_list.rebuilt.connect(lambda: order_focus(self))
        self._add_settings(depths, _of_section("Depths"))
        self._add_settings(cameras, USUAL_CAMERAS)
        self._start_note = PlainLabel(START, role="muted", wraps=True)
        content: dict[str, tuple[QWidget, ...]] = {
            "Start": (self._start_note, numbers, self.penalty.weights_list, options)
        }
        forms = [model, norm, depths, cameras, options, numbers]
        for title in FOLDED[1:]:
            form = Form()
            self._add_settings(form, [name for name in _of_section(title) if name not in USUAL_CAMERAS])
            content[title] = (form,)
            forms.append(form)
        inner = {title: QWidget() for title in content}
        columns = {
            title: filled(QVBoxLayout(inner[title]), *parts, spacing=4) for title, parts in content.items()
        }
        self._start = columns["Start"]
        folded, plot = FoldedSections(inner), self.spectrum_plot
        parts = (model, self.norm, plot, depths, cameras, folded)
        self._top = filled(QVBoxLayout(self), *parts, grows=plot, spacing=2 * ROW_GAP, margins=(12, 4, 10, 6))
        self._top.addStretch(0)
        self._all_forms = tuple(forms)
        return folded

    def _add_settings(self, form: Form, names: Iterable[str]) -> None:
        """Append rows of settings that are described, in their order."""
        own: dict[str, Editor] = {name: getattr(self, name) for name in ("camera_model", "loss", *SOURCES)}
        for name in names:
            described = SETTINGS[name]
            self.rows.add(form, described, getattr(Settings(), name), own.get(name))
            editor = self.rows.editors[name]
            if isinstance(editor, NumberField) and described.optional and described.slider is not None:
                editor.setPlaceholderText(AUTOMATIC)


def _of_section(title: str) -> list[str]:
    return [name for name, described in SETTINGS.items() if described.section == title]
