"""What is saved by itself, and recovered after a crash."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hands import files_of_at_most, text_of
from patience import PATIENCE
from programs import environment_of
from PyQt6.QtCore import QLockFile
from PyQt6.QtWidgets import QFileDialog, QMessageBox, QPushButton

from core import read_sequence, simulate, write_npz
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions import session_saver
from nrsfm_gui.sessions.autosave import CLOSED, MARK, MOST_CLOSED, PREFIX, Autosave, closed_sessions
from nrsfm_gui.sessions.recovery import lost_sessions
from nrsfm_gui.sessions.session_file import read_session, write_session


def save_every(store, seconds):
    store.set_preferences(replace(store.preferences(), autosave_seconds=seconds))


def own_file(window):
    found = list(window.session_saver.folder.glob(f"{PREFIX}*.nrsfm"))
    return found[0] if found else None


def save_now(qtbot, window):
    """Let a window save by itself without waiting; return its file."""
    autosave = window.session_saver.autosave
    autosave.schedule_save()
    with qtbot.waitSignal(autosave.saved):
        autosave.save()
    return own_file(window)


def test_a_run_is_saved_by_itself_when_it_has_ended(qtbot, solved):
    window, run = solved()
    window.run_control.ended.emit(run)
    qtbot.waitUntil(lambda: "saved by itself" in window.logbook.text())
    saved = read_session(own_file(window))
    assert saved.sequences[0].runs[0].last.best.loss == run.last.best.loss
    assert lost_sessions(window.session_saver.folder) == []  # its lock is held
    window.close()
    assert own_file(window) is None
    ((closed, _time, holds),) = window.session_saver.closed_sessions()
    assert holds == "1 run of balloon circle"
    assert read_session(closed).sequences[0].runs[0].last.best.loss == run.last.best.loss


@pytest.fixture
def autosave(qapp, kept, tmp_path):
    """Something that saves by itself, without a window."""
    made = Autosave(tmp_path / "data", lambda: kept, lambda: 0.2, Notifier(qapp), qapp)
    yield made
    made.shut_down(discard=True)
    made.deleteLater()


def test_a_change_is_saved_by_itself_after_the_interval(qtbot, autosave):
    began = time.monotonic()
    with qtbot.waitSignal(autosave.saved):
        autosave.schedule_save()
        autosave.schedule_save()
    assert time.monotonic() - began >= 0.15  # a coarse timer may be early
    with qtbot.assertNotEmitted(autosave.saved, wait=300):  # nothing has changed since
        pass
    with qtbot.waitSignal(autosave.saved):
        autosave.schedule_save(IDLE_MILLISECONDS)
    if os.name == "posix":  # nobody else can read it
        assert autosave.own.path.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_removed_is_made_again_with_the_lock_of_its_file(qtbot, autosave, tmp_path):
    for _ in range(2):
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        with qtbot.waitSignal(autosave.saved):
            autosave.schedule_save()
            autosave.save()
        assert autosave.own.path.is_file()
        assert lost_sessions(tmp_path / "data") == []  # its lock is held


def test_nothing_is_saved_by_itself_where_that_is_switched_off(qtbot, solved, store):
    save_every(store, 0)
    window, run = solved()
    window.run_control.ended.emit(run)
    qtbot.wait(IDLE_MILLISECONDS + 100)
    window.close()
    assert not window.session_saver.folder.exists()


def test_a_saved_session_leaves_nothing_else_behind(qtbot, solved, tmp_path, saved_to):
    window, _run = solved()
    save_now(qtbot, window)
    window.session_saver.save_to(tmp_path / "absent" / "my.nrsfm")
    qtbot.waitUntil(lambda: "does not exist" in window.message_bar.text)
    assert own_file(window) is not None and window.session_saver.modified
    saved_to(window, tmp_path / "my.nrsfm")
    qtbot.waitUntil(lambda: own_file(window) is None)
    window.close()
    assert list(window.session_saver.folder.iterdir()) == []


def test_a_full_disk_is_reported_once_and_saving_works_again_after_it(qtbot, solved, tmp_path, monkeypatch):
    window, _run = solved()
    reported, tried = [], []
    autosave = window.session_saver.autosave
    window.session.notifier.failed.connect(reported.append)

    def full(_descriptor):
        tried.append(time.monotonic())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        autosave.schedule_save()
        qtbot.waitUntil(lambda: autosave.save() or len(tried) > 1)
    with qtbot.waitSignal(window.session.notifier.informed) as told:
        qtbot.waitUntil(lambda: autosave.save() or not autosave._failing)
    assert told.args[0] == "The session is saved by itself again."
    assert len(reported) == 1
    assert reported[0].startswith("The session is not saved by itself at the moment: ")
    assert "No space left on device" in reported[0]
    read_session(own_file(window))
    assert not list((tmp_path / "data").glob(".*"))


def renamed(saved, title):
    """Return a session whose run has a title."""
    (opened,) = saved.sequences
    run = replace(opened.runs[0], title=title)
    return replace(saved, sequences=(replace(opened, runs=[run], shown=run),))


def titles(path):
    return [run.title for run in read_session(path).sequences[0].runs]


def close_another(kept, folder, title):
    """Leave a session behind as a window does that was closed without saving it."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_session(renamed(kept, title), folder / f"{CLOSED}{title}.nrsfm", private=True)


