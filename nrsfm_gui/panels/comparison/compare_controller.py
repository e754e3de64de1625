"""Two runs at once: overlaid, side by side, or differenced; which two, and what differs of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from core.foundation import WNN
from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.changes import differences
from nrsfm_gui.model.names import error_name, numbered_title, sentence_name, truth_phrase
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import OWN, Session
from nrsfm_gui.panels.comparison.compare_panel import ComparePanel, CompareRow, CompareSplitter
from nrsfm_gui.scene.comparison import RunComparison, why_losses_differ
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.incumbent import Incumbent
from nrsfm_gui.scene.scene import Scene, build_scene
from nrsfm_gui.scene.summaries import (
    OBJECTIVE_NAMES,
    iterations,
    measure,
    objective_text,
    objective_value,
    percent_of,
    seconds,
)
from nrsfm_gui.scene.view_camera import ViewCamera

ALONE = "There is one run only: change a parameter, run again (Ctrl+R), and compare the two."
SAME = 1e-3  # relative difference of errors below which neither is called the better one
SAME_LOSS = 1e-6
END_TIP = "Energy per point and frame, on the level where both ends were ranked."
OTHER_OBJECTIVE = "A loss of the WNN problem and an energy of the depths do not compare."
LOSS_TIP = "Of the same objective: the lower one is the better minimum."
RMS_TIP = "Root mean square over visible points."
EFFORT_TIP = "Without those of the run that it went on from."


class _CompareView(Protocol):
    """What this needs of a 3-D view, which is a QWidget."""

    camera: ViewCamera

    def set_camera_locked(self, on: bool) -> None: ...
    def set_scene(self, scene: Scene) -> None: ...
    def setAccessibleName(self, name: str | None) -> None: ...


@dataclass(frozen=True)
class CompareState:
    """What the panel and the table of two runs show."""

    names: tuple[str, str]  # of the runs
    others: Mapping[str, str]  # keys and names of what may be the second one
    key: str  # of the second one, see `_key`
    rows: tuple[CompareRow, ...]
    listing: bool  # whether the table is asked for


class CompareController(QObject):
    """Owns the second 3-D view, and updates it, the panel and the table from the session and the display."""

    def __init__(
        self,
        session: Session,
        display: Display,
        panel: ComparePanel,
        stage: CompareSplitter,
        scene_view: _CompareView,
        *,
        make_view: Callable[[], _CompareView],
        select: Callable[[Run], object],
    ) -> None:
        super().__init__(panel)
        self._session, self._display, self._notifier = session, display, session.notifier
        self._panel, self._stage, self._scene_view = panel, stage, scene_view
        self._make_view, self._select = make_view, select
        self._listing = False  # whether the table of what differs is asked for
        self._colored_before = "role"  # what the points were colored by before the difference
        self._second: _CompareView | None = None
        self._drawn: RunComparison | None = None  # the comparison that the table has the numbers of
        self._updater = PanelUpdater(self._resolve, self._apply, self)
        panel.hide()
        panel.run_chosen.connect(self._on_run_chosen)
        panel.mode_chosen.connect(session.set_compare_mode)
        panel.swap_requested.connect(self.swap)
        panel.closed.connect(self.stop)
        panel.table_requested.connect(self._on_table_requested)
        for signal in (session.compared_changed, session.compare_mode_changed):
            signal.connect(lambda _changed: self._show())
        self._updater.follow(session.shown_changed, session.runs_changed, session.run_changed)
        display.errors.incumbent_changed.connect(self._updater.run)
        session.appearance_changed.connect(self._on_appearance_changed)
        display.scene_shown.connect(lambda _scene: self._on_scene_shown())
        display.refreshed.connect(self._updater.flush)

    @property
    def on(self) -> bool:
        """Whether two runs are compared."""
        return self._session.compared is not None

    @property
    def together(self) -> RunComparison | None:
        """The second run in the coordinates of the first, once it is known."""
        return self._display.together if self.on else None

    # -- what the actions and the panels call ---------------------------------------------------------------

    def toggle(self) -> None:
        """Compare the run that is shown with the one before it, or stop comparing."""
        session = self._session
        others = [run for run in session.runs if run is not session.shown and run.last is not None]
        if self.on:
            self.stop()
        elif session.shown is None or not others:
            self._notifier.inform(ALONE)
        else:
            earlier = [run for run in others if run.number < session.shown.number]
            self.compare((earlier or others)[-1])

    def compare(self, run: Run) -> None:
        """Compare a run with the one that is shown."""
        session = self._session
        if session.shown is None:
            self._select(run)
        elif run is session.shown:
            self._notifier.inform(
                f"Run {sentence_name(run)} is shown: choose another one to compare it with."
            )
        else:
            session.set_compared(run)

    def request(self, number: int) -> None:
        """Compare a run by its number, or stop where it is compared; -1 leaves the choice open."""
        compared = self._session.compared
        if number < 0:
            self.toggle()
        elif compared is not None and number == compared.number:
            self.stop()
        else:
            self._session.with_run(number, self.compare)

    def stop(self) -> None:
        """Show one run alone."""
        self._session.set_compared(None)

    def swap(self) -> None:
        """Show the second run, and compare the first one with it."""
        session = self._session
        second = session.compared
        if second is session.shown:
            session.notifier.show_status("A run shows its own shape: another solution of it is compared only")
        elif second is not None:
            self._select(second)

    def compare_solution(self, solution: str) -> None:
        """Compare another solution of the run that is shown with its own shape."""
        self._session.set_compared(self._session.shown, solution)

    def _on_run_chosen(self, key: str) -> None:
        number, _, solution = key.partition("|")
        self._session.with_run(int(number), lambda run: self._session.set_compared(run, solution))

    # -- what the session and the display have come to ------------------------------------------------------

    def _on_appearance_changed(self, appearance: Appearance) -> None:
        """Another coloring than by the difference is chosen: the runs are laid over each other again."""
        if self.on and self._session.compare_mode == "difference" and appearance.color_by != "difference":
            self._colored_before = appearance.color_by
            self._session.set_compare_mode("overlay")

    def _on_table_requested(self, on: bool) -> None:
        self._listing = on
        self._updater.run()

    def _show(self) -> None:
        session = self._session
        differenced = self.on and session.compare_mode == "difference"
        by = session.appearance.color_by
        if differenced and by != "difference":
            self._colored_before = by
            session.change_appearance(color_by="difference", undoable=False)
        elif not differenced and by == "difference":
            session.change_appearance(color_by=self._colored_before, undoable=False)
        self._panel.set_mode(session.compare_mode)
        self._panel.setVisible(self.on)
        self._updater.run()
        self._show_frame()

    def _resolve(self) -> CompareState | None:
        session, display = self._session, self._display
        first, second = session.shown, session.compared
        if first is None or second is None:
            return None
        solution, known = session.compared_solution, (display.errors.incumbent, display.compared_incumbent)
        others = {
            _key(run, other): numbered_title(run, other)
            for run in reversed(session.runs)
            for other in (OWN, *(() if run.last is None else run.last.alternatives))
            if run is not first or other != OWN
        }
        names, key = (numbered_title(first), numbered_title(second, solution)), _key(second, solution)
        return CompareState(names, others, key, tuple(compare_rows(first, second, known)), self._listing)

    def _apply(self, state: CompareState | None) -> None:
        if state is not None:
            self._panel.set_runs(state.names[0], state.others, state.key)
            self._stage.table.set_rows(state.names, state.rows)
        self._stage.show_table(state is not None and state.listing)

    def _on_scene_shown(self) -> None:
        """Show the frame; and the numbers of the second run, in the event in which it is drawn."""
        if self.together is not self._drawn:
            self._drawn = self.together
            self._updater.run()
        self._show_frame()

    def _show_frame(self) -> None:
        """Show the distance of the two runs in this frame, and the second one next to the first."""
        session = self._session
        together, scene = self.together, self._display.scene
        first, second = session.shown, session.compared
        side = self.on and session.compare_mode == "side" and together is not None
        if self.on and scene is not None:
            self._panel.summary.set_full_text(describe_distance(together, scene.frame))
        if not side or together is None or scene is None or first is None or second is None:
            self._stage.show_two(None)
            return
        view = self._second_view()
        self._stage.show_two((numbered_title(first), numbered_title(second, session.compared_solution)))
        view.set_scene(
            build_scene(
                second.sequence,
                together.shapes,
                frame=scene.frame,
                selected=scene.selected,
                selection=scene.selection,
                hidden=scene.hidden,
                appearance=scene.appearance,
                found=self._display.found_mesh,
            )
        )
        view.camera.set_orbit(self._scene_view.camera.orbit)

    def _second_view(self) -> _CompareView:
        if self._second is None:
            self._second = view = self._make_view()
            view.setAccessibleName("3-D view of the compared run")
            camera = self._scene_view.camera
            view.camera.orbit_changed.connect(camera.set_orbit)
            camera.orbit_changed.connect(view.camera.set_orbit)
            view.set_camera_locked(camera.locked)
            camera.locked_changed.connect(view.set_camera_locked)
            assert isinstance(view, QWidget)
            self._stage.add_second_view(view)
        return self._second


def _key(run: Run, solution: str) -> str:
    """Return the number of a run and the name of a solution, which the other one of its kind has not."""
    there = run.last is not None and solution in run.last.alternatives
    return f"{run.number}|{solution if there else OWN}"


def compare_rows(
    first: Run, second: Run, found: tuple[Incumbent | None, Incumbent | None]
) -> list[CompareRow]:
    """Return the lines of the table: parameters that differ, then loss, errors, and what they took."""
    units, truth = first.sequence.units, first.sequence.truth_name
    changes = differences(first.settings, second.settings)
    rows = [CompareRow(each.name, each.before, each.after) for each in changes]
    rows = rows or [CompareRow("parameters", "the same", "the same")]

    def add(name: str, texts: Iterable[str], tip: str, better: int = 0) -> None:
        one, two = texts
        rows.append(CompareRow(name, one, two, tip, True, better))

    add(*_loss(first, second, found))
    above = [None if known is None else known.iterate.end_energy for known in found]
    if any(energy is not None for energy in above):  # a further end of a search is compared
        add("above the lowest end", (NONE if each is None else f"{each:.2g}" for each in above), END_TIP)
    measured = [None if known is None else known.errors for known in found]
    seen = [None if each is None else each.reprojection for each in measured]
    add("reprojection", (measure(value, units) for value in seen), RMS_TIP, _better(seen, SAME))
    errors = [None if each is None else each.error for each in measured]
    if any(error is not None for error in errors):
        texts = [NONE if each is None else measure(each.error, each.unit) for each in measured]
        names = dict.fromkeys(each.alignment for each in measured if each is not None)
        tip = f"Mean distance to {truth_phrase(truth)}, {'; '.join(names)}."
        add(error_name(truth), texts, tip, _better(errors, SAME))
    add("iterations", map(iterations, found), EFFORT_TIP)
    add("computing time", map(seconds, found), EFFORT_TIP)
    return rows


def _loss(
    first: Run, second: Run, found: tuple[Incumbent | None, Incumbent | None]
) -> tuple[str, list[str], str, int]:
    """Return name, texts and tip of the losses, and which is the better one."""
    values = [None if known is None else known.value for known in found]
    kinds = {known.objective for known in found if known is not None}
    if len(kinds) > 1:
        texts = ["" if known is None else objective_text(known.value, known.objective) for known in found]
        return "minimized value", [text or NONE for text in texts], OTHER_OBJECTIVE, 0
    kind = next(iter(kinds), WNN)
    texts = [objective_value(value, kind) for value in values]
    why = why_losses_differ(first, second)
    if why:
        return OBJECTIVE_NAMES[kind], texts, f"These are values of different objectives: {why}.", 0
    return OBJECTIVE_NAMES[kind], texts, LOSS_TIP, _better(values, SAME_LOSS)


def _better(errors: Collection[float | None], same: float) -> int:
    """Return which of two errors is lower, 1 or 2; 0 where they are about the same, or one is not known."""
    one, other = errors
    if one is None or other is None or not np.isfinite([one, other]).all():
        return 0
    if abs(one - other) <= same * max(abs(one), abs(other)):
        return 0
    return 1 if one < other else 2


def describe_distance(together: RunComparison | None, frame: int) -> str:
    """Return how far apart two runs are in a frame and over all, with the alignment."""
    if together is None:
        return "Waiting for both reconstructions…"
    distances = together.distances[frame]
    here = float(np.nanmean(distances)) if np.isfinite(distances).any() else None
    mean, now = (measure(each, together.unit) for each in (together.mean, here))
    share = percent_of(together.apart, 1.0)
    apart = f"{share} of the object apart · " if share else ""
    return f"{apart}mean distance {mean}, in this frame {now} · {together.alignment}"
