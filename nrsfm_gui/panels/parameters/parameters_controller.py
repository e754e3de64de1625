"""The parameters of the session in the form and in its plot of the weights, either of which changes them.

The session's settings are what counts. What form or plot changes goes to the session and from there to the
other one; that which it comes from shows it already.
"""

from __future__ import annotations

import time
from functools import partial

from PyQt6.QtCore import QObject

from core import ExplicitWeights, Iterate, Sequence, Settings, WeightedNuclearNorm
from core.cameras import Calibration
from core.foundation import DEPTHS, Floats
from core.penalties import penalty_name
from core.reconstruction import BILINEAR_START, mode_weights_by
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.throttle import (
    FRAME_MILLISECONDS,
    PANEL_TURNS,
    TYPING_MILLISECONDS,
    Debounce,
    PanelUpdater,
)
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.changes import one_gesture, parameters, unapplied
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.undo import UndoEntry
from nrsfm_gui.panels.parameters.kind_editors import FIRST, derive_weights
from nrsfm_gui.panels.parameters.parameter_texts import PRESET_TIPS, REMOVE, SAVE
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.parameters.spectrum_state import MOST_MODES, SpectrumState, mode_count, modes_state
from nrsfm_gui.panels.parameters.weights_list import enforce_order, suppress_behind
from nrsfm_gui.scene.comparison import relative_movement
from nrsfm_gui.scene.run_errors import RunErrors
from nrsfm_gui.text.status_text import moved_text

MANY_FRAMES = 150  # singular values of more take longer than a panel may take from the window