@pytest.mark.parametrize("place", [".", "elsewhere"])
def test_opening_a_closed_session_keeps_the_one_that_is_open(qtbot, solved, kept, opened, place):
    window, run = solved()
    folder = window.session_saver.folder
    path = close_another(kept, folder / place, "closed before")
    window.session.change_run(run, title="open and not saved")
    opened(window, path)
    assert [run.title for run in window.session.runs] == ["closed before"]
    qtbot.waitUntil(lambda: [titles(each) for each in closed_sessions(folder)] == [["open and not saved"]])
    if place == ".":
        assert titles(own_file(window)) == ["closed before"]


def test_sessions_that_are_closed_without_saving_replace_no_other_and_the_newest_are_kept(
    qtbot, autosave, kept, tmp_path, monkeypatch
):
    folder = tmp_path / "data"
    shown = [kept]
    monkeypatch.setattr(autosave, "_snapshot", lambda: shown[0])
    names = [f"number {number}" for number in range(MOST_CLOSED + 1)]
    for number, name in enumerate(names):
        shown[0] = renamed(kept, name)
        autosave.begin_session(None, keep=True)  # the next one is opened in the same window
        qtbot.waitUntil(lambda: not autosave._jobs)
        assert titles(closed_sessions(folder)[0]) == [name]
        os.utime(closed_sessions(folder)[0], (1e9 + number, 1e9 + number))
    found = closed_sessions(folder)
    assert [titles(path)[0] for path in found] == names[:0:-1]
    if os.name == "posix":  # nobody else can read them
        assert {path.stat().st_mode & 0o777 for path in found} == {0o600}
    assert lost_sessions(folder) == []


def test_a_session_that_is_opened_while_another_is_being_written_is_not_written_over(
    qtbot, autosave, kept, tmp_path, monkeypatch
):
    shown, go_on = [renamed(kept, "left")], threading.Event()
    monkeypatch.setattr(autosave, "_snapshot", lambda: shown[0])

    def write(saved, path, **options):
        go_on.wait(PATIENCE)
        return write_session(saved, path, **options)

    monkeypatch.setattr("nrsfm_gui.sessions.autosave.write_session", write)
    lost, left = lose(renamed(kept, "recovered"), tmp_path / "data"), autosave.own.path
    autosave.schedule_save()
    autosave.save()
    threading.Timer(0.1, go_on.set).start()
    assert autosave.begin_session(lost, keep=True)
    assert not lost.exists() and titles(autosave.own.path) == ["recovered"]
    qtbot.waitUntil(lambda: [titles(path) for path in closed_sessions(tmp_path / "data")] == [["left"]])
    qtbot.waitUntil(lambda: not left.exists())


def test_a_full_disk_costs_neither_the_session_that_is_left_nor_the_one_that_is_opened(
    qtbot, autosave, kept, tmp_path
):
    folder = tmp_path / "data"
    with qtbot.waitSignal(autosave.saved):
        autosave.schedule_save()
    left = autosave.own.path
    path = close_another(kept, folder, "closed before")
    with files_of_at_most(4096), qtbot.waitSignal(autosave.not_kept) as told:
        assert autosave.begin_session(path, keep=True)
    assert f"{left} cannot be written: File too large. The session as it was at " in told.args[1]
    assert f"is kept in {left}, and offered at the next start" in told.args[1]
    assert titles(autosave.own.path) == ["closed before"]
    (lost,) = lost_sessions(folder)
    assert lost.path == left and titles(left) == [""]
    lost.release()


