"""The window: its panels and what surrounds them are made, connected and closed here."""

from __future__ import annotations

from functools import cached_property, partial

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QCloseEvent
from PyQt6.QtWidgets import QWidget

from nrsfm_gui.engine.solver_thread import Work, real_work
from nrsfm_gui.importing.import_dialog import ImportController
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.arguments import Arguments
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panel_window import PanelWindow
from nrsfm_gui.sessions.opening import FIRST_SAMPLE
from nrsfm_gui.sessions.session_saver import SessionSaver
from nrsfm_gui.shell.command_palette_controller import CommandPaletteController
from nrsfm_gui.shell.defects import DefectReporter
from nrsfm_gui.shell.experiment_reports import ExperimentReports
from nrsfm_gui.shell.explanation_controller import ExplanationController
from nrsfm_gui.shell.first_steps import FirstSteps
from nrsfm_gui.shell.help import HelpController
from nrsfm_gui.shell.keyboard import PanelNavigation, ViewKeys
from nrsfm_gui.shell.layout import DockLayout
from nrsfm_gui.shell.preferences import PreferencesController
from nrsfm_gui.shell.scale import ScaleDialog
from nrsfm_gui.shell.state_cards import StateCards
from nrsfm_gui.shell.status_bar import StatusController
from nrsfm_gui.shell.toolbars import POINT_MENU, VIEW_MENU, Toolbars
from nrsfm_gui.sweeps.sweep_controller import SweepController
from nrsfm_gui.tracking.tracking_dialog import TrackingController
from nrsfm_gui.widgets.banners import Urgency
from nrsfm_gui.widgets.dialogs import DropTarget
from nrsfm_gui.widgets.dock_title import show_dock_of
from nrsfm_gui.widgets.icons import icon
from nrsfm_gui.widgets.labels import known
from nrsfm_gui.widgets.style import apply_theme, theme_named


