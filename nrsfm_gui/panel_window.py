"""A window of panels: views in their docks, and a controller for each of them."""

from __future__ import annotations

from functools import partial

from PyQt6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.solver_thread import Work
from nrsfm_gui.export.export_controller import ExportController
from nrsfm_gui.export.movie import ViewSources
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.log_records import Logbook
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.alignment.alignment_controller import AlignmentController
from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
from nrsfm_gui.panels.background.background_controller import BackgroundController
from nrsfm_gui.panels.comparison.compare_controller import CompareController
from nrsfm_gui.panels.comparison.compare_panel import ComparePanel, CompareSplitter
from nrsfm_gui.panels.guidance.guidance_controller import GuidanceController
from nrsfm_gui.panels.guidance.guidance_panel import GuidancePanel
from nrsfm_gui.panels.log.log_panel import LogController, LogPanel
from nrsfm_gui.panels.loss.loss_controller import LossController
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.numbers.numbers_panel import NumbersController, NumbersPanel
from nrsfm_gui.panels.outliers.outliers_panel import OutliersController, OutliersPanel
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.points.points_panel import PointsController, PointsPanel
from nrsfm_gui.panels.points.selection_controller import SelectionController
from nrsfm_gui.panels.sequences.sequences_controller import RunsController, SequencesController
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.panels.timeline.timeline import Timeline, TimelineController
from nrsfm_gui.panels.timeline.worst_frame import WorstFrame
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.panels.view3d.scene_view_controller import SceneViewController
from nrsfm_gui.scene.display import Display
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.shell.layout import arrange
from nrsfm_gui.shell.verdict_actions import VerdictActions
from nrsfm_gui.widgets.banners import Banners, MessageBar, Urgency
from nrsfm_gui.widgets.fields import filled


