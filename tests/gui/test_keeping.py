"""Sessions that are saved, opened again, saved by themselves, lost and recovered."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import QLockFile
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QFileDialog, QLineEdit

import core.atomic
from core import load_result, reconstruct, save_result, simulate, solve_sequence, write_npz
from core.files import read_sequence
from core.penalties import ExplicitWeights, NuclearNorm, TruncatedNuclearNorm
from core.settings import PRESETS, Settings
from nrsfm_gui.keeping.autosave import LAST, OWN, Autosave, lost_sessions, summary
from nrsfm_gui.keeping.session_file import SavedRun, SavedSequence, SavedSession, read_session, write_session
from nrsfm_gui.state.runs import Run, RunState

ROOT = Path(__file__).parents[2]
QUICK = Settings(rank=2, starts=2, rotations="truth")
LOW_RANK = PRESETS["lowrank"].with_changes(rank=3, starts=2, penalty=TruncatedNuclearNorm(mu=1.0, free=3))
DIGITS = 1e-12


@pytest.fixture
def sequence(tmp_path):
    path = tmp_path / "small.npz"
    write_npz(simulate("balloon", frames=14, points=16, seed=3), path)
    return read_sequence(path)


@pytest.fixture
def solved(qtbot, make_window, sequence):
    """Make windows with a run that is done."""

    def make(settings=QUICK):
        window = make_window(sequence, settings=settings)
        run = window.control.start(warm=False)
        qtbot.waitUntil(lambda: run.state is RunState.FINISHED, timeout=20_000)
        window.display.refresh()  # a first picture moves the camera to where all is seen
        return window, run

    return make


@pytest.fixture
def kept(sequence):
    """A session with one run, made without a window."""
    run = Run(1, sequence, QUICK, state=RunState.FINISHED)
    for update in reconstruct(sequence, QUICK):
        run.history.extend([update.record])
        run.last = update
    return SavedSession((SavedSequence(sequence, (SavedRun.of(run),), 1),), 0, QUICK)


def saved_to(qtbot, window, path):
    window.keeping.save_to(path)
    qtbot.waitUntil(lambda: not window.keeping.busy and path.exists())
    return path


def opened(qtbot, window, path):
    with qtbot.waitSignal(window.opening.opened):
        window.opening.open(path)


def text_of(window, recipe):
    getattr(window.exporting, f"copy_{recipe}")()
    return QGuiApplication.clipboard().text()


@pytest.mark.parametrize("settings", [QUICK, LOW_RANK], ids=["non-rigid", "low rank"])
def test_a_session_is_the_same_in_another_window(qtbot, make_window, solved, tmp_path, settings):
    window, run = solved(settings)
    window.control.set_live(False)
    window.session.rename_run(run, "the good one")
    window.session.set_frame(5)
    window.session.set_selection((2, 4), 4)
    window.session.set_hidden((7,))
    window.session.set_frame_range((3, 9))
    window.looks.change(color_by="error")
    window.scene_view.set_orbit(window.scene_view.orbit.turned(33.0, 5.0))
    window.parameters.set_settings(settings.with_changes(eta=0.125))
    window.session.set_settings(settings.with_changes(eta=0.125))
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    other = make_window()
    opened(qtbot, other, path)
    session, (again,) = other.session, other.session.runs
    assert again.last.best.loss == run.last.best.loss
    for each in (window, other):
        each.display.refresh()
    assert other.display.errors.of_run(again) == window.display.errors.of_run(run)
    assert again.title == "the good one" and session.shown is again
    assert (session.frame, session.selection, session.point) == (5, (2, 4), 4)
    assert (session.hidden, session.frame_range) == ({7}, (3, 9))
    assert other.display.appearance == window.display.appearance
    assert other.scene_view.orbit == window.scene_view.orbit
    assert other.session.settings == settings.with_changes(eta=0.125)
    assert other.parameters.settings == other.session.settings
    for recipe in ("python", "command"):
        assert text_of(other, recipe) == text_of(window, recipe)
    further = []
    for each in (window, other):
        each.run()
        new = each.control.current
        qtbot.waitUntil(lambda new=new: new.state is RunState.FINISHED, timeout=20_000)
        assert new.warm_from == 1 and new.number == 2
        further.append(new.last.best.loss)
    assert further[0] == further[1] != run.last.best.loss


def test_the_title_names_the_session_and_marks_what_is_not_saved(qtbot, solved, tmp_path):
    window, run = solved()
    assert window.windowTitle() == "balloon circle (perspective)[*] – NRSfM Studio"
    assert window.isWindowModified()
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    qtbot.waitUntil(lambda: not window.isWindowModified())
    assert window.windowTitle() == "my.nrsfm[*] – balloon circle (perspective) – NRSfM Studio"
    assert window.store.recent()[0] == path
    window.session.set_note(run, "looks right")
    assert window.isWindowModified()
    window.keeping.save()  # no question: it has a name
    qtbot.waitUntil(lambda: not window.isWindowModified())
    assert read_session(path).sequences[0].runs[0].note == "looks right"


def test_where_to_save_is_asked_while_everything_goes_on(qtbot, solved, tmp_path):
    window, _run = solved()
    window.chrome.actions["save"].trigger()
    dialog = window.findChild(QFileDialog)
    assert Path(dialog.selectedFiles()[0]).name == "balloon-circle.nrsfm"
    window.run()
    qtbot.waitUntil(lambda: window.control.current is None, timeout=20_000)
    dialog.setDirectory(str(tmp_path))
    dialog.findChild(QLineEdit).setText("mine")
    dialog.accept()
    qtbot.waitUntil(lambda: window.keeping.file == tmp_path / "mine.nrsfm")
    assert len(read_session(tmp_path / "mine.nrsfm").sequences[0].runs) == 2


def test_a_window_without_runs_is_not_marked_and_leaves_nothing(qtbot, make_window, sequence):
    window = make_window(sequence)
    window.session.set_settings(QUICK)
    window.keeping.autosave.save()
    assert not window.isWindowModified()
    window.close()
    assert not list(window.keeping.folder.glob("*.nrsfm"))


def test_every_sequence_with_runs_is_in_the_session(qtbot, make_window, solved, known, tmp_path):
    window, run = solved()
    window.opening.opened.emit(known.sequence, None)
    path = saved_to(qtbot, window, tmp_path / "two.nrsfm")
    assert summary(path) == "1 run of balloon circle"
    other = make_window()
    opened(qtbot, other, path)
    assert other.session.sequence.name == "sheet" and other.session.runs == []
    opened(qtbot, other, run.sequence.source)
    assert [each.last.best.loss for each in other.session.runs] == [run.last.best.loss]


# -- what can go wrong ----------------------------------------------------------------------------------


def test_a_file_that_goes_while_it_is_open_disturbs_nothing(qtbot, make_window, solved, tmp_path):
    window, run = solved()
    run.sequence.source.unlink()
    window.run()
    qtbot.waitUntil(lambda: window.control.current is None, timeout=20_000)
    assert [each.state for each in window.session.runs] == [RunState.FINISHED] * 2
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    other = make_window()
    opened(qtbot, other, path)
    assert "small.npz is not there any more: balloon circle is shown as the session keeps it" in (
        other.messages.text
    )
    assert len(other.session.runs) == 2


def test_a_file_that_has_changed_is_offered(qtbot, make_window, kept, tmp_path, sequence):
    path = write_session(kept, tmp_path / "my.nrsfm")
    write_npz(replace(sequence, name="newer"), sequence.source)
    other = make_window()
    opened(qtbot, other, path)
    assert "has changed since" in other.messages.text
    button = next(
        child for child in other.messages.findChildren(object) if getattr(child, "text", str)() ==
        "Open the file as it is now"
    )  # fmt: skip
    with qtbot.waitSignal(other.opening.opened):
        button.click()
    assert other.session.sequence.name == "newer" and other.session.runs == []


def test_a_full_disk_or_a_folder_that_cannot_be_written_is_said(qtbot, solved, tmp_path, monkeypatch):
    window, _run = solved()
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    before = path.read_bytes()
    window.session.set_frame(3)

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with qtbot.waitSignal(window.reported) as reported:
            window.keeping.save()
    assert reported.args == [f"{path} cannot be written: No space left on device"]
    with monkeypatch.context() as patch:  # the tests may run as root, whom no mode of a folder keeps out
        patch.setattr(core.atomic.os, "access", lambda *_: False)
        with qtbot.waitSignal(window.reported) as reported:
            window.keeping.save()
    assert "no permission to write in the folder" in reported.args[0]
    assert path.read_bytes() == before
    assert sorted(item.name for item in tmp_path.glob(".*")) == []


def test_a_process_that_is_killed_while_it_saves_leaves_the_old_file(kept, tmp_path):
    path = write_session(kept, tmp_path / "my.nrsfm")
    before = path.read_bytes()
    program = f"""