def test_a_session_that_cannot_be_renamed_stays_in_its_own_file(qtbot, autosave, monkeypatch):
    with qtbot.waitSignal(autosave.saved):
        autosave.schedule_save()
    own = autosave.own.path

    def refuse(path, _target):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as patch, qtbot.waitSignal(autosave.not_kept) as told:
        patch.setattr(Path, "replace", refuse)
        autosave.begin_session(None, keep=True)
    assert f"{own.name}: Permission denied. The session as it was at " in told.args[1]
    assert own.is_file()


def test_a_file_whose_lock_is_of_another_machine_is_not_offered(tmp_path):
    lock = tmp_path / f"{PREFIX}2-2.lock"
    lock.write_text("999999999\nnrsfm-gui\nelsewhere\n")
    os.utime(lock, (1e9, 1e9))  # it may have been held for long
    (tmp_path / f"{PREFIX}2-2.nrsfm").write_bytes(b"PK")
    assert lost_sessions(tmp_path) == []


def test_what_was_closed_without_saving_is_offered_once(qtbot, make_session_window, kept, sequence):
    window = make_session_window()
    close_another(kept, window.session_saver.folder, "closed before")
    for expected in (True, False):
        window.session_saver.begin(scripted=False)
        with qtbot.waitSignal(window.sequence_opening.shown):
            window.sequence_opening.open(sequence.source)
        offered = "closed without having been saved: 1 run of balloon circle." in window.message_bar.text
        assert offered is expected
        window.message_bar.hide()
    close_another(kept, window.session_saver.folder, "closed after")
    window.session_saver.begin(scripted=False)
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(sequence.source)
    assert "balloon circle. Earlier ones are listed under File > Recent." in window.message_bar.text


