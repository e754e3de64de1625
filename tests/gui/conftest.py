"""What must be set before the application exists, and what all tests of the viewer share."""

import itertools
import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partialmethod
from types import SimpleNamespace

import numpy as np
import pytest
from patience import PATIENCE
from PyQt6 import sip
from PyQt6.QtCore import QCoreApplication, QEvent, QMimeData, QObject, QPoint, QPointF, QSize, Qt, QUrl
from PyQt6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDropEvent,
    QFont,
    QGuiApplication,
    QImage,
    QPalette,
    QSurfaceFormat,
    QTextDocumentFragment,
)
from PyQt6.QtPdf import QPdfDocument
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from sharing import called_by_tests

from core import (
    CameraModel,
    Factors,
    GroundTruth,
    HistoryEntry,
    InputError,
    Iterate,
    NonRigidProblem,
    NuclearNorm,
    Point,
    Result,
    Sequence,
    Settings,
    Status,
    iterate,
    simulate,
    write_challenge,
)
from core.depth import alternatives
from core.experiments.job_store import FAILED, JobStore
from core.experiments.jobs import JobResult, save_job_result
from core.experiments.sweep.rows import read_sweep, write_plan
from core.experiments.sweep.runs import find_sequences, plan_sweep
from core.foundation import Floats, Phase, PhaseKind, rotation_from_vector

RANKS, ETAS, SEEDS = (1, 2), (0.05, 0.2), (0, 1)  # of the runs of a sweep
FAILURE = "LinAlgError: <b>the matrix</b> is singular | rank 2"  # of the last one
MILLISECONDS = round(1000 * PATIENCE)  # that are waited for what is to happen: others may have the processors
CAMERA = np.array([[1400.0, 0, 640], [0, 1400.0, 480], [0, 0, 1]])
COUNTING = Phase(PhaseKind.START, name="counting")  # of a stream that stands for a solver

# pyqtgraph keeps its shaders per class: without shared contexts, every 3-D view after the first stays empty.
QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
_format = QSurfaceFormat()
_format.setVersion(3, 3)
_format.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
_format.setDepthBufferSize(24)
QSurfaceFormat.setDefaultFormat(_format)


def pytest_configure(config):
    """Let pass what the offscreen platform says of itself; every other warning of Qt fails a test."""
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        said = r"This plugin does not support (propagateSizeHints|raise|grabbing)\b"
        config.addinivalue_line("qt_log_ignore", said)