class PanelWindow(QMainWindow):
    """Makes the views and their controllers, and connects those that do not know each other."""

    def __init__(self, store: AppStore, *, work: Work, software: bool) -> None:
        super().__init__()
        self.store = store
        self.session = Session(self)
        self.run_control = RunControl(self.session, work=work, parent=self)
        self._make_views(software=software)
        self._place_views()
        self._make_controllers()
        self._connect_panels()

    def fit(self) -> None:
        """Show all of the sequence in both views."""
        self.scene_view.fit()
        self.tracks_view.fit()

    def shut_down(self) -> None:
        """End what the panels compute, play, read and write."""
        for part in (
            self.timeline_controller, self.display, self.sequence_opening, self.export_controller,
            self.background_controller, self.guidance_controller, self.numbers_controller,
            self.parameters_controller, self.logbook,
        ):  # fmt: skip
            part.shut_down()

    def _first_appearance(self) -> Appearance:
        """Return the appearance of the first time, with what the preferences choose."""
        preferences = self.store.preferences()
        return Appearance(color_map=preferences.color_map, point_size=preferences.point_size)

    def _make_views(self, *, software: bool) -> None:
        self.scene_view, self.tracks_view = SceneView(software=software), TracksView()
        self.timeline, self.sequences_panel = Timeline(), SequencesPanel()
        self.parameters_panel = ParametersPanel()
        self.loss_plot, self.numbers_panel, self.points_panel = LossPlot(), NumbersPanel(), PointsPanel()
        self.guidance_panel, self.outliers_panel = GuidancePanel(), OutliersPanel()
        self.logbook = Logbook(self)
        self.log_panel = LogPanel(self.logbook)
        self.message_bar, self.compare_panel = MessageBar(), ComparePanel()
        self.compare_splitter = CompareSplitter(self.scene_view)

    def _place_views(self) -> None:
        center = QWidget()
        filled(QVBoxLayout(center), self.compare_panel, (self.compare_splitter, 1), spacing=0)
        self.banners = Banners(self.compare_splitter, center, clear=(self.scene_view.color_bar,))
        self.setCentralWidget(center)
        self.scene_view.setFocus()  # the keys of the views act from the start
        self.dock_areas = arrange(
            self,
            left={"Sequences": self.sequences_panel},
            right={"Parameters": self.parameters_panel, "Numbers": self.numbers_panel},
            below={"Loss": self.loss_plot, "2-D": self.tracks_view},
            on_request={
                "Guidance": self.guidance_panel,
                "Points": self.points_panel,
                "Outliers": self.outliers_panel,
                "Log": self.log_panel,
            },
            bottom=self.timeline,
        )
        center.raise_()  # painted last: the card draws the 3-D picture while the panels are painted

    def _make_controllers(self) -> None:
        session, control, timeline = self.session, self.run_control, self.timeline
        self.display = display = Display(session, (self.scene_view, self.tracks_view), parent=self)
        self.sequence_opening = SequenceOpening(session, self.store, self)
        self.sequences_controller = SequencesController(
            session, control, self.sequence_opening, self.store, self.sequences_panel
        )
        self.parameters_controller = ParametersController(
            session, control, self.parameters_panel, self.store, errors=display.errors
        )
        self.loss_controller = LossController(session, control, display, self.loss_plot)
        self.runs_controller = RunsController(session, control, display, self.sequences_panel)
        self.numbers_controller = NumbersController(session, display, self.numbers_panel)
        self.points_controller = PointsController(session, display, self.points_panel)
        self.guidance_controller = GuidanceController(session, self.guidance_panel)
        self.outliers_controller = OutliersController(session, self.outliers_panel)
        self.timeline_controller = TimelineController(session, display, timeline)
        findings = self.numbers_controller.findings
        self.worst_frame = WorstFrame(session, timeline, findings=findings)
        self.scene_view_controller = SceneViewController(
            session, display, self.scene_view, self, first_appearance=self._first_appearance
        )
        self.alignment_controller = AlignmentController(session, self)
        self.appearance_panel = AppearancePanel(
            session, display, self.scene_view, button=self.scene_view.buttons.look,
            drawn_by=lambda: self.scene_view.renderer.sentence,
            show_cameras=self.scene_view_controller.show_cameras,
        )  # fmt: skip
        self.background_controller = BackgroundController(session, self.tracks_view, self)
        self.compare_controller = CompareController(
            session, display, self.compare_panel, self.compare_splitter, self.scene_view,
            make_view=self._make_second_view, select=control.select,
        )  # fmt: skip
        self.verdict_actions = VerdictActions(
            session, control, display.errors, self.appearance_panel, self.compare_controller, self
        )
        self.log_controller = LogController(session, self.logbook, self.log_panel)
        views = self.scene_view, self.tracks_view
        self.export_controller = ExportController(
            ViewSources(session, display, *views, self.background_controller, self),
            self.store,
            figures={
                "loss": self.loss_plot.figure,
                "spectrum": self.parameters_panel.spectrum_plot.figure,
                "guidance": self.guidance_panel.plot.figure,
                "points": self.points_panel.curves.figure,
            },
        )
        self.selection_controller = SelectionController(session, self.points_panel)

    def _connect_panels(self) -> None:
        messages = self.message_bar
        messages.listen_to(self.session.notifier)
        self.banners.add(messages, lambda: Urgency.ERROR if messages.warns else Urgency.MESSAGE)
        self.banners.add(self.export_controller.strip, lambda: Urgency.PROGRESS)
        messages.changed.connect(self.banners.choose)
        self.sequences_controller.leaving.connect(self.parameters_controller.commit)
        self.sequences_controller.shown.connect(self.display.refresh)
        self.sequences_controller.shown.connect(self.fit)
        self.sequence_opening.started.connect(lambda what, _name: self.log_controller.log_reading(what))
        self.sequences_panel.compare_requested.connect(self.compare_controller.request)
        self.parameters_panel.run_parameters_requested.connect(self.runs_controller.show)
        self.loss_plot.figure_requested.connect(partial(self.export_controller.ask, "figure", "loss"))
        self.outliers_panel.solve_requested.connect(self.parameters_controller.run_from_scratch)
        self.outliers_panel.show_requested.connect(self.selection_controller.show_all_again)
        self.numbers_panel.verdict_chosen.connect(self.verdict_actions.act)
        self.numbers_panel.verdict_dismissed.connect(self.verdict_actions.dismiss)
        self.scene_view.buttons.look.clicked.connect(lambda _on: self.appearance_panel.toggle())
        self.display.scene_shown.connect(lambda _scene: self.timeline_controller.playback.count_drawn())
        self.display.refreshed.connect(self.parameters_controller.flush)
        self.selection_controller.newest_requested.connect(self.loss_controller.show_newest)
        for view in (self.scene_view, self.tracks_view, self.timeline.strip):
            self.selection_controller.add_view(view)
        for shown in (self.scene_view.set_hovered, self.tracks_view.set_hovered):
            self.selection_controller.point_hovered.connect(shown)

    def _make_second_view(self) -> SceneView:
        """Return a 3-D view for a run that is compared."""
        view = SceneView(software=not self.scene_view.renderer.uses_opengl)
        view.buttons.look.hide()  # both views have one appearance
        self.scene_view_controller.add_view(view)
        self.selection_controller.add_view(view)
        return view