import os, signal
from pathlib import Path
from nrsfm_gui.keeping.session_file import read_session, write_session
saved = read_session(Path({str(path)!r}))
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # when all is written, and nothing replaced
write_session(saved, Path({str(path)!r}))
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    read_session(path)


def test_a_view_that_cannot_be_read_costs_the_view_only(qtbot, make_window, solved, tmp_path):
    window, _run = solved()
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    saved = read_session(path)
    for view in (
        {"frame": 0},
        saved.view | {"theme": "green"},
        saved.view | {"orbit": {"center": [0, 0, "x"]}},
    ):
        write_session(replace(saved, view=view, layout={"docks": "!é"}), path)
        opened(qtbot, window, path)
        assert "The session is shown from the front instead" in window.messages.text
        assert len(window.session.runs) == 1


def test_a_session_that_cannot_be_read_leaves_what_is_open(qtbot, solved, tmp_path):
    window, run = solved()
    path = tmp_path / "bad.nrsfm"
    path.write_bytes(b"PK\x03\x04")
    with qtbot.waitSignal(window.opening.failed):
        window.opening.open(path)
    assert window.session.shown is run
    assert f"{path}: is not a session" in window.messages.text


# -- saved by itself ------------------------------------------------------------------------------------


def save_every(store, seconds):
    store.set_preferences(store.preferences().changed("autosave_seconds", seconds))