class PatientQtBot(QtBot):
    """Waits for as long as a slow machine needs; pytest-qt gives up after 5 s."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=MILLISECONDS)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=MILLISECONDS)
    waitSignals = partialmethod(QtBot.waitSignals, timeout=MILLISECONDS)
    waitActive = partialmethod(QtBot.waitActive, timeout=MILLISECONDS)
    waitExposed = partialmethod(QtBot.waitExposed, timeout=MILLISECONDS)

    def activate(self, window):
        """Show a window, make it active and return it: keys go to it, and no window manager may be there."""
        with self.waitActive(window):
            window.show()
            window.activateWindow()
        return window

    def addWidget(self, widget):
        super().addWidget(widget)
        return widget


@pytest.fixture
def qtbot(qapp, request):
    return PatientQtBot(request)


@dataclass(frozen=True)
class Known:
    """A bending sheet with everything known, and an exact reconstruction of it in coordinates of its own."""

    sequence: Sequence
    result: Result
    scale: Floats  # (F,) the similarity Q = scale A S + offset that moves the reconstruction onto the truth
    A: Floats  # (F, 3, 3)
    offset: Floats  # (F, 3)


def known_case(*, frames=12, rows=4, columns=5, affine=False):
    """Return a case whose shapes and cameras differ from frame to frame, with two hidden points per frame."""
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(np.linspace(-60, 60, columns), np.linspace(-45, 45, rows)), axis=-1)
    flat = grid.reshape(-1, 2)
    points = len(flat)
    bend = np.linspace(-1.0, 1.0, frames)[:, None] * 0.004 * flat[:, 0] ** 2
    x, y = (np.repeat(flat[None, :, axis], frames, axis=0) for axis in (0, 1))
    truth = np.stack([x, y, bend], axis=1)
    turn = np.linspace(-0.5, 0.5, frames)
    R = rotation_from_vector(np.stack([0.2 + 0 * turn, turn, 0 * turn], axis=1))
    t = np.tile([4.0, -3.0, 0.0 if affine else 400.0], (frames, 1))
    K = np.array([[2.0, 0, 5], [0, 2.0, 6], [0, 0, 1]]) if affine else CAMERA
    tracks = pictured(R @ truth + t[:, :, None], K, affine=affine) + rng.normal(0, 0.2, (frames, 2, points))
    visible = np.ones((frames, points), dtype=bool)
    visible[:, 3] = visible[:, 11] = False
    tracks[0, :, 3] = np.nan  # hidden, and the file gives nothing there
    sequence = Sequence(
        tracks,
        visible,
        CameraModel.ORTHOGONAL if affine else CameraModel.PERSPECTIVE,
        "sheet",
        intrinsics=K,
        truth=GroundTruth(np.arange(frames), truth, frames // 2),
        rotations=R,
        translations=t,
        edges=np.array([(p, p + 1) for p in range(points - 1) if (p + 1) % columns]),
        faces=np.array([(0, 1, columns), (1, columns + 1, columns)]),
    )
    # The reconstruction: the same shapes moved back by a known similarity, seen by the same cameras.
    A = rotation_from_vector(rng.normal(0, 1, (frames, 3)))
    scale, offset = rng.uniform(300, 500, frames), rng.normal(0, 20, (frames, 3))
    S = A.transpose(0, 2, 1) @ (truth - offset[:, :, None]) / scale[:, None, None]
    own_R = R @ A
    own_t = (t + np.einsum("fij,fj->fi", R, offset)) / scale[:, None]
    own_K = K
    if affine:  # no depth divides the scale away, so every frame must share it
        S, own_t, scale = S * scale[:, None, None] / 400, own_t * scale[:, None] / 400, np.full(frames, 400.0)
        own_K = K @ np.diag([400.0, 400.0, 1.0])
    U, sigma, Vt = np.linalg.svd(S.reshape(frames, -1), full_matrices=False)
    result = Result(
        tracks=np.where(visible[:, None], tracks, 0.0),
        visible=visible,
        rotations=own_R,
        translations=own_t,
        B=U * sigma,
        C=Vt.T,
        weights=np.ones(frames),
        eta=1.0 if affine else 0.05,
        loss=1.0,
        history=np.zeros((1, 3)),
        intrinsics=own_K,
        camera=sequence.camera,
    )
    return Known(sequence, result, scale, A, offset)


def pictured(Y, K, *, affine):
    """Return the picture (F, 2, P) of points in the camera frame, one entry after the other."""
    u = Y[:, 0] if affine else Y[:, 0] / Y[:, 2]
    v = Y[:, 1] if affine else Y[:, 1] / Y[:, 2]
    return np.stack([K[0, 0] * u + K[0, 2], K[1, 1] * v + K[1, 2]], axis=1)


@pytest.fixture(scope="session")
def rigid_scene():
    """A rigid scene, with a fifth of the observations missing."""
    frames, points = 9, 40
    K = np.array([[900.0, 0, 400], [0, 900.0, 300], [0, 0, 1]])
    rng = np.random.default_rng(7)
    S = rng.uniform(-1, 1, (3, points)) * [[1.0], [1.0], [0.8]]
    turn = np.linspace(-0.6, 0.6, frames)
    R = rotation_from_vector(np.stack([0.2 * np.sin(3 * turn), turn, 0.1 * turn], axis=1))
    t = np.stack([0.1 * turn, 0.2 * turn**2, 4.5 + turn], axis=1)
    Y = K @ (R @ S + t[:, :, None])
    tracks = Y[:, :2] / Y[:, 2:] + rng.normal(0, 0.3, (frames, 2, points))
    visible = rng.uniform(size=(frames, points)) > 0.2
    return Sequence(
        np.where(visible[:, None], tracks, np.nan),
        visible,
        CameraModel.PERSPECTIVE,
        "scene",
        intrinsics=K,
        truth=GroundTruth(np.arange(frames), np.repeat(S[None], frames, axis=0), 0),
    )


@called_by_tests
def near(image, color, *, tolerance=40):
    """Return which pixels (height, width) of a picture have about a "#rrggbb" color."""
    picture = image.convertToFormat(QImage.Format.Format_RGB32)
    bits = picture.constBits()
    assert bits is not None
    raw = np.frombuffer(bits.asarray(picture.sizeInBytes()), dtype=np.uint8)
    bgr = raw.reshape(picture.height(), picture.bytesPerLine() // 4, 4)[:, : picture.width(), :3]
    wanted, found = QColor(color), np.ones(bgr.shape[:2], dtype=bool)
    for channel, value in enumerate((wanted.blue(), wanted.green(), wanted.red())):
        found &= (bgr[:, :, channel] >= value - tolerance) & (bgr[:, :, channel] <= value + tolerance)
    return found


@called_by_tests
def make_iterate(known, *, noise, seed=0):
    """Return the exact reconstruction of a case with noise on its shapes, as a solver reports it."""
    result = known.result
    frames, rank = result.B.shape
    C = result.C * (1.0 + noise * np.random.default_rng(seed).normal(size=result.C.shape))
    offsets = np.einsum("fji,fj->fi", result.rotations, result.translations)
    factors = Factors(result.B, C.T.reshape(rank, 3, -1), offsets)
    tracks, visible = result.tracks, result.visible
    problem = NonRigidProblem(tracks, visible, result.rotations, result.eta, np.ones(rank))
    candidate = Point(problem, factors, 0.5 + noise)
    return Iterate(
        settings=Settings(),
        record=HistoryEntry(frames, 0.1, 0.5 + noise, Phase(PhaseKind.REFINE)),
        status=Status.CONVERGED,
        fraction=1.0,
        intrinsics=result.intrinsics,
        rotations="truth",
        rotations_chosen=True,
        current=candidate,
        best=candidate,
    )


@pytest.fixture(scope="session")
def known():
    """Return a perspective case with an exact reconstruction."""
    made = known_case()
    make_read_only(made)
    return made


@pytest.fixture(scope="session")
def sequence():
    """Return a simulated sheet of paper; folders and files that need another one have their own."""
    return simulate("paper", frames=14, points=30, noise=0.3, seed=2)


@pytest.fixture
def shapes(known):
    """Return shapes with an error of some millimeters."""
    from reconstructions import build_shapes

    C = known.result.C.copy()
    C[::7] *= 1.15
    return build_shapes(known.sequence, replace(known.result, C=C))


@pytest.fixture
def logbook(qapp):
    """Return a log that listens to nothing yet."""
    from nrsfm_gui.model.log_records import Logbook

    made = Logbook()
    yield made
    made.shut_down()


@called_by_tests
def legend_of(plot):
    text = QTextDocumentFragment.fromHtml(plot._names.text()).toPlainText()
    return [name.strip() for name in text.replace("\xa0", " ").split("━")[1:]]


@called_by_tests
def read_pdf(path, size=(1000, 600)):
    """Return what PDFium reads of a PDF with one page: its picture in a size, and its text without spaces."""
    document = QPdfDocument(None)
    assert document.load(str(path)) is QPdfDocument.Error.None_ and document.pageCount() == 1
    image, words = document.render(0, QSize(*size)), document.getAllText(0).text().split()
    document.close()
    return image, "".join(words)


@pytest.fixture
def show(qtbot):
    """Return what shows a widget, in a size where one is given, and returns it.

    It is closed when the fixtures that use this one are over: controllers of a widget end before it.
    """
    made = []

    def shown(widget, *size):
        made.append(widget)
        if size:
            widget.resize(*size)
        with qtbot.waitExposed(widget):
            widget.show()
        return widget

    yield shown
    for widget in made:
        if not sip.isdeleted(widget):
            widget.close()
            widget.deleteLater()


class Paints(QObject):
    def __init__(self, widget):
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _widget, event):
        self.count += event is not None and event.type() == QEvent.Type.Paint
        return False


class Stream:
    """A solver without arithmetic, where only threads and history are tested: iterates that count."""

    def __init__(self, *, length=None, pause=0.0, refuses=None):
        self.length, self.pause, self.refuses = length, pause, refuses
        self.given = 0  # iterates, over all streams
        self.closed = 0  # streams that were closed or came to their end
        self.starts = []
        seen = np.ones((3, 4), dtype=bool)
        problem = NonRigidProblem(np.zeros((3, 2, 4)), seen, np.tile(np.eye(3), (3, 1, 1)), 0.05, np.ones(2))
        factors = Factors(np.ones((3, 2)), np.ones((2, 3, 4)), np.zeros((3, 3)))
        self._candidate = Point(problem, factors, 1.0)

    def __call__(self, sequence, settings, start):
        if settings == self.refuses:
            raise InputError(f"rank {settings.rank} is refused")
        self.starts.append(start)
        return self._updates(settings)

    def _updates(self, settings):
        try:
            for iteration in itertools.count() if self.length is None else range(self.length):
                time.sleep(self.pause)
                self.given += 1
                over = iteration + 1 == self.length
                loss = 1.0 / (1 + iteration)
                yield Iterate(
                    settings=settings,
                    record=HistoryEntry(iteration, 1e-3 * iteration, loss, COUNTING),
                    status=Status.CONVERGED if over else Status.RUNNING,
                    fraction=(iteration + 1) / self.length if self.length else 0.5,
                    intrinsics=np.eye(3),
                    rotations="known",
                    rotations_chosen=True,
                    current=self._candidate,
                    best=self._candidate,
                )
        finally:
            self.closed += 1


make_known, make_stream, paints_of = map(called_by_tests, (known_case, Stream, Paints))


@pytest.fixture
def store(tmp_path):
    from nrsfm_gui.model.app_store import AppStore

    return AppStore(tmp_path / "settings.json")


@pytest.fixture(scope="session", autouse=True)
def collector(qapp):
    """Collect garbage in this thread only, as the application does."""
    from nrsfm_gui.shell.gc_in_gui_thread import Collector

    return Collector(qapp)


@pytest.fixture(scope="module", autouse=True)
def brief(brief_search):
    """Search depths briefly: how low an end is does not matter to what shows it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, "MOST_JUDGED", 1)
        yield


