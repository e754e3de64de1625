"""Two runs at once: overlaid, side by side, or differenced; which two, and what differs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.model.run_names import numbered_title
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.text.compare_rows import compare_rows, distance_words

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.appearance import Appearance
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.scene.comparison import Together
    from nrsfm_gui.scene.orbit_camera import Orbit
    from nrsfm_gui.scene.scene import ErrorSeries

ALONE = "There is one run only: change a parameter, run again (Ctrl+R), and compare the two."


class Comparing(QObject):
    """Owns the strip and the second 3-D view, and lets both follow the session and the display."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.mode = "overlay"
        self._listing = False  # whether the table of what differs is asked for
        self._pair: tuple[Run, Run] | None = None  # shown and compared, until comparing is stopped
        self._colored_before = "role"  # what the points were colored by before the difference
        self._beside: SceneView | None = None
        self.panel, self.stage = window.compare_panel, window.compare_stage
        self.panel.hide()
        self.panel.run_chosen.connect(self._choose)
        self.panel.mode_chosen.connect(self.set_mode)
        self.panel.swap_requested.connect(self.swap)
        self.panel.closed.connect(self.stop)
        self.panel.table_requested.connect(self._list)
        window.run_list.compare_requested.connect(self._request)
        session, display = window.session, window.display
        session.shown_changed.connect(self._take_shown)
        session.compared_changed.connect(lambda _run: self._show())
        session.runs_changed.connect(self._show_panel)
        session.run_changed.connect(lambda _run: self._show_panel())
        display.errors.quality_changed.connect(self._show_panel)
        display.scene_shown.connect(lambda _scene: self._show_frame())
        display.appearance_changed.connect(self._take_appearance)
        window.scene_view.camera_changed.connect(self._lead)
        window.scene_view.camera_locked_changed.connect(self._lock)

    @property
    def on(self) -> bool:
        """Whether two runs are compared."""
        return self._window.session.compared is not None

    @property
    def together(self) -> Together | None:
        """The second run in the coordinates of the first, once it is known."""
        return self._window.display.together if self.on else None

    def series(self, errors: ErrorSeries | None) -> ErrorSeries | None:
        """Return what the timeline shows: distances while runs are differenced, else the errors given."""
        if self.mode == "difference" and self.together is not None:
            return self.together.series
        return errors

    # -- what the actions and the panel call ----------------------------------------------------------------

    def toggle(self) -> None:
        """Compare the run that is shown with the one before it, or stop comparing."""
        session = self._window.session
        others = [run for run in session.runs if run is not session.shown and run.last is not None]
        if self.on:
            self.stop()
        elif session.shown is None or not others:
            self._window.messages.note(ALONE)
        else:
            earlier = [run for run in others if run.number < session.shown.number]
            self.compare((earlier or others)[-1])

    def compare(self, run: Run) -> None:
        """Lay a run beside the one that is shown."""
        session = self._window.session
        if session.shown is None:
            session.set_shown(run)
        elif run is session.shown:
            self._window.messages.note(f"Run {run.number} is shown: choose another one to compare it with.")
        else:
            session.set_compared(run)

    def stop(self) -> None:
        """Show one run alone."""
        self._pair = None
        self._window.session.set_compared(None)

    def swap(self) -> None:
        """Show the second run, and compare the first one with it."""
        compared = self._window.session.compared
        if compared is not None:
            self._window.session.set_shown(compared)  # `_take_shown` keeps the other one beside it

    def set_mode(self, mode: str) -> None:
        """Choose how two runs are shown: a key of `views.compare_panel.MODES`."""
        if mode != self.mode:
            self.mode = mode
            self._show()

    def leave(self) -> bool:
        """Stop comparing where two runs are compared; return whether they were."""
        was = self.on
        self.stop()
        return was

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        for part in (self.panel, self.stage, self._beside):
            if part is not None:
                part.set_theme(theme)

    # -- what the session and the display tell --------------------------------------------------------------

    def _request(self, number: int) -> None:
        compared = self._window.session.compared
        if number < 0:
            self.toggle()
        elif compared is not None and number == compared.number:
            self.stop()
        else:
            self._choose(number)

    def _choose(self, number: int) -> None:
        self._window.session.with_run(number, self.compare)

    def _take_shown(self, shown: Run | None) -> None:
        """Where the second run is shown now, let the first one take its place."""
        session = self._window.session
        if self._pair is not None and shown is self._pair[1] and self._pair[0] in session.runs:
            session.set_compared(self._pair[0])
        self._show()

    def _take_appearance(self, appearance: Appearance) -> None:
        if self.on and self.mode == "difference" and appearance.color_by != "difference":
            self._colored_before = appearance.color_by
            self.set_mode("overlay")

    def _show(self) -> None:
        """Show which two runs are compared, and how."""
        session, display = self._window.session, self._window.display
        if session.shown is not None and session.compared is not None:
            self._pair = session.shown, session.compared
        differenced = self.on and self.mode == "difference"
        by = display.appearance.color_by
        if differenced and by != "difference":
            self._colored_before = by
            display.set_appearance(display.appearance.changed(color_by="difference"))
        elif not differenced and by == "difference":
            display.set_appearance(display.appearance.changed(color_by=self._colored_before))
        display.set_other_drawn(self.mode != "side")
        self.panel.set_mode(self.mode)
        if self.on == self.panel.isHidden():  # comparing begins or ends: both curves, or one
            self._window.loss_plot.set_all(self.on)
        self.panel.setVisible(self.on)
        self._show_panel()
        self._show_frame()
        self._window.presenter.show_errors()

    def _list(self, on: bool) -> None:
        self._listing = on
        self._show_panel()

    def _show_panel(self) -> None:
        session = self._window.session
        first, second = session.shown, session.compared
        if first is None or second is None:
            self.stage.show_table(False)
            return
        others = {run.number: numbered_title(run) for run in reversed(session.runs) if run is not first}
        names = numbered_title(first), numbered_title(second)
        self.panel.set_runs(names[0], others, second.number)
        display = self._window.display
        beside = display.compared_picture
        known = display.seen_quality, None if beside is None else beside.quality
        self.stage.table.set_rows(*names, compare_rows(first, second, known))
        self.stage.show_table(self._listing)

    def _show_frame(self) -> None:
        """Show how far apart the two are in this frame, and the second one beside the first."""
        session = self._window.session
        together, scene = self.together, self._window.display.scene
        first, second = session.shown, session.compared
        side = self.on and self.mode == "side" and together is not None
        if self.on and scene is not None:
            self.panel.set_summary(distance_words(together, scene.frame))
        if not side or together is None or scene is None or first is None or second is None:
            self.stage.show_two(None)
            return
        view = self._second_view()
        self.stage.show_two((numbered_title(first), numbered_title(second)))
        view.set_scene(
            build_scene(
                second.sequence,
                together.shapes,
                frame=scene.frame,
                selected=scene.selected,
                selection=scene.selection,
                hidden=scene.hidden,
                appearance=scene.appearance,
            )
        )
        self._lead(self._window.scene_view.orbit)

    def _second_view(self) -> SceneView:
        """Return the second view, made when it is first needed."""
        if self._beside is None:
            window = self._window
            self._beside = view = SceneView(software=not window.scene_view.uses_opengl)
            view.setAccessibleName("3-D view of the compared run")
            view.set_theme(window.session.theme)
            view.buttons.look.hide()  # both look the same
            view.camera_changed.connect(self._follow)
            view.point_selected.connect(window.session.set_point)
            view.point_toggled.connect(window.selecting.toggle)
            view.points_selected.connect(window.selecting.select)
            view.limits_requested.connect(lambda limits: window.looks.change(limits=limits))
            view.color_map_requested.connect(lambda name: window.looks.change(color_map=name))
            view.coloring_requested.connect(lambda key: window.looks.change(color_by=key))
            self.stage.put_beside(view)
            self._lock(window.scene_view.camera_locked)
        return self._beside

    def _lead(self, orbit: Orbit) -> None:
        if self._beside is not None:
            self._beside.set_orbit(orbit)

    def _follow(self, orbit: Orbit) -> None:
        self._window.scene_view.set_orbit(orbit)

    def _lock(self, on: bool) -> None:
        if self._beside is not None:
            self._beside.set_camera_locked(on)
