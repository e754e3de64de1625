"""The panel Parameters: an editor of `Settings`, with units and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QEvent, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QInputDialog, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from core import METHODS, PRESETS, CameraModel, InputError, Penalty, Sequence, Settings
from core.cameras import Calibration, image_size_of, resolve_intrinsics
from core.data import parse_hidden
from core.foundation import DEPTHS, WNN
from core.io.readers import named_path
from core.penalties import penalty_name
from core.problem import LOSSES
from core.reconstruction import (
    CAMERA_MODELS,
    DEFAULT_PRESETS,
    INTRINSICS_SOURCES,
    OBJECTIVES,
    ROTATION_SOURCES,
    SETTINGS,
    gives_depths,
    nearest_preset,
    suited_penalty,
)
from core.solvers import PROBLEMS
from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce, PanelUpdater
from nrsfm_gui.model.changes import differences
from nrsfm_gui.panels.parameters import parameter_texts as texts
from nrsfm_gui.panels.parameters.kind_editors import TITLES as PENALTY_TITLES
from nrsfm_gui.panels.parameters.kind_editors import MethodEditor, PenaltyEditor
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.panels.parameters.value_editors import (
    Editor,
    GivenIntrinsics,
    ModesField,
    ParameterRows,
    SourceChoice,
)
from nrsfm_gui.text.import_text import calibration_text
from nrsfm_gui.widgets.command_palette import PaletteEntry
from nrsfm_gui.widgets.dock_title import show_dock_of
from nrsfm_gui.widgets.fields import Choice, NumberField, filled, push_button
from nrsfm_gui.widgets.form import ROW_GAP, FoldedSections, Form, align, order_focus
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel, known, tip_as_text

AUTOMATIC = "auto"  # in the field of a number that need not be given, next to a slider
ALIKE = "1: all alike"  # in the empty field of the weights of the modes
LEAST_WIDTH = 300
LINE_MARGIN = 2  # pixels above and below the line under the parameters


class DifferenceBar(QFrame):
    """Shows which parameters wait, or differ from a run's, which it offers; else what is folded and changed.

    It is as high with a text as without one, so that nothing above it moves.
    """

    requested = pyqtSignal(int)  # the number of the run whose parameters are requested

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = -1
        self.text, self.changed = ElidedLabel(role="warning"), ElidedLabel(role="muted")
        self.use = push_button("", "", lambda: self.requested.emit(self._number))
        margins = (6, LINE_MARGIN, 10, LINE_MARGIN)
        filled(QHBoxLayout(self), (self.text, 1), (self.changed, 1), self.use, margins=margins)
        self.set_difference(-1, "")

    def sizeHint(self) -> QSize:
        """Return a height that has room for the button, also where it is hidden."""
        return QSize(super().sizeHint().width(), self.use.sizeHint().height() + 2 * LINE_MARGIN)

    def set_difference(self, number: int, names: str) -> None:
        """Name what differs from a run: "rank, xi"; "" for nothing. A number below 0: say what waits."""
        self._number, differs = number, number >= 0
        self.text.set_full_text(f"Not those of run {number}: {names}" if differs else names)
        self.use.setText(f"Use run {number}'s")
        tip = f"Run {number} is shown, and it was made with other parameters than these: {names}."
        self.use.setToolTip(f"{tip}\nPress to put its parameters here.")
        self.use.setAccessibleName(f"Use the parameters of run {number}")
        self.setToolTip(tip if differs and names else "")
        self.text.setVisible(bool(names))
        self.use.setVisible(differs and bool(names))
        self.changed.setVisible(not names)


class ParametersPanel(QScrollArea):
    """Edits a `Settings`."""

    settings_changed = pyqtSignal(object)  # valid parameters that differ from the ones before
    preset_chosen = pyqtSignal(str)  # the name of one, whose parameters are shown now
    preset_named = pyqtSignal(str)  # the name that the parameters are to have as a preset
    preset_removed = pyqtSignal(str)  # the name of one of a person's own

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # the tab key leads to the first field
        self.settings = Settings()  # the last accepted parameters
        self.refusal = ""  # the first sentence below a field, "" where all is accepted
        self._sequence: Sequence | None = None
        self._calibration: Calibration | None = None  # of a run with these parameters
        # The penalty that a method does not support, and the one that it has brought in its place.
        self._replaced: tuple[Penalty, Penalty] | None = None
        # Rank and penalty of each problem as they were when another was chosen, at first those of its preset.
        presets = {problem: PRESETS[name] for problem, name in DEFAULT_PRESETS.items()}
        self._models = {problem: (preset.rank, preset.penalty) for problem, preset in presets.items()}
        self._timer = Debounce(self.flush, TYPING_MILLISECONDS, self)
        self._dragged = Debounce(self._accept, 0, self)  # all events of the mouse that wait are one change
        self._derived = PanelUpdater(lambda: self.settings, self._show_derived, self)
        self._reasons: dict[str, str] = {}  # why rows have no effect
        self._rows = ParameterRows(self)  # all that have one parameter each
        self._preset = Choice({}, explained=True)
        objectives = {**OBJECTIVES, texts.LOWRANK: PROBLEMS["lowrank"]}
        self._objective = Choice(objectives, titles=texts.OBJECTIVE_TITLES, explained=True)
        tip = "an .npz file that holds R (F, 3, 3)"
        self._rotations = SourceChoice(ROTATION_SOURCES, titles=texts.ROTATION_TITLES, file_tip=tip)
        self._camera_model = Choice(CAMERA_MODELS, titles=texts.CAMERA_TITLES)
        self._given, tip = GivenIntrinsics(), "a file that holds K (3, 3)"
        self._intrinsics = SourceChoice(
            INTRINSICS_SOURCES, titles=texts.INTRINSICS_TITLES, file_tip=tip, numbers=self._given
        )
        self._own_editors: dict[str, Editor] = {
            "rotations": self._rotations, "camera_model": self._camera_model, "intrinsics": self._intrinsics,
            "loss": Choice(LOSSES, titles=texts.LOSS_TITLES),
        }  # fmt: skip
        self.spectrum_plot = SpectrumPlot()
        self._content = QWidget()
        self.sections = self._build()
        self._align()
        self._rows.edited.connect(self._on_form_edited)
        self._rows.dragged.connect(self._dragged.request)
        self._rows.chosen.connect(self._on_form_chosen)
        self._preset.chosen.connect(self._on_preset_chosen)
        self._objective.chosen.connect(self._on_objective_chosen)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.differs = DifferenceBar(self)  # below what scrolls
        self.run_parameters_requested = self.differs.requested
        self.set_own_presets({})
        self.set_settings(self.settings)

    def _build(self) -> FoldedSections:
        model, norm, depths, cameras, options, numbers = (Form() for _ in range(6))
        self._model, self._norm = model, norm  # `norm` is of the objective, or of its start
        model.add("preset", "preset", self._preset, tip=texts.TIPS["preset"])
        tip, details = texts.TIPS["objective"], texts.DETAILS["objective"]
        model.add("objective", "objective", self._objective, tip=tip, details=details)
        modes = ModesField(ALIKE)
        depths.add("mode_weights", "weights", modes, tip=texts.TIPS["mode_weights"])
        self._rows.keep(depths, "mode_weights", modes)
        self._method = MethodEditor(self._rows, norm, options)
        self._add_settings(norm, ("rank", "eta"))
        self.penalty = PenaltyEditor(self._rows, norm, numbers)
        self.penalty.weights_list.rebuilt.connect(lambda: order_focus(self._content))
        self._add_settings(depths, _of_section("Depths"))
        self._add_settings(cameras, texts.USUAL_CAMERAS)
        self._start_note = PlainLabel(texts.START, role="muted", wraps=True)
        content: dict[str, tuple[QWidget, ...]] = {
            "Start": (self._start_note, numbers, self.penalty.weights_list, options)
        }
        forms = [model, norm, depths, cameras, options, numbers]
        for title in texts.FOLDED[1:]:
            form = Form()
            self._add_settings(form, [name for name in _of_section(title) if name not in texts.USUAL_CAMERAS])
            content[title] = (form,)
            forms.append(form)
        inner = {title: QWidget() for title in content}
        columns = {
            title: filled(QVBoxLayout(inner[title]), *parts, spacing=4) for title, parts in content.items()
        }
        self._start = columns["Start"]
        folded, plot = FoldedSections(inner), self.spectrum_plot
        parts, margins = (model, norm, plot, depths, cameras, folded), (12, 4, 10, 6)
        self._top = filled(
            QVBoxLayout(self._content), *parts, grows=plot, spacing=2 * ROW_GAP, margins=margins
        )
        self._top.addStretch(0)
        self._all_forms = tuple(forms)
        return folded

    def _add_settings(self, form: Form, names: Iterable[str]) -> None:
        """Append rows of settings that are described, in their order."""
        for name in names:
            described = SETTINGS[name]
            self._rows.add(form, described, getattr(Settings(), name), self._own_editors.get(name))
            editor = self._rows.editors[name]
            if isinstance(editor, NumberField) and described.optional and described.slider is not None:
                editor.setPlaceholderText(AUTOMATIC)

    def _align(self) -> None:
        folded = [form for form in self._all_forms if self.sections.section_of(form)]
        usual = [form for form in self._all_forms if form not in folded or form is self._norm]
        align(*usual)
        align(*(form for form in self._all_forms if form not in usual))

    # -- what it shows --------------------------------------------------------------------------------------

    def _shown_rows(self) -> Iterator[tuple[str, Form]]:
        """Return the rows that the present problem, method and penalty have, with their forms."""
        for form in self._all_forms:
            yield from ((name, form) for name in form.rows if form.is_row_visible(name))

    def parameter_entries(self) -> Iterator[PaletteEntry]:
        """Return the parameters that the present problem, method and penalty have."""
        words = texts.tips(self.settings.problem)
        for name, form in self._shown_rows():
            tip = words.get(name) or tip_as_text(form.rows[name].editor.toolTip())
            yield self._entry(name, form.rows[name].caption.text(), tip)
        if self.settings.objective != DEPTHS:  # where the row of the modes has the same weights
            yield self._entry("weights", "weights", texts.WEIGHTS_TIP)

    def _entry(self, name: str, label: str, tip: str) -> PaletteEntry:
        reason, symbols = self._reasons.get(name, ""), (name, *texts.SYMBOLS.get(name, ()))
        focus = partial(self.focus_parameter, name)
        return PaletteEntry(label, tip, focus, "parameter", symbols=symbols, reason=reason)

    def value_entries(self) -> Iterator[PaletteEntry]:
        """Return what can be chosen from the lists of the present parameters."""
        for name, form in self._shown_rows():
            choice, label = _choice_of(form.rows[name].editor), form.rows[name].caption.text()
            if choice is None:
                continue
            for value, (words, explanation) in choice.entries().items():
                title = f"{label[:1].upper()}{label[1:]}: {words}"
                reason = self._reasons.get(name, "") or choice.refusal(value)
                choose = partial(self._choose_value, name, choice, value)
                yield PaletteEntry(
                    title, explanation, choose, "value",
                    symbols=(value,), reason=reason, checked=value == choice.key,
                )  # fmt: skip

    def _choose_value(self, key: str, choice: Choice, value: str) -> None:
        self.focus_parameter(key)
        choice.choose(value)

    def focus_parameter(self, key: str) -> QWidget:
        """Show the field of a parameter, in its section where it is folded; give it the focus, return it."""
        show_dock_of(self)
        field: QWidget = self.spectrum_plot.canvas
        for name, form in self._shown_rows():
            if name == key:
                field = form.rows[name].editor
                self._unfold(form)
        viewport = known(self.viewport())
        height = self._top.totalHeightForWidth(viewport.width())
        self._content.resize(
            viewport.width(), max(height, viewport.height())
        )  # a section may have been opened
        self.ensureWidgetVisible(field)
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if isinstance(field, QLineEdit):
            field.selectAll()
        return field

    def set_settings(self, settings: Settings) -> None:
        """Show parameters."""
        if settings != self.settings:
            self._replaced = None
        self.settings = settings
        for name in texts.PLAIN:
            self._rows.editors[name].set_value(getattr(settings, name))
        self._show_objective(settings)
        self._method.set_method(settings.method, settings.options)
        self.penalty.set_penalty(settings.penalty, settings.rank)
        self._derived.forget()
        self._show_preset(settings)
        self._read()  # what is accepted of a preset depends on the sequence

    def set_own_presets(self, presets: Mapping[str, Settings]) -> None:
        """Offer presets that a person has named, after the others."""
        self._own_presets = presets  # by the names that a person gave them
        self._preset.clear()
        for name in (*PRESETS, texts.CUSTOM):
            self._preset.add(name, name, texts.PRESET_TIPS[name])
        for name, settings in presets.items():
            changed = ", ".join(each.name for each in texts.changes_of(settings))
            self._preset.add(
                name, name, f"your own: {nearest_preset(settings, differences)}, other {changed}"
            )
        self._preset.add(texts.SAVE, "Save as preset…", "gives these parameters a name")
        self._preset.add(texts.REMOVE, "Remove preset", "forgets the name of these parameters")
        self._show_preset(self.settings)

    def _show_preset(self, settings: Settings) -> None:
        """Show which preset settings are, or from which they differ, and what of them is folded."""
        base = nearest_preset(settings, differences)
        changed = differences(PRESETS[base], settings)
        own = next((name for name, each in self._own_presets.items() if each == settings), None)
        self._preset.set_key(own or (texts.CUSTOM if changed else base))
        self._preset.setItemText(
            self._preset.findData(texts.CUSTOM), f"{base}, changed" if changed else texts.CUSTOM
        )
        self._preset.set_available(
            texts.SAVE, own is None and bool(changed), why_not="These parameters are a preset already."
        )
        self._preset.set_available(texts.REMOVE, own is not None, why_not="Choose one of your own first.")
        tip = f"Changed: {', '.join(map(str, changed))}." if changed else texts.PRESET_TIPS[base]
        self._model.set_tip("preset", f"{texts.TIPS['preset']}\n{tip}")
        folded: dict[str, list[str]] = {name: [] for name in texts.FOLDED}
        for each in texts.changes_of(settings):
            row = "penalty" if each.key == "weights" else each.key.rpartition(" ")[2]
            form = next((form for form in self._all_forms if row in form.rows), None)
            folded.get(self.sections.section_of(form), []).append(each.name)
        self.sections.set_changes(folded)
        names = ", ".join(name for names in folded.values() for name in names)
        self.differs.changed.set_full_text(f"Changed: {names}" if names else "")

    def _show_objective(self, settings: Settings) -> None:
        """Show the parameters of an objective, and those of a start below "Start"."""
        depths = settings.objective == DEPTHS
        self._objective.set_key(texts.LOWRANK if settings.problem == "lowrank" else settings.objective)
        for name in texts.OF_DEPTHS:
            self._rows.forms[name].set_row_visible(name, depths)
        place = self._start if depths else self._top
        if place.indexOf(self._norm) < 0:
            place.insertWidget(1, self._norm)
            self._norm.show()  # another parent hides it
            order_focus(self._content)
        self._start_note.setVisible(depths)
        self.sections.set_title("Start", texts.START_TITLES[settings.objective])

    def set_noise_estimate(self, noise: float | None, unit: str) -> None:
        """Show the noise that the last refinement estimated, in the units of the tracks; None for none."""
        known = AUTOMATIC if noise is None else f"{noise:.2g} {unit}"
        self._rows.forms["noise"].set_automatic("noise", known, noise)

    def set_sequence(self, sequence: Sequence) -> None:
        """Gray out what this sequence does not have, and mark what it does not allow."""
        if sequence is not self._sequence:
            self.penalty.reference = None  # of another sequence
            self.penalty.set_spectrum(None, None)
        self._sequence = sequence
        rotations, intrinsics = self._rotations.choice, self._intrinsics.choice
        for choice, key, there, what in (
            (rotations, "truth", sequence.rotations, "true cameras"),
            (rotations, "companion", sequence.companion, "companion tracks"),
            (intrinsics, "gt", sequence.truth, "ground truth"),
        ):
            choice.set_available(key, there is not None, why_not=f"This sequence has no {what}.")
        self._camera_model.setItemText(0, f"auto: {sequence.camera.value}")
        self._given.set_side(max(image_size_of(sequence)[0]))
        self._read()

    def set_calibration(self, calibration: Calibration | None) -> None:
        """Set the K that the shown run was made with under these parameters; None where there is none."""
        self._calibration = calibration
        self._show_calibration()

    @property
    def pending(self) -> bool:
        """Whether something was typed or dragged that `flush` has not read yet."""
        return self._timer.isActive() or self._dragged.isActive()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the line below the parameters as wide as they are."""
        super().resizeEvent(event)
        self._place_line()

    def _place_line(self) -> None:
        height = self.differs.sizeHint().height()
        self.setViewportMargins(0, 0, 0, height)
        viewport = self.viewport()
        width = self.width() if viewport is None else viewport.width()
        self.differs.setGeometry(0, self.height() - height, width, height)

    def minimumSizeHint(self) -> QSize:
        """Return the width of the rows, which are not scrolled sideways, and the height of a few."""
        margins, bar = self._top.contentsMargins(), known(self.verticalScrollBar())
        widest = max(part.minimumSizeHint().width() for part in (*self._all_forms, self.sections))
        width = widest + margins.left() + margins.right() + bar.sizeHint().width()
        return QSize(max(width, LEAST_WIDTH), super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent | None) -> None:
        """Align the rows again, and need another width, under another font or style."""
        super().changeEvent(event)
        if event is not None and event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._align()
            self.updateGeometry()
            self._place_line()

    def set_value(self, name: str, value: float) -> None:
        """Put a number into the field of a setting or of the penalty, as if it were dragged there."""
        field = self._rows.editors[name]
        assert isinstance(field, NumberField)
        field.drag_to(value)

    def flush(self) -> None:
        """Read every field now; called before a run starts, so that what was typed last counts."""
        self._accept()
        self._derived.flush()

    # -- what happens in it ---------------------------------------------------------------------------------

    def _accept(self) -> None:
        """Read every field; what follows from them is shown later: the picture comes first."""
        self._timer.cancel()
        self._dragged.cancel()
        read = self._read()
        if read is not None and read != self.settings:
            self.settings = read
            self.settings_changed.emit(read)
            self._derived.request()

    def _show_derived(self, settings: Settings) -> None:
        """Show which preset settings are near to, and the weights that they give."""
        self._show_preset(settings)
        self.penalty.show_weights(settings.penalty, settings.rank)

    def _unfold(self, part: QWidget) -> None:
        self.sections.set_open({*self.sections.open, self.sections.section_of(part)})

    def _on_form_edited(self) -> None:
        self._read()  # notes appear at once, the run changes a moment later
        self._timer.request()

    def _read(self) -> Settings | None:
        """Read every field and show each refusal below it. None where there is one."""
        key, method = self._objective.key, self._method.choice.key
        problem, objective = ("lowrank", WNN) if key == texts.LOWRANK else ("nonrigid", key)
        changes: dict[str, Any] = {"problem": problem, "objective": objective, "method": method}
        checks = {name: partial(self._checked, name) for name in self._rows.editors if name in texts.PLAIN}
        values, refusals = self._rows.read(checks)  # in the order that they are seen in
        options, refused = self._method.read()
        changes |= values | {"options": options}
        refusals += refused
        try:
            changes["penalty"] = self.penalty.read(changes.get("rank") or self.settings.rank)
        except InputError as refusal:  # shown by the editor
            refusals.append(str(refusal))
        for form in self._rows.refused():
            self._unfold(form)
        if self.penalty.weights_list.warning.text():
            self._unfold(self.penalty.weights_list)
        settings = self.settings.with_changes(**changes)
        self._show_objective(settings)
        refusals += self._show_what_applies(settings)
        if "intrinsics" in changes:
            self._show_calibration()
        self.refusal = "".join(refusals[:1])
        return None if refusals else settings

    def _show_what_applies(self, settings: Settings) -> list[str]:
        """Gray out what has no effect under these settings; return why they are not offered together."""
        own = None if self._sequence is None else self._sequence.camera
        camera = None if own is None else settings.camera_of(own)
        reasons, words = texts.without_effect(settings, camera), texts.tips(settings.problem)
        self._reasons = reasons
        for name in texts.PLAIN:
            form = self._rows.forms[name]
            form.set_row_enabled(name, name not in reasons)
            form.set_tip(name, reasons.get(name) or words[name], details=texts.DETAILS.get(name, ""))
        refusal = None if own is None else settings.refusal(own)
        if refusal:
            note = f"{refusal[0].upper()}{refusal[1:]}."
            self._norm.set_message("method", note, refused=True)
            self._unfold(self._norm)
            return [note]
        self._norm.set_message("method", self._replacement(settings), refused=False)
        return []

    def _replacement(self, settings: Settings) -> str:
        """Return the sentence on the penalty that the method brought, "" where it is not the one shown."""
        if self._replaced is None or settings.penalty != self._replaced[1]:
            return ""
        given, brought = (PENALTY_TITLES[penalty_name(each)] for each in self._replaced)
        return (
            f"{METHODS[settings.method].title} brings its own penalty ({brought}); "
            f"a suitable method restores the {given}."
        )

    def _show_calibration(self) -> None:
        """Show below the intrinsics what they are at present, and offer them as numbers to change."""
        sequence, sentence = self._sequence, ""
        try:
            source, model = self._intrinsics.value(), self._camera_model.key
        except ValueError:  # shown below the editor
            return
        if sequence is not None:
            found = self._calibration or _resolve(sequence, source, model)
            sentence = found if isinstance(found, str) else calibration_text(found, sequence)
            if source == "estimate" and self._calibration is None:
                sentence = "Not estimated yet: a run takes twice as long."
            elif not isinstance(found, str) and not self._given.known and sentence:
                K = found.K
                self._given.offer((K[0, 0], K[1, 1], K[0, 2], K[1, 2]))
        given = isinstance(source, tuple)
        self._rows.forms["intrinsics"].set_message("intrinsics", "" if given else sentence, refused=False)

    def _checked(self, name: str, value: Any) -> Any:
        """Return the value of a setting. Raises ValueError where it is not accepted with these tracks."""
        if value != getattr(self.settings, name):
            self.settings.with_changes(**{name: value})
        if self._sequence is None:
            return value
        frames, points = self._sequence.frame_count, self._sequence.point_count
        if name == "rank":
            most = (
                min(points, 3 * frames) if self._objective.key == texts.LOWRANK else min(frames, 3 * points)
            )
            if value > most:
                raise ValueError(f"rank is {value}; {frames} frames of {points} points allow 1 to {most}")
        if name == "hide":
            parse_hidden(value, frames, points)
        return value

    def _on_objective_chosen(self, key: str) -> None:
        """Choose an objective; another problem has the rank and the penalty that it had last."""
        before = self.settings
        problem = "lowrank" if key == texts.LOWRANK else "nonrigid"
        if problem != before.problem:
            self._models[before.problem] = before.rank, before.penalty
            rank, penalty = self._models[problem]
            self._rows.editors["rank"].set_value(rank)
            self.penalty.set_penalty(penalty, rank)
        self.flush()

    def _on_form_chosen(self) -> None:
        """Apply a chosen method or option; a method that does not support the penalty replaces it.

        A penalty that was replaced is restored by the next method that supports it, unless it was changed
        meanwhile. A method that brings another objective than the one before it replaces that, too.
        """
        method, rank, problem = self._method.choice.key, self.settings.rank, self.settings.problem
        brought, before = (gives_depths(each, problem) for each in (method, self.settings.method))
        if brought != before:
            self._objective.set_key(DEPTHS if brought else WNN)
        try:
            present = self.penalty.read(rank)
        except InputError:  # shown by the editor
            self.flush()
            return
        replaced = self._replaced
        given = replaced[0] if replaced is not None and replaced[1] == present else present
        suited = suited_penalty(method, problem, given)
        self._replaced = (given, suited) if suited != given else None
        if suited != present:
            self.penalty.set_penalty(suited, rank)
        self.flush()

    def _on_preset_chosen(self, name: str) -> None:
        if name == texts.SAVE:
            self.flush()  # what was typed last is saved, too
        self._timer.cancel()
        own = self._own_presets
        settings = {**own, **PRESETS}.get(name, self.settings)
        if settings != self.settings:
            self.set_settings(settings)
            self.preset_chosen.emit(name)
            return
        self._show_preset(self.settings)
        if name == texts.SAVE:
            dialog = QInputDialog(self)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.setWindowTitle("Save as Preset")
            dialog.setLabelText("Name of these parameters:")
            dialog.textValueSelected.connect(self.preset_named)
            dialog.open()
        elif name == texts.REMOVE:
            self.preset_removed.emit(self._preset.key)


@lru_cache(maxsize=8)  # the fields are read at every key
def _resolve(
    sequence: Sequence, source: str | Path | tuple[float, float, float, float], model: str
) -> Calibration | str:
    """Return the K that a run would begin with, or why there is none."""
    # A session of somebody else can name any file; a run reads it, and is asked for.
    absolute = isinstance(source, Path) and source.is_absolute()
    if absolute and named_path(str(source), Path.home() / "settings") is None:
        return f"{source} is read when a run begins."
    camera = sequence.camera if model == "auto" else CameraModel(model)
    try:
        return resolve_intrinsics(sequence, source, camera)
    except InputError as error:
        return f"{error}."


def _choice_of(editor: QWidget) -> Choice | None:
    if isinstance(editor, SourceChoice):
        return editor.choice
    return editor if isinstance(editor, Choice) else None


def _of_section(title: str) -> list[str]:
    return [name for name, described in SETTINGS.items() if described.section == title]