def own_file(window):
    found = list(window.keeping.folder.glob(f"{OWN}*.nrsfm"))
    return found[0] if found else None


def test_a_run_is_saved_by_itself_when_it_has_ended(qtbot, solved):
    window, run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    saved = read_session(own_file(window))
    assert saved.sequences[0].runs[0].update.best.loss == run.last.best.loss
    assert lost_sessions(window.keeping.folder) == []  # its lock is held
    window.close()
    assert own_file(window) is None
    last, holds = window.keeping.last_session()
    assert holds == "1 run of balloon circle"
    assert read_session(last).sequences[0].runs[0].update.best.loss == run.last.best.loss


@pytest.fixture
def autosave(qapp, kept, tmp_path):
    """Something that saves by itself, without a window."""
    made = Autosave(tmp_path / "data", lambda: kept, lambda: 0.4, qapp)
    yield made
    made.shut_down(keep=False)
    made.deleteLater()


def test_a_change_is_saved_by_itself_after_the_interval(qtbot, autosave):
    began = time.monotonic()
    with qtbot.waitSignal(autosave.saved):
        autosave.note_change()
        autosave.note_change()
    assert time.monotonic() - began >= 0.3  # a coarse timer may be early
    with qtbot.assertNotEmitted(autosave.saved, wait=700):  # nothing has changed since
        pass
    with qtbot.waitSignal(autosave.saved):
        autosave.note_end()


def test_nothing_is_saved_by_itself_where_that_is_switched_off(qtbot, solved, store):
    save_every(store, 0)
    window, _run = solved()
    qtbot.wait(700)
    window.close()
    assert not window.keeping.folder.exists()


def test_a_saved_session_leaves_nothing_else_behind(qtbot, solved, tmp_path):
    window, _run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    saved_to(qtbot, window, tmp_path / "my.nrsfm")
    qtbot.waitUntil(lambda: own_file(window) is None)
    window.close()
    assert list(window.keeping.folder.iterdir()) == []


def test_a_full_disk_is_said_once_and_saving_works_again_after_it(qtbot, autosave, tmp_path, monkeypatch):
    said, tried = [], []
    autosave.failed.connect(lambda sentence, _details: said.append(sentence))

    def full(_descriptor):
        tried.append(time.monotonic())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        autosave.note_change()
        qtbot.waitUntil(lambda: len(tried) > 2, timeout=6000)
        assert len(said) == 1 and "No space left on device" in said[0]
    with qtbot.waitSignal(autosave.works_again, timeout=4000):
        pass
    (path,) = (tmp_path / "data").glob(f"{OWN}*.nrsfm")
    read_session(path)
    assert not list((tmp_path / "data").glob(".*"))