class ParametersController(QObject):
    """Keeps session, form and plot in step, and runs the solver with what the form holds."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        panel: ParametersPanel,
        store: AppStore,
        *,
        errors: RunErrors | None = None,
    ) -> None:
        super().__init__(panel)
        self._session, self._control, self._store = session, control, store
        self._panel, self._errors = panel, errors  # which have the size of the object
        plot = panel.spectrum_plot
        self._weights: tuple[float, ...] | None = None  # as the plot was dragged to since the last event
        self._dragging = False  # whether the settings change because of that
        self._spectrum_of: Iterate | None = None  # whose singular values are shown: they take time to find
        self._columns = 0  # of modes, while their weights are dragged
        self._began: Iterate | None = None  # what was seen when the parameters began to move
        self._moved_at, self._moving = float("-inf"), frozenset[str]()  # when they moved last, and which
        self._settings = session.settings  # before the last change
        self._form = PanelUpdater(
            lambda: session.settings, self._show_settings, self, milliseconds=FRAME_MILLISECONDS
        )
        self._jobs = Jobs(self, Order.NEWEST)
        self._values = PanelUpdater(lambda: session.seen, self._find_spectrum, self)
        self._diamonds = PanelUpdater(
            self._resolve_plot, plot.set_state, self, milliseconds=FRAME_MILLISECONDS
        )
        self._notes = PanelUpdater(self._movement, plot.canvas.set_note, self)
        self._notes.add(self._noise, lambda noise: panel.set_noise_estimate(*noise))
        self._notes.add(self._camera, panel.set_calibration)
        self._difference = PanelUpdater(
            self._resolve_difference, lambda state: panel.differs.set_difference(*state), self
        )
        self._settled = Debounce(self._difference.run, TYPING_MILLISECONDS, self)
        self._drag = Debounce(self._on_plot_dragged, 0, self)  # all mouse events that wait are one change
        self._announced = False  # whether it was reported that a preset makes a run of its own
        panel.settings_changed.connect(self._on_panel_changed)
        panel.preset_chosen.connect(self._on_preset_chosen)
        panel.preset_named.connect(self._on_preset_named)
        panel.preset_removed.connect(self._on_preset_removed)
        panel.set_own_presets(store.presets)
        plot.canvas.weights_edited.connect(self._on_weights_edited)
        plot.canvas.rank_requested.connect(self._on_rank_requested)
        plot.rule_requested.connect(self._on_rule_requested)
        plot.canvas.reset_requested.connect(self._on_reset_requested)
        plot.penalty_requested.connect(self._on_penalty_requested)
        panel.sections.set_open(store.open_sections)
        panel.sections.toggled.connect(lambda: setattr(store, "open_sections", panel.sections.open))
        session.sequence_changed.connect(self._on_sequence_changed)
        session.settings_changed.connect(self._on_settings_changed)
        session.shown_changed.connect(self._on_shown_changed)
        self._notes.follow(session.sequence_changed, session.shown_changed, session.run_changed)
        looked_at = session.runs_changed, session.shown_changed, session.moment_changed
        self._values.follow(*looked_at, session.run_changed)
        self._difference.follow(*looked_at, session.live_changed, control.ended)
        self._diamonds.request()

    # -- what is asked for ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Start a run from what is shown."""
        if self._can_run():
            self._control.start(warm=True)

    def run_from_scratch(self) -> None:
        """Start a run from nothing."""
        if self._can_run():
            self._control.start(warm=False)

    def step(self) -> None:
        """Do one iteration."""
        if self._can_run():
            self._control.step()

    def commit(self) -> None:
        """Set what was typed or dragged last."""
        self._form.flush()
        self._drag.flush()
        self._panel.flush()

    @property
    def refusal(self) -> str:
        """Why the parameters are not accepted, "" where they are."""
        self._form.flush()
        return self._panel.refusal

    def flush(self) -> None:
        """Show at once what has changed."""
        for updater in self.findChildren(PanelUpdater):
            updater.flush()

    def shut_down(self) -> None:
        """Wait for what is being found."""
        self._jobs.shut_down()

    def _can_run(self) -> bool:
        """Set what was typed last; return whether it is accepted, or else warn that nothing is run."""
        self.commit()
        notifier = self._session.notifier
        if self._panel.refusal:
            notifier.warn(f"Nothing is run: {self._panel.refusal}")
            return False
        notifier.clear()
        return self._session.sequence is not None

    # -- what the views ask for -----------------------------------------------------------------------------

    def _on_panel_changed(self, settings: Settings) -> None:
        self._session.notifier.clear()
        self._session.set_settings(settings)

    def _on_preset_chosen(self, name: str) -> None:
        """Set the parameters of a preset; in live mode a run of its own is started with them."""
        session = self._session
        if session.live and session.shown is not None and not self._panel.refusal:
            self._start_preset(name, session.shown)
        else:
            self._on_panel_changed(self._panel.settings)

    def _on_preset_named(self, name: str) -> None:
        """Keep the parameters as a preset; one of the same name is replaced."""
        name, notifier = " ".join(name.split()), self._session.notifier
        if not name or name in (*PRESET_TIPS, SAVE, REMOVE):
            notifier.warn(f"{name} is in the list already." if name else "A preset needs a name.")
            return
        self._set_own_presets(self._store.presets | {name: self._session.settings})
        notifier.show_status(f"Preset {name} has these parameters.")

    def _on_preset_removed(self, name: str) -> None:
        self._set_own_presets({own: each for own, each in self._store.presets.items() if own != name})
        self._session.notifier.show_status(f"Preset {name} is removed. Its parameters stay.")

    def _set_own_presets(self, presets: dict[str, Settings]) -> None:
        self._store.presets = presets
        self._panel.set_own_presets(presets)

    def _start_preset(self, name: str, source: Run) -> None:
        """Start a run with a preset. What it replaces stays as it was, and undoing it solves nothing."""
        session, control = self._session, self._control
        before, moment, settings = session.settings, session.moment, self._panel.settings
        session.notifier.clear()
        control.cancel()
        control.ignore_settings(settings)  # no run follows them: one is started
        session.set_settings(settings, undoable=False)
        run = control.start(warm=False)

        def show(shown: Run, settings: Settings, moment: int | None) -> None:
            if control.current not in (None, shown):
                control.cancel()
            control.show(shown, settings, moment)

        undo, redo = partial(show, source, before, moment), partial(show, run, settings, None)
        session.undo_stack.push(UndoEntry(f"preset {name}", undo=undo, redo=redo))
        sentence = f"Run {sentence_name(run)} is of this preset; run {sentence_name(source)} stays as it was."
        if self._announced:
            session.notifier.show_status(sentence)
        else:
            self._announced = True
            session.notifier.inform(f"{sentence} Ctrl+Z returns to it.")

    def _on_weights_edited(self, weights: tuple[float, ...]) -> None:
        self._weights = weights
        self._drag.request()

    def _on_plot_dragged(self) -> None:
        weights, self._weights = self._weights, None
        if weights is None:
            return
        if self._panel.pending:
            self.commit()
        session = self._session
        session.notifier.clear()
        self._dragging = True
        try:
            if session.settings.objective == DEPTHS:
                self._set_modes(weights)
            else:
                penalty = ExplicitWeights(weights).with_rank(session.settings.rank)
                session.set_settings(session.settings.with_changes(penalty=penalty))
        finally:
            self._dragging = False

    def _set_modes(self, weights: tuple[float, ...]) -> None:
        """Set the weights of the modes, without what the last one says of all that follow."""
        count = len(weights)
        while count > 1 and weights[count - 2] == weights[-1]:
            count -= 1
        settings = self._session.settings
        self._session.set_settings(settings.with_changes(mode_weights=weights[:count]))

    def _on_rank_requested(self, rank: int) -> None:
        self.commit()
        if self._session.settings.objective == DEPTHS:
            self._set_modes(suppress_behind(self._panel.spectrum_plot.canvas.weights, rank))
        else:
            self._panel.set_value("rank", rank)

    def _on_reset_requested(self, k: int) -> None:
        self.commit()
        if self._session.settings.objective == DEPTHS:
            weights = self._panel.spectrum_plot.canvas.weights
            self._set_modes(enforce_order((*weights[:k], 1.0, *weights[k + 1 :]), k))
        else:
            self._panel.penalty.reset_weight(k)
            self._panel.flush()

    def _on_rule_requested(self, kind: str) -> None:
        self.commit()
        if self._session.settings.objective == DEPTHS:
            self._set_modes((1.0,))
        else:
            self._panel.penalty.choice.choose(kind)
            self._panel.flush()

    def _on_penalty_requested(self, kind: str) -> None:
        """Let a penalty choose the weights of the modes, as it would those of the singular values."""
        self.commit()
        settings, values = self._session.settings, self._mode_values
        if values is None:
            self._session.notifier.show_status("The modes are known once depths are refined")
            return
        own = penalty_name(settings.penalty) == kind
        penalty = settings.penalty if own else FIRST[kind]
        weights = mode_weights_by(penalty, values, settings.smallest_movement)[:MOST_MODES]
        if len(set(weights)) == 1:
            self._session.notifier.show_status(f"The {penalty.title} weighs all of these modes alike")
        self._set_modes(weights)

    # -- what the session has come to -----------------------------------------------------------------------

    def _on_sequence_changed(self, sequence: Sequence) -> None:
        self._panel.set_sequence(sequence)
        self._form.request()
        self._values.request()
        self._diamonds.request()

    def _on_shown_changed(self, run: Run | None) -> None:
        if run is None or not run.state.alive:  # it was selected, and follows nothing
            self._began = None

    def _on_settings_changed(self, settings: Settings) -> None:
        now, keys = time.perf_counter(), parameters(self._settings, settings)
        if self._began is None or not one_gesture(self._moving, keys, now - self._moved_at):
            self._began = self._session.seen
        self._moved_at, self._moving, self._settings = now, keys, settings
        if self._dragging:
            self._form.request()  # the picture comes first
        else:
            self._show_settings(settings)
        self._diamonds.request()
        self._notes.request()
        self._settled.request()

    def _show_settings(self, settings: Settings) -> None:
        self._form.forget()  # settings may come back to what the form showed before
        if settings != self._panel.settings:
            self._panel.set_settings(settings)

    def _find_spectrum(self, seen: Iterate | None) -> None:
        """Find the singular values of what is looked at: of many frames in the background."""
        sequence = self._session.sequence
        if seen is None or sequence is None or sequence.frame_count <= MANY_FRAMES:
            self._show_spectrum(seen)
            return

        def show(_found: object) -> None:
            if not self._jobs.over:
                self._show_spectrum(seen)

        self._jobs.start(Job(lambda _job: seen.spectrum, done=show, failed=self._session.notifier.fail))

    def _show_spectrum(self, seen: Iterate | None) -> None:
        """Show the singular values of what is looked at; the weights of a penalty follow from its start's."""
        self._spectrum_of, reference = seen, None
        start = None if seen is None else seen.alternatives.get(BILINEAR_START, seen)
        # While the rotations are chosen, the weights are those of the comparison, not of the settings.
        if start is not None and start.rotations_chosen:
            penalty = start.settings.penalty
            if isinstance(penalty, WeightedNuclearNorm):
                reference = penalty.reference(start.spectrum.weights)
        self._panel.penalty.set_spectrum(reference, None if start is None else start.spectrum.values)
        self._diamonds.request()

    @property
    def _mode_values(self) -> Floats | None:
        """(N,) sqrt(lambda_k) of the refined shape that is looked at, None where it is not refined."""
        seen = self._spectrum_of
        return None if seen is None or seen.record.energy is None else seen.spectrum.values

    def _resolve_plot(self) -> SpectrumState:
        session = self._session
        settings, seen = session.settings, self._spectrum_of
        if settings.objective == DEPTHS:
            values = self._mode_values
            if self._panel.spectrum_plot.canvas.dragged_handle is None or not self._columns:
                self._columns = mode_count(values, settings)
            return modes_state(values, settings, self._columns)
        known = None if seen is None or seen.record.energy is not None else seen.spectrum
        singular = None if known is None else known.values
        weights, _ = derive_weights(settings.penalty, settings.rank, self._panel.penalty.reference, singular)
        if not len(weights) and known is not None:
            weights = known.weights  # that the run was found with
        return SpectrumState(
            weights=tuple(float(weight) for weight in weights),
            singular_values=None if singular is None else tuple(singular.tolist()),
            explicit=isinstance(settings.penalty, ExplicitWeights),
            rule=penalty_name(session.rule),
        )

    def _movement(self) -> str:
        """Return how far the shape has moved since the parameters began to move, "" where they did not.

        It is found when the hand rests: of many frames and points it takes as long as a picture.
        """
        session, began = self._session, self._began
        run, seen = session.shown, session.seen
        if run is None or seen is None or began is None or seen is began or not run.steered:
            return ""
        if PANEL_TURNS.dragging:
            self._notes.request()
            return ""
        if seen.settings.objective != session.settings.objective:
            return ""
        share = relative_movement(began.geometry.points, seen.geometry.points)
        known = None if self._errors is None else self._errors.of_run(run)
        return moved_text(share, None if known is None else known.errors)

    def _noise(self) -> tuple[float | None, str]:
        """Return the noise that the refinement of the shown run has estimated, and its unit."""
        session = self._session
        last = None if session.shown is None else session.shown.last
        unit = "" if session.sequence is None else session.sequence.units
        if last is None or last.record.energy is None or last.settings.noise is not None:
            return None, unit
        return last.noise, unit

    def _camera(self) -> Calibration | None:
        """Return K of the shown run, where it is one that an estimate under the present parameters gave."""
        session = self._session
        last = None if session.shown is None else session.shown.last
        if last is None or last.origin is None or last.origin.source != "tracks":
            return None
        kept = ("intrinsics", "camera_model")
        if any(getattr(last.settings, name) != getattr(session.settings, name) for name in kept):
            return None
        return Calibration(last.intrinsics, last.origin)

    def _resolve_difference(self) -> tuple[int, str]:
        """Return the run that is shown, and the parameters that are not those of what is looked at.

        A live run under way follows them: without a number, a sentence about those that wait.
        """
        session = self._session
        run, seen = session.shown, session.seen
        if run is not None and run.state.alive and session.live:
            return -1, self._control.waiting(run)
        if run is None or seen is None:
            return -1, ""
        own = run.settings if session.moment is None else seen.settings
        return run.number, ", ".join(unapplied(own, session.settings))
