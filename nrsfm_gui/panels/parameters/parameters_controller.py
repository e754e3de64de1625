"""The parameters of the session in the form and in its plot of the weights, either of which changes them.

The session's settings are what counts. What form or plot changes goes to the session and from there to the
other one; that which it comes from shows it already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject

from core import PRESETS, ExplicitWeights
from core.cameras import Calibration
from core.penalties import penalty_name
from nrsfm_gui.engine.throttle import (
    FRAME_MILLISECONDS,
    TYPING_MILLISECONDS,
    Debounce,
    PanelUpdater,
)
from nrsfm_gui.model.changes import unapplied
from nrsfm_gui.model.run_names import sentence_name
from nrsfm_gui.model.undo import UndoEntry
from nrsfm_gui.panels.parameters.penalty_editor import derive_weights
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumState

if TYPE_CHECKING:
    from core import Iterate, Sequence, Settings
    from nrsfm_gui.engine.run_control import RunControl
    from nrsfm_gui.model.app_store import AppStore
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel


# Settings of what is looked at (None while its rotations are not chosen), weights (N,), singular values (N,).
Spectrum = tuple["Settings | None", tuple[float, ...], tuple[float, ...]]


class ParametersController(QObject):
    """Keeps session, form and plot in step, and runs the solver with what the form holds."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        panel: ParametersPanel,
        store: AppStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._control = session, control
        self._panel = panel
        plot = panel.spectrum_plot
        self._weights: tuple[float, ...] | None = None  # as the plot was dragged to since the last event
        self._dragging = False  # whether the settings change because of that
        self._spectrum: tuple[Iterate | None, Spectrum | None] = None, None  # of what was looked at last
        self._form = PanelUpdater(
            lambda: session.settings, self._show_settings, self, milliseconds=FRAME_MILLISECONDS
        )
        self._values = PanelUpdater(self._resolve_spectrum, self._show_spectrum, self)
        self._diamonds = PanelUpdater(
            self._resolve_plot, plot.set_state, self, milliseconds=FRAME_MILLISECONDS
        )
        self._difference = PanelUpdater(
            self._resolve_difference, lambda state: panel.set_difference(*state), self
        )
        self._noise = PanelUpdater(self._resolve_noise, lambda known: panel.set_noise_estimate(*known), self)
        self._camera = PanelUpdater(self._resolve_camera, panel.set_calibration, self)
        self._settled = Debounce(self._difference.run, TYPING_MILLISECONDS, self)
        self._drag = Debounce(self._on_plot_dragged, 0, self)  # all mouse events that wait are one change
        self._announced = False  # whether it was reported that a preset makes a run of its own
        panel.settings_changed.connect(self._on_panel_changed)
        panel.preset_chosen.connect(self._on_preset_chosen)
        plot.weights_edited.connect(self._on_weights_edited)
        plot.rank_requested.connect(self._on_rank_requested)
        plot.rule_requested.connect(self._on_rule_requested)
        plot.reset_requested.connect(self._on_reset_requested)
        panel.set_advanced_shown(store.advanced_shown())
        panel.advanced_toggled.connect(store.set_advanced_shown)
        session.sequence_changed.connect(self._on_sequence_changed)
        session.settings_changed.connect(self._on_settings_changed)
        for signal in (session.sequence_changed, session.shown_changed, session.run_changed):
            signal.connect(self._noise.request)
            signal.connect(self._camera.request)
        for signal in (session.runs_changed, session.shown_changed, session.moment_changed):
            signal.connect(self._values.request)
            signal.connect(self._difference.request)
        session.run_changed.connect(self._values.request)
        session.live_changed.connect(self._difference.request)
        control.ended.connect(self._difference.request)
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
        for updater in (
            self._form,
            self._values,
            self._diamonds,
            self._difference,
            self._noise,
            self._camera,
        ):
            updater.flush()

    def _can_run(self) -> bool:
        """Set what was typed last; return whether it is accepted, or else warn that nothing is run."""
        self.commit()
        notifier = self._session.notifier
        if not self._panel.valid:
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
        if session.live and session.shown is not None and self._panel.valid:
            self._start_preset(name, session.shown)
        else:
            self._on_panel_changed(PRESETS[name])

    def _start_preset(self, name: str, source: Run) -> None:
        """Start a run with a preset. What it replaces stays as it was, and undoing it solves nothing."""
        session, control = self._session, self._control
        before, moment, settings = session.settings, session.moment, PRESETS[name]
        session.notifier.clear()
        control.cancel()
        control.ignore_settings(settings)  # no run follows them: one is started
        session.set_settings(settings, undoable=False)
        run = control.start(warm=False)

        def show(shown: Run, settings: Settings, moment: int | None) -> None:
            if control.current not in (None, shown):
                control.cancel()
            control.show(shown, settings, moment)

        session.undo_stack.push(
            UndoEntry(
                f"preset {name}",
                undo=lambda: show(source, before, moment),
                redo=lambda: show(run, settings, None),
            )
        )
        sentence = f"Run {run.number} is of the preset {name}; run {sentence_name(source)} stays as it was."
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
        penalty = ExplicitWeights(weights).with_rank(session.settings.rank)
        self._dragging = True
        try:
            session.set_settings(session.settings.with_changes(penalty=penalty))
        finally:
            self._dragging = False

    def _on_rank_requested(self, rank: int) -> None:
        self.commit()
        self._panel.set_value("rank", rank)

    def _on_reset_requested(self, k: int) -> None:
        self.commit()
        self._panel.reset_weight(k)

    def _on_rule_requested(self, kind: str) -> None:
        self.commit()
        self._panel.choose_penalty(kind)

    # -- what the session has come to -----------------------------------------------------------------------

    def _on_sequence_changed(self, sequence: Sequence) -> None:
        self._panel.set_sequence(sequence)
        self._form.request()
        self._values.request()
        self._diamonds.request()

    def _on_settings_changed(self, settings: Settings) -> None:
        if self._dragging:
            self._form.request()  # the picture comes first
        else:
            self._show_settings(settings)
        self._diamonds.request()
        self._settled.request()
        self._camera.request()

    def _show_settings(self, settings: Settings) -> None:
        self._form.forget()  # settings may come back to what the form showed before
        if settings != self._panel.settings:
            self._panel.set_settings(settings)

    def _resolve_spectrum(self) -> Spectrum | None:
        """Return the singular values of what is looked at, and its weights."""
        seen, known = self._session.seen, self._spectrum
        if seen is not known[0]:
            self._spectrum = known = seen, None if seen is None else _spectrum_of(seen)
        return known[1]

    def _show_spectrum(self, spectrum: Spectrum | None) -> None:
        if spectrum is None:
            self._panel.set_spectrum(None, None, None)
        else:
            settings, weights, values = spectrum
            self._panel.set_spectrum(settings, np.array(weights), np.array(values))
        self._diamonds.request()

    def _resolve_plot(self) -> SpectrumState:
        session, spectrum = self._session, self._spectrum[1]
        settings, rule = session.settings, penalty_name(session.rule)
        values = None if spectrum is None else spectrum[2]
        singular = None if values is None else np.array(values)
        weights, _ = derive_weights(settings.penalty, settings.rank, self._panel.reference, singular)
        return SpectrumState(
            kind=penalty_name(settings.penalty),
            rule=rule,
            weights=tuple(float(weight) for weight in weights),
            singular_values=values,
            run_weights=() if spectrum is None else spectrum[1],
        )

    def _resolve_noise(self) -> tuple[float | None, str]:
        """Return the noise that the refinement of the shown run has estimated, and its unit."""
        session = self._session
        last = None if session.shown is None else session.shown.last
        unit = "" if session.sequence is None else session.sequence.units
        if last is None or last.record.energy is None or last.settings.noise is not None:
            return None, unit
        return last.noise, unit

    def _resolve_camera(self) -> Calibration | None:
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

        A live run under way follows them.
        """
        session = self._session
        run, seen = session.shown, session.seen
        if run is None or seen is None or (run.state.alive and session.live):
            return -1, ""
        own = run.settings if session.moment is None else seen.settings
        return run.number, ", ".join(unapplied(own, session.settings))


def _spectrum_of(seen: Iterate) -> Spectrum:
    problem, factors = seen.best.problem, seen.best.factors
    weights, values = problem.slopes(factors), np.sort(factors.gamma())[::-1]
    # While the rotations are chosen, the weights are those of the comparison, not of the settings.
    return seen.settings if seen.rotations_chosen else None, tuple(weights.tolist()), tuple(values.tolist())