@contextmanager
def kept_style(application):
    """Give the application back the colors, the style sheet and the font that it had before."""
    before = application.styleSheet(), QPalette(application.palette()), QFont(application.font())
    yield
    if (application.styleSheet(), application.palette(), application.font()) != before:
        style_sheet, palette, font = before
        application.setFont(font)
        application.setPalette(palette)
        application.setStyleSheet(style_sheet)


@pytest.fixture(scope="module", autouse=True)
def same_style_of_file(qapp):
    """Give the application back the style that it had before the fixtures of a file."""
    with kept_style(qapp):
        yield


@pytest.fixture(autouse=True)
def same_style(qapp):
    with kept_style(qapp):
        yield


@pytest.fixture(autouse=True)
def released_buttons(qapp):
    """Release the mouse buttons that a test leaves pressed, and hide the tip that it leaves shown.

    `QTest.mouseDClick` always leaves one pressed. Qt reports that to the rest of the process, where the
    window looks whether a button is pressed. A tip belongs to the process, too.
    """
    yield
    for widget in qapp.topLevelWidgets():
        if widget.inherits("QTipLabel"):
            widget.close()
    for button in QGuiApplication.mouseButtons():
        QTest.mouseRelease(QWidget(), button)
    assert QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton


@pytest.fixture
def session(qapp):
    from nrsfm_gui.model.session import Session

    made = Session()
    yield made
    made.deleteLater()