def test_a_folder_that_cannot_be_made_is_said_by_the_window(qtbot, solved, tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")
    window, _run = solved()
    qtbot.waitUntil(lambda: "not saved by itself at the moment" in window.messages.text)
    assert f"{tmp_path / 'data'} cannot be made" in window.messages.text
    (tmp_path / "data").unlink()

    def works_again():
        window.keeping.autosave.save()  # which does nothing until the failed one is at its end
        return "saved by itself again" in window.messages.text

    qtbot.waitUntil(works_again)


def test_a_session_that_was_not_saved_can_be_opened_as_the_last_one(qtbot, make_window, kept):
    window = make_window()
    window.keeping.folder.mkdir(parents=True)
    write_session(kept, window.keeping.folder / LAST)
    menu = window.chrome._recent
    menu.aboutToShow.emit()
    action = menu.actions()[0]
    assert action.text() == "Last session, not saved"
    assert action.toolTip().startswith("1 run of balloon circle: ")
    with qtbot.waitSignal(window.opening.opened):
        action.trigger()
    assert window.session.shown.last.best.loss == kept.sequences[0].runs[0].update.best.loss
    assert window.isWindowModified() and window.keeping.file is None
    assert window.store.recent() == []


def test_opening_a_session_keeps_the_unsaved_one_before_it(qtbot, solved, tmp_path):
    window, run = solved()
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    window.session.set_note(run, "not saved")
    opened(qtbot, window, path)
    assert window.session.runs[0].note == ""
    qtbot.waitUntil(lambda: window.keeping.last_session() is not None)
    last, _ = window.keeping.last_session()
    assert read_session(last).sequences[0].runs[0].note == "not saved"


# -- recovered ------------------------------------------------------------------------------------------


def lose(saved, folder):
    """Leave a session behind as a killed process does: its file, and a lock that nobody holds."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_session(saved, folder / f"{OWN}999999999-0.nrsfm")


def test_a_lost_session_is_offered_and_recovered(qtbot, make_window, kept, tmp_path):
    window = make_window()
    path = lose(replace(kept, file=tmp_path / "my.nrsfm"), window.keeping.folder)
    window.keeping.begin(scripted=False)
    bar = window.keeping.recovering.bar
    assert bar.text.startswith("A session was not closed properly: 1 run of balloon circle, saved at ")
    assert lost_sessions(window.keeping.folder) == []  # no second window offers it
    with qtbot.waitSignal(window.opening.opened):
        bar.buttons["Recover"].click()
    assert bar.text == "" and "Recovered 1 run of balloon circle" in window.messages.text
    assert window.session.shown.last.best.loss == kept.sequences[0].runs[0].update.best.loss
    assert window.isWindowModified() and window.keeping.file == tmp_path / "my.nrsfm"
    qtbot.waitUntil(lambda: not path.exists())  # once this window has saved it
    assert own_file(window) is not None


def test_a_lost_session_can_be_discarded_or_left(make_window, kept):
    window = make_window()
    path = lose(kept, window.keeping.folder)
    bar = window.keeping.recovering.bar
    window.keeping.begin(scripted=False)
    bar.buttons["Later"].click()
    assert bar.text == "" and path.exists()
    window.keeping.begin(scripted=False)
    bar.buttons["Discard"].click()
    assert bar.text == "" and not path.exists()
    assert not path.with_suffix(".lock").exists()
    window.keeping.begin(scripted=False)
    assert bar.text == ""


def test_what_a_killed_process_was_writing_is_cleared_away(tmp_path):
    (tmp_path / f"{OWN}2-2.lock").write_text("999999999\nnrsfm-gui\nelsewhere\n")
    far = tmp_path / f"{OWN}2-2.nrsfm"  # of another machine on the same disk: nobody here knows whether it is
    far.write_bytes(b"PK")
    here = QLockFile(str(tmp_path / f"{OWN}1-1.lock"))
    assert here.tryLock(0)
    other = tmp_path / f".{OWN}1-1-x1y2.nrsfm"
    other.write_bytes(b"PK")
    assert lost_sessions(tmp_path) == []
    assert other.exists()  # its process is alive
    here.unlock()
    assert lost_sessions(tmp_path) == []
    assert not other.exists() and far.exists()


def test_a_lost_session_that_is_damaged_is_not_in_the_way(qtbot, make_window, known):
    window = make_window(known.sequence)
    folder = window.keeping.folder
    folder.mkdir(parents=True)
    path = folder / f"{OWN}1-0.nrsfm"
    path.write_bytes(b"PK\x03\x04 and no more")
    window.keeping.begin(scripted=False)
    bar = window.keeping.recovering.bar
    assert "saved at" in bar.text
    with qtbot.waitSignal(window.opening.failed):
        bar.buttons["Recover"].click()
    assert window.session.sequence is known.sequence
    lock = QLockFile(str(path.with_suffix(".lock")))
    assert lock.tryLock(0)  # it was let go of
    lock.unlock()


KILLED = """
import sys
from nrsfm_gui import app
from nrsfm_gui import main_window
begin = main_window.MainWindow.begin
def watched(window, arguments):
    begin(window, arguments)
    run = lambda: window.session.runs[0]
    window.keeping.autosave.saved.connect(lambda: print("saved", len(run().history.records), flush=True))
main_window.MainWindow.begin = watched
sys.exit(app.main(sys.argv[1:]))
"""


def test_a_killed_application_loses_no_more_than_the_interval(qtbot, tmp_path, sequence):
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHONPATH": str(ROOT),
    }
    settings = tmp_path / "config" / "nrsfm" / "nrsfm-gui.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("[General]\nautosave_seconds=1\n")
    command = [
        sys.executable, "-c", KILLED, str(sequence.source), "--run", "--renderer", "software",
        "--method", "admm", "--max-iterations", "1000000", "--tolerance", "0", "--rotations", "truth",
    ]  # fmt: skip
    process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        first, second = (process.stdout.readline().split() for _ in range(2))
        time.sleep(0.6)
    finally:
        killed = time.time()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert first[0] == second[0] == "saved"
    (folder,) = [path.parent for path in (tmp_path / "data").rglob(f"{OWN}*.nrsfm")]
    (lost,) = lost_sessions(folder)
    saved = read_session(lost.path).sequences[0].runs[0]
    lost.release()
    assert saved.state is RunState.STOPPED
    assert len(saved.records) > int(first[1]) // 2
    assert killed - lost.path.stat().st_mtime < 3  # the interval, and what it takes to write
    recover = """
import sys
from PyQt6.QtCore import QTimer
from nrsfm_gui import app
from nrsfm_gui import main_window
begin = main_window.MainWindow.begin
def watched(window, arguments):
    begin(window, arguments)
    def recover(*_):
        window.opening.opened.disconnect(recover)
        print(window.keeping.recovering.bar.text)
        window.opening.session_read.connect(lambda *_: print("read", len(window.session.runs[0].history)))
        window.keeping.autosave.saved.connect(lambda: QTimer.singleShot(0, window.close))
        window.keeping.recovering.bar.buttons["Recover"].click()
    window.opening.opened.connect(recover)
main_window.MainWindow.begin = watched
sys.exit(app.main(sys.argv[1:]))
"""
    again = subprocess.run(
        [sys.executable, "-c", recover, "--renderer", "software"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert "1 run of balloon circle, saved at" in again.stdout
    assert f"read {len(saved.records)}" in again.stdout
    assert not lost.path.exists()


# -- results opened -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "there"), [(QUICK, False), (LOW_RANK, True)], ids=["without its file", "low rank, with it"]
)
def test_a_result_is_shown_as_a_run_and_gone_on_from(qtbot, make_window, sequence, tmp_path, settings, there):
    result = solve_sequence(sequence, settings)
    path = save_result(result, tmp_path / "result.npz")
    if not there:
        sequence.source.unlink()
    window = make_window()
    opened(qtbot, window, path)
    qtbot.waitUntil(lambda: bool(window.session.runs))
    assert window.session.settings == window.parameters.settings == settings
    (run,) = window.session.runs
    assert (run.title, run.state, run.last.best.loss) == ("opened: result", RunState.FINISHED, result.loss)
    assert (window.session.sequence.source is None) == (not there)
    assert len(run.history) == len(result.history)
    window.display.refresh()
    assert window.display.errors.of_run(run).reprojection == pytest.approx(
        result_quality(sequence, result), rel=1e-9
    )
    window.control.set_live(False)
    window.session.set_settings(settings.with_changes(eta=0.3))
    window.parameters.set_settings(settings.with_changes(eta=0.3))
    window.run()
    further = window.control.current
    qtbot.waitUntil(lambda: further.state is RunState.FINISHED, timeout=20_000)
    assert "from where it was" in [start.name for start in further.last.starts]
    assert further.warm_from == run.number


def result_quality(sequence, result):
    """The reprojection error by itself: RMS over visible observations."""
    import numpy as np

    apart = np.linalg.norm(result.reprojections() - sequence.tracks, axis=1)[sequence.visible]
    return float(np.sqrt(np.mean(apart**2)))


def test_a_result_of_the_open_sequence_joins_its_runs(qtbot, solved, tmp_path, sequence):
    window, run = solved()
    path = save_result(solve_sequence(sequence, QUICK.with_changes(eta=0.2)), tmp_path / "other.npz")
    opened(qtbot, window, path)
    qtbot.waitUntil(lambda: len(window.session.runs) == 2)
    assert [each.number for each in window.session.runs] == [run.number, run.number + 1]
    assert window.session.shown.title == "opened: other"


# -- copied ---------------------------------------------------------------------------------------------


def losses_of_copies(window, tmp_path):
    """Run what is copied as Python and as command, as a person would; return the losses that they save."""
    folder = Path(sys.executable).parent
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    texts = {recipe: text_of(window, recipe) for recipe in ("python", "command")}
    (tmp_path / "program.py").write_text(texts["python"])
    losses = []
    for line in (f"{shlex.quote(sys.executable)} program.py", f"{texts['command']} --quiet"):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path, env=environment)
        losses.append(load_result(tmp_path / "result.npz").loss)
        (tmp_path / "result.npz").unlink()
    return losses


@pytest.mark.parametrize(
    "settings",
    [QUICK, QUICK.with_changes(penalty=ExplicitWeights((0.02, 1 / 3))), LOW_RANK],
    ids=["bilinear", "explicit weights", "low rank"],
)
def test_what_is_copied_of_a_run_gives_its_loss(solved, tmp_path, settings):
    window, run = solved(settings)
    for loss in losses_of_copies(window, tmp_path):
        assert loss == pytest.approx(run.last.shown.loss, rel=DIGITS, abs=0)


def test_what_is_copied_of_a_run_that_was_steered_live_gives_its_loss(qtbot, solved, tmp_path):
    settings = QUICK
    window, run = solved(settings)
    window.control.set_live(True)
    for number, penalty in enumerate((NuclearNorm(0.03), NuclearNorm(0.02), NuclearNorm(0.011))):
        window.session.set_settings(settings.with_changes(penalty=penalty, eta=0.1 + 0.01 * number))
        qtbot.wait(15 * number)
    live = window.session.shown
    qtbot.waitUntil(lambda: live.settings == window.session.settings and not live.state.alive, timeout=20_000)
    assert window.session.runs == [run, live]
    for loss in losses_of_copies(window, tmp_path):
        assert loss == pytest.approx(live.last.shown.loss, rel=DIGITS, abs=0)
    window.run()
    warm = window.control.current
    qtbot.waitUntil(lambda: not warm.state.alive, timeout=20_000)
    window.session.set_settings(window.session.settings.with_changes(rank=settings.rank + 1))
    last = window.session.shown
    qtbot.waitUntil(lambda: last.settings == window.session.settings and not last.state.alive, timeout=20_000)
    assert window.session.runs == [run, live, warm, last] and last.warm_from == warm.number
    assert len(last.last.lineage.recipe().steps) >= 3
    for loss in losses_of_copies(window, tmp_path):
        assert loss == pytest.approx(last.last.shown.loss, rel=DIGITS, abs=0)


def test_what_is_copied_of_a_run_that_went_on_from_a_moment_gives_its_loss(qtbot, solved, tmp_path):
    window, _done = solved()
    for eta in (0.4, 0.2):
        window.session.set_settings(QUICK.with_changes(eta=eta))
        run = window.session.shown
        wanted = window.session.settings
        qtbot.waitUntil(
            lambda run=run, wanted=wanted: run.settings == wanted and not run.state.alive, timeout=20_000
        )
        window.session.set_moment(run.moments.indices[0])  # the next change goes on from there
    assert len(run.last.lineage.recipe().steps) == 3
    for loss in losses_of_copies(window, tmp_path):
        assert loss == pytest.approx(run.last.best.loss, rel=DIGITS, abs=0)


def test_what_is_copied_of_a_stopped_run_stops_there(qtbot, make_window, sequence, tmp_path):
    window = make_window(sequence, settings=QUICK.with_changes(method="lm", starts=1))
    window.step()
    run = window.control.current
    for count in range(2, 7):
        qtbot.waitUntil(lambda count=count: len(run.history) == count - 1)
        window.step()
    qtbot.waitUntil(lambda: len(run.history) == 6)
    window.control.cancel()
    qtbot.waitUntil(lambda: run.state is RunState.STOPPED)
    assert "--updates 6" in text_of(window, "command")
    for loss in losses_of_copies(window, tmp_path):
        assert loss == pytest.approx(run.last.best.loss, rel=DIGITS, abs=0)