class MainWindow(PanelWindow):
    """The application's window; that of a sweep stands beside it."""

    def __init__(
        self, *, store: AppStore | None = None, work: Work = real_work, software: bool = False
    ) -> None:
        super().__init__(store or AppStore(), work=work, software=software)
        self.setWindowIcon(icon("application"))
        self._remembers = self._attended = True
        self._make_shell()
        self._connect()
        self.dock_layout.restore()

    def begin(self, arguments: Arguments) -> None:
        """Show the theme, parameters and sequence that the arguments or the last session ask for."""
        self._remembers = not arguments.exit  # a script must not change what a person set up
        self.session.set_theme(theme_named(arguments.theme or self.store.theme or DARK.name))
        self.sequences_controller.remembers = self._remembers
        if arguments.settings is not None:
            self.sequences_controller.give_settings(arguments.settings)
        self.session_saver.keeps_theme = bool(arguments.theme)
        self.session_saver.begin(scripted=arguments.exit)
        self.offer_help(arguments)
        if self._remembers:
            self.preferences_controller.report_refused()
        self.sequence_opening.asks = arguments.asks
        self.sequence_opening.open(arguments.path or FIRST_SAMPLE, arguments.reading)

    def end(self) -> None:
        """Close when there is nobody to answer a question: the event loop is over."""
        self._attended = False
        self.close()

    def offer_help(self, arguments: Arguments) -> None:
        """Show first steps and results in sentences to a person; a script has no need of them."""
        self.state_cards.announces = not arguments.scripted
        if not arguments.exit:  # once, when there is something to see
            once = Qt.ConnectionType.SingleShotConnection
            self.sequence_opening.shown.connect(self.preferences_controller.check_size, once)  # type: ignore[call-arg]
        if arguments.first_steps or not arguments.scripted:
            self.first_steps.begin()

    @cached_property
    def scale_dialog(self) -> ScaleDialog:
        """The dialog of the scale, made when it is first asked for."""
        return ScaleDialog(self.session, self)

    # -- building -------------------------------------------------------------------------------------------

    def _make_shell(self) -> None:
        session, store, control = self.session, self.store, self.run_control
        self.session_saver = SessionSaver(
            session, store, control, self.sequence_opening, self.display, view=self.scene_view.camera,
            window=self, logbook=self.logbook, commit=self.parameters_controller.commit, fit=self.fit,
        )  # fmt: skip
        self.defect_reporter = DefectReporter(
            self, session, self.logbook, drawn_by=lambda: self.scene_view.renderer.sentence,
            save_session=self.session_saver.save_as,
            save_reconstruction=self.export_controller.ask_for_reconstruction,
        )  # fmt: skip
        self.experiment_reports = ExperimentReports(store, session.notifier, self)
        self.view_keys = ViewKeys(self, home=self.scene_view)
        self.panel_navigation = PanelNavigation(self, first=self.scene_view, last=self.timeline)
        self.help_controller = HelpController(self, scene_view=self.scene_view, timeline=self.timeline)
        show_own_tracks = partial(self.help_controller.show_page, "own_tracks.md")
        self.import_controller = ImportController(
            session, self.sequence_opening, self, show_help=show_own_tracks
        )
        self.tracking_controller = TrackingController(self.sequence_opening, session.notifier, self)
        self.first_steps = FirstSteps(
            session, store, control, self.timeline,
            places={
                "run": lambda: self.toolbars.button_of("run") or self.scene_view,
                "steer": self._parameters_place,
                "worst": lambda: self.timeline,
            },
        )  # fmt: skip
        self.preferences_controller = PreferencesController(
            session, store, self, restart_first_steps=self.first_steps.restart
        )
        self.sweep_controller = SweepController(
            session, control, self.sequence_opening, store, self,
            solve=self.parameters_controller.run_from_scratch,
            show_parameters=lambda: show_dock_of(self.parameters_panel),
            show_shortcuts=self.help_controller.show_shortcuts,
            show_palette=lambda: self.command_palette_controller.open(),
        )  # fmt: skip
        self.state_cards = StateCards(
            session, control, self.display.errors, self.sequence_opening, self.message_bar,
            parent=self, show_log=lambda: show_dock_of(self.log_panel),
            show_worst=self.timeline.transport.worst_requested.emit, show_own_tracks=show_own_tracks,
            show_outliers=self.outliers_controller.show, act=self.verdict_actions.act,
        )  # fmt: skip
        self.status_controller = StatusController(session, self.display, known(self.statusBar()), self)
        self.toolbars = Toolbars(
            self, session, store, self.sequence_opening, owner=self, alignment=self.alignment_controller,
            status=self.status_controller, closed_sessions=self.session_saver.closed_sessions,
        )  # fmt: skip
        self.dock_layout = DockLayout(self, store, self.dock_areas)
        self.command_palette_controller = CommandPaletteController(
            self.toolbars, session, self.sequence_opening, self.parameters_panel, self,
            show_panel=self.panel_navigation.show, show_run=self.runs_controller.show,
        )  # fmt: skip
        self.explanation_controller = ExplanationController(self.toolbars, self)

    def _connect(self) -> None:
        actions = self.toolbars.actions
        self.banners.add(self.state_cards.card, lambda: Urgency.STATE, central=True)
        self.banners.add(self.session_saver.recovery.bar, lambda: Urgency.QUESTION)
        self.banners.add(self.first_steps, lambda: Urgency.GUIDE)
        self.session.theme_changed.connect(apply_theme)
        DropTarget(self).dropped.connect(self.sequence_opening.open)
        self.session_saver.session_shown.connect(lambda _path: self.dock_layout.adopt())
        self.session.background_changed.connect(self.dock_layout.place_tracks)
        self.scene_view.camera.orthographic_changed.connect(actions["orthographic"].setChecked)
        self.scene_view.camera.locked_changed.connect(actions["camera_lock"].setChecked)
        self.scene_view.camera.turning_changed.connect(actions["turntable"].setChecked)
        self.selection_controller.point_hovered.connect(self.status_controller.show_hover)
        for view in (self.scene_view, self.tracks_view, self.timeline.strip, self.points_panel):
            view.menu_requested.connect(partial(self.toolbars.open_menu, POINT_MENU))
        self.scene_view.view_menu_requested.connect(partial(self.toolbars.open_menu, VIEW_MENU))

    def _parameters_place(self) -> QWidget:
        """Return the panel of the parameters, shown; first the button without which nothing follows."""
        live = self.toolbars.button_of("live")
        if live is not None and not self.session.live:
            return live
        show_dock_of(self.parameters_panel)
        return self.parameters_panel

    # -- Qt's events ----------------------------------------------------------------------------------------

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus in the order in which panels are seen."""
        return self.panel_navigation.go_to_part(1 if forward else -1) or super().focusNextPrevChild(forward)

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Stop everything, remember everything, and only then close."""
        assert event is not None
        self.run_control.shut_down()  # what it has is part of the session
        if not self.session_saver.end(ask=self._attended):
            event.ignore()
            return
        if self._remembers:
            self.dock_layout.save()
            self.sequences_controller.remember_settings()
            self.store.sync()
        self.hide()  # while a large file is read, the wait for its end is long
        self.session.notifier.close()
        for part in (self.import_controller, self.tracking_controller, self.sweep_controller):
            part.shut_down()
        self.shut_down()
        event.accept()