@pytest.fixture
def statuses(session):
    statuses = []
    session.notifier.status_changed.connect(statuses.append)
    return statuses


@pytest.fixture
def control(session):
    from nrsfm_gui.engine.run_control import RunControl

    made = RunControl(session)
    yield made
    made.shut_down()


@pytest.fixture
def messages(session):
    """Return a bar that shows the messages of the session."""
    from nrsfm_gui.widgets.banners import MessageBar

    made = MessageBar()
    made.listen_to(session.notifier)
    yield made
    made.close()


@pytest.fixture
def scene_view(show):
    from nrsfm_gui.panels.view3d.scene_view import SceneView

    return show(SceneView(software=True), 640, 480)


@pytest.fixture
def tracks_view(show):
    from nrsfm_gui.panels.view2d.tracks_view import TracksView

    return show(TracksView(), 640, 480)


@pytest.fixture
def undrawn_display(session):
    """Return what draws the session in no view: some panels need the scene, and what it knows of errors."""
    from nrsfm_gui.scene.display import Display

    made = Display(session, (SimpleNamespace(set_scene=lambda _scene: None, repaint=lambda: None),))
    yield made
    made.shut_down()


@pytest.fixture
def display(session, scene_view, tracks_view):
    from nrsfm_gui.scene.display import Display

    made = Display(session, (scene_view, tracks_view))
    yield made
    made.shut_down()