def lose(saved, folder):
    """Leave a session behind as a killed process does: its file, and a lock that nobody holds."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_session(saved, folder / f"{PREFIX}999999999-0.nrsfm")


def recover(qtbot, window):
    """Press "Recover", and wait until the session is open."""
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.session_saver.recovery.bar.buttons["Recover"].click()


@pytest.mark.parametrize("seconds", [0, 30])
def test_a_lost_session_is_offered_recovered_and_kept_when_the_window_closes(
    qtbot, make_session_window, kept, store, tmp_path, seconds
):
    save_every(store, seconds)
    window = make_session_window()
    lost = replace(renamed(kept, "recovered"), file=tmp_path / "my.nrsfm")
    path = lose(lost, window.session_saver.folder)
    window.session_saver.begin(scripted=False)
    bar = window.session_saver.recovery.bar
    assert text_of(bar).startswith("A session was not closed properly: 1 run of balloon circle, saved at ")
    assert lost_sessions(window.session_saver.folder) == []  # no second window offers it
    recover(qtbot, window)
    assert bar.isHidden() and "Recovered 1 run of balloon circle" in window.message_bar.text
    assert window.session.shown.last.best.loss == kept.sequences[0].runs[0].last.best.loss
    assert window.isWindowModified() and window.session_saver.file == tmp_path / "my.nrsfm"
    assert not path.exists()
    assert titles(own_file(window)) == ["recovered"]  # if the process ends now, it is offered again
    window.close()
    assert own_file(window) is None
    assert titles(window.session_saver.closed_sessions()[0][0]) == ["recovered"]


def test_a_sequence_that_was_opened_and_has_no_run_comes_back_after_a_recovery(qtbot, solved, tmp_path):
    window, run = solved()
    file = tmp_path / "other.npz"
    write_npz(simulate("paper", frames=12, points=20, seed=1), file)
    window.sequence_opening.open_sequence(read_sequence(file))
    other = window.session.settings.with_changes(rank=3)
    window.session.set_settings(other)
    window.sequence_opening.open_sequence(run.sequence)
    autosave = window.session_saver.autosave
    qtbot.waitUntil(lambda: autosave.save() or autosave.up_to_date)  # after a save that is under way
    killed = window.session_saver.folder / f"{PREFIX}999999999-0.nrsfm"
    shutil.copy(own_file(window), killed)
    window.session.remove_sequence(read_sequence(file))
    window.session_saver.recovery.offer()
    assert "1 run of balloon circle, saved at" in text_of(window.session_saver.recovery.bar)
    recover(qtbot, window)
    assert window.session.sequence.source == run.sequence.source and len(window.session.runs) == 1
    assert file in [entry.file for entry in window.sequence_opening.entries]
    assert window.session.settings_of(read_sequence(file)) == other


@pytest.mark.slow
def test_a_session_that_ended_its_window_is_recovered_without_its_view(
    qtbot, make_session_window, kept, monkeypatch
):
    window = make_session_window()
    saver = window.session_saver
    lose(kept, saver.folder)
    marks, shown = [], []

    def end(*_arguments):
        marks.extend(saver.folder.glob(f"*{MARK}"))

    monkeypatch.setattr(saver, "_show_view", end)  # where the process ends
    saver.begin(scripted=False)
    assert "The window ended" not in text_of(saver.recovery.bar)
    recover(qtbot, window)
    monkeypatch.undo()
    assert marks == [own_file(window).with_suffix(MARK)]
    qtbot.waitUntil(lambda: not marks[0].exists())
    lost = lose(kept, saver.folder)
    lost.with_suffix(MARK).touch()
    saver.recovery.offer()
    ended = "The window ended when it was opened; it is recovered without its view."
    assert ended in text_of(saver.recovery.bar)
    monkeypatch.setattr(session_saver, "show_layout", lambda *given: shown.append(given))
    recover(qtbot, window)
    assert shown == [] and not saver.recovery.cautious
    window.close()
    assert list(saver.folder.glob(f"*{MARK}")) == []


def test_a_lost_session_can_be_discarded_or_left(make_session_window, kept):
    window = make_session_window()
    path = lose(kept, window.session_saver.folder)
    bar = window.session_saver.recovery.bar
    for answer, stays in (("Later", True), ("Discard", False)):
        window.session_saver.begin(scripted=False)
        assert not bar.isHidden()
        bar.buttons[answer].click()
        assert bar.isHidden() and path.exists() is stays
    assert not path.with_suffix(".lock").exists()
    window.session_saver.begin(scripted=False)
    assert bar.isHidden()


def test_further_lost_sessions_are_counted(make_session_window, kept):
    window = make_session_window()
    path = lose(kept, window.session_saver.folder)
    for number in (1, 2):
        shutil.copy(path, path.with_name(f"{PREFIX}999999999-{number}.nrsfm"))
    window.session_saver.begin(scripted=False)
    bar, ends = window.session_saver.recovery.bar, []
    while not bar.isHidden():
        ends.append(text_of(bar).partition(" today.")[2])
        bar.buttons["Discard"].click()
    assert ends == [" 2 more are kept.", " 1 more is kept.", ""]


def test_a_lost_session_that_is_damaged_is_not_in_the_way(qtbot, make_session_window, known):
    window = make_session_window(known.sequence)
    folder = window.session_saver.folder
    folder.mkdir(parents=True)
    path = folder / f"{PREFIX}1-0.nrsfm"
    path.write_bytes(b"PK\x03\x04 and no more")
    window.session_saver.begin(scripted=False)
    bar = window.session_saver.recovery.bar
    assert "saved at" in text_of(bar)
    with qtbot.waitSignal(window.sequence_opening.failed) as failed:
        bar.buttons["Recover"].click()
    assert f"{path}: is not a session" in failed.args[0]
    assert window.session.sequence is known.sequence
    lock = QLockFile(str(path.with_suffix(".lock")))
    assert lock.tryLock(0)  # it was let go of
    lock.unlock()


@pytest.fixture
def unkept(solved, tmp_path):
    """A window whose session can be written nowhere by itself, and that was asked to close."""
    (tmp_path / "data").write_text("a file where the folder should be")
    window, _run = solved()
    window.show()
    window.close()
    (asked,) = window.findChildren(QMessageBox)
    assert window.isVisible() and asked.isVisible()
    assert f"{tmp_path / 'data'} cannot be made" in asked.informativeText()
    assert asked.informativeText().endswith("Nothing of the session is saved.")
    return window, asked


def test_a_window_whose_session_cannot_be_kept_stays_open_until_it_can(qtbot, unkept, tmp_path):
    window, asked = unkept
    asked.button(QMessageBox.StandardButton.Cancel).click()
    assert window.isVisible() and window.session_saver.modified
    (tmp_path / "data").unlink()  # there is space again
    qtbot.waitUntil(lambda: not window.findChildren(QMessageBox))
    window.close()
    assert not window.isVisible() and len(window.session_saver.closed_sessions()) == 1


def test_a_session_that_cannot_be_kept_is_saved_elsewhere_or_given_up(unkept, tmp_path):
    window, asked = unkept
    asked.button(QMessageBox.StandardButton.Save).click()
    (dialog,) = window.findChildren(QFileDialog)
    dialog.reject()
    window.close()
    asked.button(QMessageBox.StandardButton.Discard).click()
    assert not window.isVisible() and (tmp_path / "data").is_file()


def test_a_session_that_cannot_be_kept_when_another_is_opened_can_be_saved_elsewhere(
    qtbot, solved, kept, opened, tmp_path, monkeypatch
):
    (tmp_path / "data").write_text("a file where the folder should be")
    window, run = solved()
    window.session.change_run(run, title="left")
    opened(window, write_session(kept, tmp_path / "other.nrsfm"))
    tracks, left = tmp_path / "tracks.nrsfm", tmp_path / "left.nrsfm"
    tracks.write_text("tracks")
    monkeypatch.setattr(window.session, "inputs", lambda: {tracks: "an input"})
    for path, told in ((tracks, "is an input, which would be overwritten"), (left, f"Saved {left}")):
        qtbot.waitUntil(lambda: "is not kept as the last one" in window.message_bar.text)
        buttons = window.message_bar.findChildren(QPushButton)
        next(each for each in buttons if "elsewhere" in each.text()).click()
        dialog = window.findChildren(QFileDialog)[-1]
        dialog.fileSelected.emit(str(path))
        qtbot.waitUntil(lambda told=told: told in window.message_bar.text)
        dialog.reject()
    assert tracks.read_text() == "tracks" and titles(left) == ["left"]


def test_where_nobody_answers_a_session_that_cannot_be_kept_is_written_to_the_temporary_folder(
    solved, tmp_path, monkeypatch, capsys
):
    (tmp_path / "data").write_text("a file where the folder should be")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    window, _run = solved()
    window.attended = False
    window.close()
    assert not window.findChildren(QMessageBox)
    (copy,) = (tmp_path / "temporary").iterdir()
    assert f"{tmp_path / 'data'} is a file. The session is saved in {copy}.\n" in capsys.readouterr().err
    assert len(read_session(copy).sequences[0].runs) == 1
    if sys.platform != "win32":
        assert copy.stat().st_mode & 0o777 == 0o600


def test_the_sessions_of_three_windows_that_close_together_are_all_kept(qapp, qtbot, kept, tmp_path):
    names = ["first", "second", "third"]
    windows = [
        Autosave(tmp_path, partial(renamed, kept, name), lambda: 30.0, Notifier(qapp), qapp) for name in names
    ]
    for window in windows:
        window.schedule_save()
        window.save()
    qtbot.waitUntil(lambda: all(window.up_to_date for window in windows))
    assert lost_sessions(tmp_path) == []
    threads = [threading.Thread(target=window.keep) for window in windows]
    for thread in threads:
        thread.start()
    for window, thread in zip(windows, threads, strict=True):
        thread.join(PATIENCE)
        window.shut_down(discard=True)
        window.deleteLater()
    assert lost_sessions(tmp_path) == []
    assert sorted(titles(path)[0] for path in closed_sessions(tmp_path)) == names


KILLED = """
import sys
from nrsfm_gui import app
from nrsfm_gui import main_window
begin = main_window.MainWindow.begin
def watched(window, arguments):
    begin(window, arguments)
    run = lambda: window.session.runs[0]
    autosave = window.session_saver.autosave
    autosave.saved.connect(lambda: print("saved", len(run().history.records), flush=True))
main_window.MainWindow.begin = watched
sys.exit(app.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_killed_application_loses_no_more_than_the_interval(tmp_path, sequence, monkeypatch):
    environment = environment_of(tmp_path, QT_QPA_PLATFORM="offscreen")
    monkeypatch.setenv("XDG_CONFIG_HOME", environment["XDG_CONFIG_HOME"])
    save_every(AppStore(), 1)
    command = [
        sys.executable, "-c", KILLED, str(sequence.source), "--run", "--renderer", "software",
        "--method", "irnn", "--margin", "100", "--max-iterations", "1000000", "--rotations", "truth",
    ]  # fmt: skip
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            first, second = (process.stdout.readline().split() for _ in range(2))
        finally:
            process.kill()
    assert first[0] == second[0] == "saved"
    (folder,) = [path.parent for path in (tmp_path / "data").rglob(f"{PREFIX}*.nrsfm")]
    (lost,) = lost_sessions(folder)
    saved = read_session(lost.path).sequences[0].runs[0]
    lost.release()
    assert saved.state is RunState.STOPPED
    assert len(saved.history) >= int(first[1])  # all that there was when the last saving began
