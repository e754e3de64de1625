"""Sessions with their files, and runs that are done."""

import pytest
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QMainWindow, QVBoxLayout, QWidget
from sharing import called_by_tests

from core import Settings, read_sequence, simulate, write_npz
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.export.export_controller import ExportController
from nrsfm_gui.export.movie import ViewSources
from nrsfm_gui.model.log_records import Logbook
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import OpenSequence, Session
from nrsfm_gui.panels.background.background_controller import BackgroundController
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.sequences.sequences_controller import SequencesController
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.display import Display
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.sessions.session_file import SavedSession
from nrsfm_gui.sessions.session_saver import SessionSaver
from nrsfm_gui.widgets.banners import MessageBar

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")


class SessionWindow(QMainWindow):
    """A session with its files, what draws it, what changes its `parameters`, and no other panel."""

    def __init__(self, store, *, work, parameters=False):
        super().__init__()
        self.attended = True
        self.store, self.session, self.logbook = store, Session(self), Logbook(self)
        session = self.session
        self.run_control = control = RunControl(session, work=work, parent=self)
        self.scene_view, self.tracks_view, tree = SceneView(software=True), TracksView(), SequencesPanel()
        self.message_bar = MessageBar()
        center = QWidget()
        layout = QVBoxLayout(center)
        for view in (self.message_bar, self.scene_view, self.tracks_view, tree):
            layout.addWidget(view)
        self.setCentralWidget(center)
        self.message_bar.listen_to(session.notifier)
        self.display = Display(session, (self.scene_view, self.tracks_view), parent=self)
        self.sequence_opening = SequenceOpening(session, store, self)
        sequences = SequencesController(session, control, self.sequence_opening, store, tree)
        sequences.shown.connect(self.display.refresh)
        if parameters:
            self.parameters_panel = ParametersPanel()
            layout.addWidget(self.parameters_panel)
            self.parameters_controller = ParametersController(session, control, self.parameters_panel, store)
        background = BackgroundController(session, self.tracks_view, self)
        views = ViewSources(session, self.display, self.scene_view, self.tracks_view, background, self)
        self.export_controller = ExportController(views, store, figures={})
        self.session_saver = SessionSaver(
            session, store, control, self.sequence_opening, self.display,
            view=self.scene_view.camera, window=self, logbook=self.logbook,
            commit=self.parameters_controller.commit if parameters else int, fit=self.scene_view.fit,
        )  # fmt: skip

    def closeEvent(self, event):
        self.run_control.shut_down()
        if not self.session_saver.end(ask=self.attended):
            event.ignore()
            return
        self.session.notifier.close()
        for part in (self.display, self.sequence_opening, self.export_controller, self.logbook):
            part.shut_down()


@pytest.fixture
def make_session_window(qtbot, store, work):
    """Make windows of a session, which are not shown; each is closed after the test."""
    made: list[SessionWindow] = []

    def make(sequence=None, *, settings=None, **options):
        window = SessionWindow(store, **{"work": work} | options)
        made.append(window)
        window.resize(320, 500)
        if settings is not None:
            window.session.set_settings(settings)
        if sequence is not None:
            window.sequence_opening.open_sequence(sequence)
        return window

    yield make
    for window in made:
        window.attended = False
        window.close()
        window.deleteLater()
    qtbot.wait(1)


@pytest.fixture
def sequence(tmp_path):
    path = tmp_path / "small.npz"
    write_npz(simulate("balloon", frames=14, points=16, seed=3), path)
    return read_sequence(path)


def ended_run(solve_once, sequence, settings=QUICK):
    """Return a run that the solver has finished."""
    run = Run(1, sequence, settings, state=RunState.FINISHED)
    for index, iterate in enumerate(solve_once(sequence, settings)):
        run.history.extend([iterate.record])
        run.snapshots.add(index, iterate)
        run.last = iterate
    return run


@pytest.fixture
def solved(make_session_window, sequence, solve_once):
    """Make windows with a run that is done."""

    def make(settings=QUICK, **options):
        window = make_session_window(sequence, settings=settings, **options)
        run = ended_run(solve_once, sequence, settings)
        window.session.append_run(run)
        window.display.refresh()  # a first picture moves the camera to where all is seen
        return window, run

    return make


@pytest.fixture
def kept(sequence, solve_once):
    """A session with one run, made without a window."""
    run = ended_run(solve_once, sequence).as_stored()
    return SavedSession((OpenSequence(sequence, QUICK, [run], run),))


@pytest.fixture
def opened(qtbot):
    """Let a window open a path, and wait until all of it is on view."""

    def open_path(window, path):
        with qtbot.waitSignal(window.sequence_opening.shown):
            window.sequence_opening.open(path)

    return open_path


@called_by_tests
def text_of(window, recipe):
    """Return what a window copies as a key of `RECIPES`."""
    window.export_controller.copy_recipe(recipe)
    return QGuiApplication.clipboard().text()