@pytest.fixture
def background(session, tracks_view):
    from nrsfm_gui.panels.background.background_controller import BackgroundController

    made = BackgroundController(session, tracks_view, session)
    yield made
    made.shut_down()


@pytest.fixture
def make_exporting(show, session, display, scene_view, tracks_view, background, store):
    """Make what exports the session, its two views and figures that are given by their names."""
    from nrsfm_gui.export.export_controller import ExportController
    from nrsfm_gui.export.movie import ViewSources

    made = []

    def make(**figures):
        around = QWidget()
        sources = ViewSources(session, display, scene_view, tracks_view, background, around)
        exporting = ExportController(sources, store, figures=figures)
        layout = QVBoxLayout(around)
        layout.addWidget(exporting.strip)
        for view in (scene_view, tracks_view):
            layout.addWidget(view, 1)
        show(around, 640, 800)
        made.append(exporting)
        return exporting

    yield make
    for exporting in made:
        exporting.shut_down()


@called_by_tests
def add_run(session, state, settings, *, noise=0.0):
    """Add a run that is over to a session, without a solver."""
    from nrsfm_gui.model.run import RunState

    run = session.add_run(settings)
    run.last, run.state = state, RunState.FINISHED
    phase = Phase(PhaseKind.REFINE)
    run.history.extend(HistoryEntry(k, 0.01 * k, 2.0 - 0.1 * k + noise, phase) for k in range(9))
    session.report_run(run)
    return run


@pytest.fixture(scope="session")
def work():
    """Return a solver that repeats what it gave from the same start before, and solves all else.

    Two sequences are the same where their tracks and all that is known of them are. Arrays are read-only, so
    that no test changes what another one gets.
    """
    solved = {}

    def stream(sequence, settings, start):
        key = (sequence.content, settings)
        if start is not None:
            yield from iterate(sequence, settings, start=start)
        elif key in solved:
            yield from solved[key]
        else:
            made = []
            for each in iterate(sequence, settings):
                made.append(each)
                yield each
            make_read_only(made)  # at once, since the iterates share much
            solved[key] = tuple(made)

    return stream


@pytest.fixture(scope="session")
def solve_once(work):
    """Return all iterates of a sequence under some settings; each pair of both is solved once per process."""
    return lambda sequence, settings: tuple(work(sequence, settings, None))


