"""The window: it builds the parts and connects them. What they do is theirs; what holds is the session's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QApplication, QMainWindow, QVBoxLayout, QWidget

from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.solver_thread import Work, real_work
from nrsfm_gui.engine.undo import Steering
from nrsfm_gui.export.export_controller import Exporting
from nrsfm_gui.model.app_store import SettingsStore
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import DARK, LIGHT, Theme
from nrsfm_gui.panels.alignment.alignment_controller import Aligning
from nrsfm_gui.panels.appearance.appearance_controller import Looks
from nrsfm_gui.panels.background.background_controller import Background
from nrsfm_gui.panels.comparison.compare_controller import Comparing
from nrsfm_gui.panels.comparison.compare_panel import ComparePanel
from nrsfm_gui.panels.comparison.compare_stage import CompareStage
from nrsfm_gui.panels.guidance.guidance_controller import Guidance
from nrsfm_gui.panels.guidance.guidance_panel import GuidancePanel
from nrsfm_gui.panels.log.log_panel import LogPanel
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.numbers.numbers_controller import FrameDetails
from nrsfm_gui.panels.numbers.numbers_panel import NumbersPanel
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.panels.parameters.weights_controller import Weighing
from nrsfm_gui.panels.points.points_controller import PointDetails
from nrsfm_gui.panels.points.points_panel import PointsPanel
from nrsfm_gui.panels.runs.run_list import RunList
from nrsfm_gui.panels.runs.runs_controller import RunHistory
from nrsfm_gui.panels.sequences.opening import FIRST_SAMPLE, Opening
from nrsfm_gui.panels.sequences.sequence_tree import SequenceTree
from nrsfm_gui.panels.timeline.navigation import Navigation
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.panels.timeline.worst_frame import Worst
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.display import Display
from nrsfm_gui.sessions.session_saver import Keeping
from nrsfm_gui.shell.actions import Situation, action_table
from nrsfm_gui.shell.experiment_reports import ExperimentReports
from nrsfm_gui.shell.layout import arrange, reset, restore
from nrsfm_gui.shell.presenter import Presenter
from nrsfm_gui.shell.selection_controller import Selecting
from nrsfm_gui.shell.sequence_loading import Arriving
from nrsfm_gui.shell.shell import Habits
from nrsfm_gui.shell.toolbars import Chrome
from nrsfm_gui.widgets.icons import application_icon
from nrsfm_gui.widgets.message_bar import Banners, MessageBar
from nrsfm_gui.widgets.style import apply_theme, theme_named

if TYPE_CHECKING:
    from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent

    from nrsfm_gui.model.arguments import Arguments


class MainWindow(QMainWindow):
    """The application's only window.

    Parameters
    ----------
    store
        where settings are kept.
    work
        gives the solver's stream; tests pass their own.
    software
        paint the 3-D view without OpenGL.

    Signals
    -------
    reported(str)
        a sentence about something that could not be done.
    """

    reported = pyqtSignal(str)

    def __init__(
        self, *, store: SettingsStore | None = None, work: Work = real_work, software: bool = False
    ) -> None:
        super().__init__()
        self.setWindowIcon(application_icon())
        self.store = store or SettingsStore()
        self.session = Session(self)
        self.control = RunControl(self.session, work=work, parent=self)
        self.scene_view = SceneView(software=software)
        self.tracks_view = TracksView()
        self.timeline = Timeline()
        self.tree = SequenceTree()
        self.parameters = ParametersPanel()
        self.loss_plot = LossPlot()
        self.spectrum_plot = SpectrumPlot()
        self.guidance_panel = GuidancePanel()
        self.numbers = NumbersPanel()
        self.run_list = RunList()
        self.points = PointsPanel()
        self.log_panel = LogPanel()
        self.messages = MessageBar()
        self.compare_panel = ComparePanel()
        self.compare_stage = CompareStage(self.scene_view)
        self.display = Display(self.session, (self.scene_view, self.tracks_view), parent=self)
        self.display.without_opengl = not self.scene_view.uses_opengl
        self.looks = Looks(self)
        self.opening = Opening(self.store, self)
        self.exporting = Exporting(
            self.session,
            pictures={"view": self.scene_view.grab_image, "tracks": self.tracks_view.grab_image},
            plots={"loss": self.loss_plot.plot_widget, "spectrum": self.spectrum_plot.plot_widget},
            parent=self,
        )
        self.reports = ExperimentReports(self.store, self.messages, self)
        self._closing = False
        self._remembers = True
        self._build()
        self.navigation = Navigation(self)
        self.frame_details = FrameDetails(self)
        self.worst = Worst(self)
        self.selecting = Selecting(self)
        self.point_details = PointDetails(self)
        self.aligning = Aligning(self)
        self.comparing = Comparing(self)
        self.background = Background(self)
        self.run_history = RunHistory(self)
        self.habits = Habits(self)
        self.keeping = Keeping(self)
        self.table = action_table(self)
        self.chrome = Chrome(self, self.table)
        self.presenter = Presenter(self)
        self.steering = Steering(self)
        self.weighing = Weighing(self)
        self.guidance = Guidance(self)
        self.arriving = Arriving(self)
        self._connect()
        self._first_state = self.saveState()
        restore(self, self.store)
        self.update_situation()

    # -- building -------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.setAcceptDrops(True)
        center = QWidget()
        column = QVBoxLayout(center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.compare_panel)
        column.addWidget(self.compare_stage, 1)
        self.banners = Banners(self.compare_stage, center)
        for banner in (self.messages, self.exporting.strip):
            self.banners.add(banner)
        self.setCentralWidget(center)
        # The keys of the window work from the start: no text field has the focus.
        self.scene_view.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.scene_view.setFocus()
        arrange(
            self,
            left={"Sequences": self.tree, "Runs": self.run_list},
            right={"Parameters": self.parameters, "Numbers": self.numbers},
            below={
                "2-D": self.tracks_view,
                "Loss": self.loss_plot,
                "Weights": self.spectrum_plot,
                "Guidance": self.guidance_panel,
                "Points": self.points,
                "Log": self.log_panel,
            },
            bottom=self.timeline,
        )
        center.raise_()  # painted last: the card draws the 3-D picture while the panels are painted

    def _connect(self) -> None:
        session, control = self.session, self.control
        self.exporting.saved.connect(self.messages.note)
        self.exporting.failed.connect(self.report)
        control.refused.connect(lambda sentence: self.report(sentence, ""))
        control.crashed.connect(self.report)
        self.display.failed.connect(self.report)
        self.parameters.settings_changed.connect(lambda _settings: self.messages.hide())
        self.parameters.settings_changed.connect(session.set_settings)
        session.theme_changed.connect(self._show_theme)
        self.run_list.run_requested.connect(self._request_run)
        self.scene_view.orthographic_changed.connect(self.chrome.actions["orthographic"].setChecked)
        self.scene_view.camera_locked_changed.connect(self.chrome.actions["camera_lock"].setChecked)
        for view in (self.scene_view, self.tracks_view, self.timeline):
            view.point_hovered.connect(self.presenter.show_hover)

    def begin(self, arguments: Arguments) -> None:
        """Show the theme, parameters and sequence that the arguments or the last session ask for."""
        self._remembers = not arguments.exit  # a script must not change what a person set up
        name = arguments.theme or self.store.theme() or DARK.name
        self.session.set_theme(theme_named(name))
        settings = arguments.settings or self.store.parameters()
        if settings is not None:
            self.session.set_settings(settings)
        if arguments.settings is None:
            self.session.set_settings(self.session.lasting_settings)
        self.parameters.set_settings(self.session.settings)
        self.keeping.begin(scripted=arguments.exit)
        self.habits.begin(arguments)
        self.opening.open(arguments.path or FIRST_SAMPLE)

    # -- what the actions call ------------------------------------------------------------------------------

    def run(self) -> None:
        """Start a run from what is shown."""
        self._start(warm=True)

    def run_from_scratch(self) -> None:
        """Start a run from nothing."""
        self._start(warm=False)

    def step(self) -> None:
        """Do one iteration."""
        if self._can_run():
            self.control.step()

    def fit(self) -> None:
        """Show the whole sequence in both views."""
        self.scene_view.fit()
        self.tracks_view.fit()

    def set_light(self, light: bool) -> None:
        """Choose the light theme or the dark one, and remember it."""
        self.session.set_theme(LIGHT if light else DARK)
        self.store.set_theme(self.session.theme.name)

    def reset_layout(self) -> None:
        """Put all panels back where they were at first."""
        self.store.forget_layout()
        reset(self, self._first_state)

    def report(self, sentence: str, details: str) -> None:
        """Say that something could not be done; with details, that it is a defect."""
        self.reported.emit(sentence)
        if self._closing:
            return
        if details:
            self.habits.defects.show(sentence, details)
        else:
            self.messages.warn(sentence)

    # -- what the session and the parts tell ----------------------------------------------------------------

    def _start(self, *, warm: bool) -> None:
        if self._can_run():
            self.control.start(warm=warm)

    def _can_run(self) -> bool:
        """Take up what was typed last; whether it is accepted, or else say why nothing is run."""
        self.parameters.flush()
        if not self.parameters.valid:
            self.messages.warn(f"Nothing is run: {self.parameters.refusal}")
            return False
        self.messages.hide()
        return self.session.sequence is not None

    def _request_run(self, number: int) -> None:
        self.messages.hide()
        self.session.with_run(number, self.session.set_shown)

    def _show_theme(self, theme: Theme) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, theme)
        for part in (
            self.scene_view, self.tracks_view, self.timeline, self.parameters, self.loss_plot,
            self.spectrum_plot, self.messages, self.tree, self.chrome, self.habits,
            self.keeping,
            self.exporting, self.background,
            self.run_list, self.looks, self.comparing, self.guidance_panel,
        ):  # fmt: skip
            part.set_theme(theme)

    def update_situation(self) -> None:
        """Enable what is possible now, and nothing else."""
        sequence, shown, current = self.session.sequence, self.session.shown, self.control.current
        self.chrome.show_situation(
            Situation(
                sequence=sequence is not None,
                frames=sequence is not None and sequence.frame_count > 1,
                alive=current is not None,
                paused=current is not None and current.state is RunState.PAUSED,
                reconstruction=shown is not None and shown.last is not None,
                runs=bool(self.session.runs),
                background=self.background.present,
            )
        )

    # -- Qt's events ----------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:
        """Accept one file or folder."""
        assert event is not None
        data = event.mimeData()
        if data is not None and len(data.urls()) == 1 and data.urls()[0].isLocalFile():
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent | None) -> None:
        """Open what was dropped."""
        assert event is not None
        data = event.mimeData()
        assert data is not None
        self.opening.open(data.urls()[0].toLocalFile())

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Stop everything, remember everything, and only then close."""
        assert event is not None
        self._closing = True
        self.navigation.shut_down()
        self.control.shut_down()
        self.keeping.shut_down()
        self.display.shut_down()
        self.opening.shut_down()
        self.exporting.shut_down()
        self.background.shut_down()
        self.guidance.shut_down()
        self.habits.shut_down()
        if self._remembers:
            self.store.set_layout(self.saveGeometry(), self.saveState())
            self.store.set_parameters(self.session.lasting_settings)
            self.store.sync()
        event.accept()