def make_read_only(value, seen=None):
    """Forbid to write into the arrays that an object holds, however deep."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, (tuple, list)):
        for item in value:
            make_read_only(item, seen)
    else:
        for item in getattr(value, "__dict__", {}).values():
            make_read_only(item, seen)


@pytest.fixture(scope="session")
def add_solved_run(solve_once):
    """Show a sequence and its parameters in a session, with a run that the solver has finished."""
    from nrsfm_gui.model.run import RunState

    def add(session, sequence, settings):
        session.set_settings(settings)
        session.set_sequence(sequence)
        run = session.add_run(settings)
        for index, state in enumerate(solve_once(sequence, settings)):
            run.history.extend([state.record])
            run.snapshots.add(index, state)
            run.last = state
        run.state = RunState.FINISHED
        session.report_run(run)
        return run

    return add


@pytest.fixture(scope="session")
def add_three_runs(add_run, known, make_iterate):
    """Show a sequence in a session, with runs of two ranks and of another penalty; the last one is shown."""

    def add(session):
        quick = Settings(rank=2, rotations="truth", starts=1, max_iterations=20, objective="wnn")
        session.set_live(False)
        session.set_sequence(known.sequence)
        for number, changes in enumerate(({}, {"rank": 3}, {"penalty": NuclearNorm()}), 1):
            settings = quick.with_changes(**changes)
            add_run(session, make_iterate(known, noise=0.01 * number), settings)
        session.set_settings(settings)

    return add


@pytest.fixture
def one_gesture(monkeypatch):
    """Take all changes of the same parameters as one movement of the hand, on a slow machine too."""
    monkeypatch.setattr("nrsfm_gui.model.changes.GESTURE", float("inf"))


@pytest.fixture
def wait_for_comparison(qtbot):

    def wait(session, display):
        def drawn():
            found, compared = display.compared_incumbent, session.compared
            known = display.together is not None and found is not None and compared is not None
            return known and found.iterate is compared.last

        qtbot.waitUntil(drawn)
        display.refresh()

    return wait


@pytest.fixture
def press_action(session):
    """Trigger an action of the table, bound to an object that has the controllers it names."""
    from nrsfm_gui.shell.actions import ACTIONS, bind, make_action

    def press(owner, name):
        spec = next(spec for spec in ACTIONS if spec.name == name)
        assert spec.when.holds(session), spec.when.needs
        action = make_action(spec, bind(spec, owner), session)
        if spec.checked is not None:
            action.setChecked(spec.checked(session))
        action.trigger()
        return action

    return press


@contextmanager
def windows(bot, **usual):
    """Make shown windows that paint 3-D without OpenGL; each is closed in the end."""
    from nrsfm_gui.main_window import MainWindow

    made = []

    def make(sequence=None, *, settings=None, **options):
        window = MainWindow(**{"software": True} | usual | options)
        made.append(window)
        window.resize(1280, 800)
        bot.activate(window)
        if settings is not None:
            window.parameters_panel.set_settings(settings)
            window.session.set_settings(settings)
        if sequence is not None:
            window.sequence_opening.open_sequence(sequence)
            window.toolbars.show_situation()
        return window

    yield make
    for window in made:
        window.close()
        window.deleteLater()
    bot.wait(1)


@pytest.fixture
def make_window(qtbot, store, work):
    """Make shown windows; each is closed after the test."""
    with windows(qtbot, store=store, work=work) as make:
        yield make


@pytest.fixture(scope="module")
def make_shared_window(qapp, request, work, tmp_path_factory):
    """Make windows that all tests of a file read, and leave as they were."""
    from nrsfm_gui.model.app_store import AppStore

    store = AppStore(tmp_path_factory.mktemp("window") / "settings.json")
    with windows(PatientQtBot(request), store=store, work=work) as make:
        yield make


@pytest.fixture(scope="module")
def shared(make_shared_window):
    """Return such a window; files that need more in it have their own."""
    return make_shared_window()


@pytest.fixture
def saved_to(qtbot):
    """Let a window save its session to a path, and return that."""

    def save(window, path):
        window.session_saver.save_to(path)
        qtbot.waitUntil(lambda: not window.session_saver.busy and path.exists())
        return path

    return save


@pytest.fixture(scope="session")
def solved_sweep(tmp_path_factory):
    """Return a folder with the data, and the sweep that was made of it: eight runs, one of them failed."""
    root = tmp_path_factory.mktemp("sweep")
    write_challenge(root / "data", "balloon", paths=("circle",), frames=9, points=16, seed=3)
    quick = Settings(rotations="truth", objective="wnn", starts=1)
    varied = itertools.product(RANKS, ETAS, SEEDS)
    settings = [quick.with_changes(rank=rank, eta=eta, seed=seed) for rank, eta, seed in varied]
    sequences = find_sequences([str(root / "data" / "balloon")], cameras=("perspective",))
    folder = root / "runs"
    plan = plan_sweep(sequences, settings, folder)
    jobs = plan.jobs
    (folder / "results").mkdir(parents=True)
    with JobStore(folder) as store:
        for job in jobs:
            result = job.run()
            if job is jobs[-1]:
                result = JobResult({}, failure=FAILURE, status=FAILED)
            result = replace(result, facts=job.identity | result.facts, seconds=0.5, memory_mb=90.0)
            save_job_result(store, job.key, result)
    write_plan(folder, len(jobs), plan.swept)
    return root


@pytest.fixture(scope="session")
def rows(solved_sweep):
    from nrsfm_gui.text.sweep_rows import build_rows

    return build_rows(read_sweep(solved_sweep / "runs"))


@pytest.fixture
def swept(solved_sweep, tmp_path):
    """Return the folder of the sweep in a copy that a test may change; its data are at their place."""
    shutil.copytree(solved_sweep / "runs", tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def lines(swept):
    return lambda: (swept / "runs.jsonl").read_bytes().splitlines(keepends=True)


@called_by_tests
def drop(widget, path):
    """Drop a file or folder on a widget, as a file manager does: a drop goes to what accepted the drag."""
    data = QMimeData()
    data.setUrls([QUrl(path.as_uri())])
    where, action = QPoint(9, 9), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    dragged = QDragEnterEvent(where, action, data, buttons, keys)
    QApplication.sendEvent(widget, dragged)
    assert dragged.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(where), action, data, buttons, keys))
