"""What is saved by itself, and recovered after a crash."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from patience import PATIENCE
from PyQt6.QtCore import QLockFile
from PyQt6.QtWidgets import QFileDialog, QPushButton

from core import read_sequence, simulate, write_npz
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions import session_saver
from nrsfm_gui.sessions.autosave import LAST, PREFIX, Autosave
from nrsfm_gui.sessions.recovery import MARK, lost_sessions
from nrsfm_gui.sessions.session_file import read_session, write_session
from nrsfm_gui.sessions.session_saver import UnsavedDialog

ROOT = Path(__file__).parents[3]


def save_every(store, seconds):
    store.set_preferences(replace(store.preferences(), autosave_seconds=seconds))


def own_file(window):
    found = list(window.session_saver.folder.glob(f"{PREFIX}*.nrsfm"))
    return found[0] if found else None


def test_a_run_is_saved_by_itself_when_it_has_ended(qtbot, solved):
    window, run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    saved = read_session(own_file(window))
    assert saved.sequences[0].runs[0].iterate.best.loss == run.last.best.loss
    assert lost_sessions(window.session_saver.folder) == []  # its lock is held
    qtbot.waitUntil(lambda: "saved by itself" in window.logbook.text())
    window.close()
    assert own_file(window) is None
    last, holds = window.session_saver.last_session()
    assert holds == "1 run of balloon circle"
    assert read_session(last).sequences[0].runs[0].iterate.best.loss == run.last.best.loss


@pytest.fixture
def autosave(qapp, kept, tmp_path):
    """Something that saves by itself, without a window."""
    made = Autosave(tmp_path / "data", lambda: kept, lambda: 0.4, qapp)
    yield made
    made.shut_down(discard=True)
    made.deleteLater()


def test_a_change_is_saved_by_itself_after_the_interval(qtbot, autosave):
    began = time.monotonic()
    with qtbot.waitSignal(autosave.saved):
        autosave.schedule_save()
        autosave.schedule_save()
    assert time.monotonic() - began >= 0.3  # a coarse timer may be early
    with qtbot.assertNotEmitted(autosave.saved, wait=700):  # nothing has changed since
        pass
    with qtbot.waitSignal(autosave.saved):
        autosave.save_when_idle()


def test_a_folder_that_is_removed_is_made_again_with_the_lock_of_its_file(qtbot, autosave, tmp_path):
    for _ in range(2):
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        with qtbot.waitSignal(autosave.saved):
            autosave.schedule_save()
            autosave.save()
        assert autosave.has_copy
        assert lost_sessions(tmp_path / "data") == []  # its lock is held


def test_nothing_is_saved_by_itself_where_that_is_switched_off(qtbot, solved, store):
    save_every(store, 0)
    window, _run = solved()
    qtbot.wait(700)
    window.close()
    assert not window.session_saver.folder.exists()


def test_a_saved_session_leaves_nothing_else_behind(qtbot, solved, tmp_path, saved_to):
    window, _run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    saved_to(qtbot, window, tmp_path / "my.nrsfm")
    qtbot.waitUntil(lambda: own_file(window) is None)
    window.close()
    assert list(window.session_saver.folder.iterdir()) == []


def test_a_full_disk_is_reported_once_and_saving_works_again_after_it(qtbot, autosave, tmp_path, monkeypatch):
    reported, tried = [], []
    autosave.failed.connect(lambda sentence, _details: reported.append(sentence))

    def full(_descriptor):
        tried.append(time.monotonic())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        autosave.schedule_save()
        qtbot.waitUntil(lambda: len(tried) > 2)
        assert len(reported) == 1 and "No space left on device" in reported[0]
    with qtbot.waitSignal(autosave.works_again):
        pass
    (path,) = (tmp_path / "data").glob(f"{PREFIX}*.nrsfm")
    read_session(path)
    assert not list((tmp_path / "data").glob(".*"))


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_reported_by_the_window(qtbot, solved, tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")
    window, _run = solved()
    qtbot.waitUntil(lambda: "not saved by itself at the moment" in window.message_bar.text)
    assert f"{tmp_path / 'data'} cannot be made" in window.message_bar.text
    (tmp_path / "data").unlink()

    def works_again():
        window.session_saver.autosave.save()  # which does nothing until the failed one is at its end
        return "saved by itself again" in window.message_bar.text

    qtbot.waitUntil(works_again)


def renamed(saved, title):
    """Return a session whose run has a title."""
    (entry,) = saved.sequences
    return replace(saved, sequences=(replace(entry, runs=(replace(entry.runs[0], title=title),)),))


def titles(path):
    return [run.title for run in read_session(path).sequences[0].runs]


def slowly(monkeypatch, seconds):
    """Let what is saved by itself take its time, as a large session does."""

    def write(saved, path, **options):
        time.sleep(seconds)
        return write_session(saved, path, **options)

    monkeypatch.setattr("nrsfm_gui.sessions.autosave.write_session", write)


@pytest.mark.parametrize("name", [LAST, "elsewhere/last.nrsfm"])
def test_opening_the_last_session_keeps_the_one_that_is_open(qtbot, solved, kept, opened, name):
    window, run = solved()
    path = window.session_saver.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_session(renamed(kept, "closed before"), path)
    window.session.rename_run(run, "open and not saved")
    opened(qtbot, window, path)
    assert [run.title for run in window.session.runs] == ["closed before"]
    qtbot.waitUntil(lambda: (window.session_saver.folder / LAST).is_file())
    assert titles(window.session_saver.folder / LAST) == ["open and not saved"]
    if name == LAST:
        assert titles(own_file(window)) == ["closed before"]


def test_what_was_closed_without_saving_is_offered_once(qtbot, make_session_window, kept, known):
    window = make_session_window()
    window.session_saver.folder.mkdir(parents=True)
    write_session(kept, window.session_saver.folder / LAST)
    for expected in (True, False):
        window.session_saver.begin(scripted=False)
        with qtbot.waitSignal(window.sequence_opening.shown):
            window.sequence_opening.open("sample:balloon/circle")
        offered = "closed without having been saved: 1 run of balloon circle" in window.message_bar.text
        assert offered is expected
        window.message_bar.hide()


def test_opening_a_session_keeps_the_unsaved_one_before_it(qtbot, solved, tmp_path, saved_to, opened):
    window, run = solved()
    path = saved_to(qtbot, window, tmp_path / "my.nrsfm")
    window.session.set_note(run, "not saved")
    opened(qtbot, window, path)
    assert window.session.runs[0].note == ""
    qtbot.waitUntil(lambda: window.session_saver.last_session() is not None)
    last, _ = window.session_saver.last_session()
    assert read_session(last).sequences[0].runs[0].note == "not saved"


def lose(saved, folder):
    """Leave a session behind as a killed process does: its file, and a lock that nobody holds."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_session(saved, folder / f"{PREFIX}999999999-0.nrsfm")


def test_a_lost_session_is_offered_and_recovered(qtbot, make_session_window, kept, tmp_path):
    window = make_session_window()
    path = lose(replace(kept, file=tmp_path / "my.nrsfm"), window.session_saver.folder)
    window.session_saver.begin(scripted=False)
    bar = window.session_saver.recovery.bar
    assert bar.text.startswith("A session was not closed properly: 1 run of balloon circle, saved at ")
    assert lost_sessions(window.session_saver.folder) == []  # no second window offers it
    with qtbot.waitSignal(window.sequence_opening.opened):
        bar.buttons["Recover"].click()
    assert bar.text == "" and "Recovered 1 run of balloon circle" in window.message_bar.text
    assert window.session.shown.last.best.loss == kept.sequences[0].runs[0].iterate.best.loss
    assert window.isWindowModified() and window.session_saver.file == tmp_path / "my.nrsfm"
    assert not path.exists()
    assert read_session(own_file(window)).sequences[0].runs[0].state is RunState.FINISHED


def test_a_session_that_is_recovered_while_another_is_being_written_is_not_written_over(
    qtbot, solved, kept, monkeypatch
):
    window, run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    lost = lose(renamed(kept, "recovered"), window.session_saver.folder)
    window.session_saver.recovery.offer()
    slowly(monkeypatch, 0.5)
    window.session.set_note(run, "of the session that is left")
    window.session_saver.autosave.save()
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.session_saver.recovery.bar.buttons["Recover"].click()
    qtbot.waitUntil(lambda: not window.session_saver.autosave._jobs)
    assert not lost.exists()
    assert titles(own_file(window)) == ["recovered"]
    last, _ = window.session_saver.last_session()
    assert read_session(last).sequences[0].runs[0].note == "of the session that is left"


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
    bar = window.session_saver.recovery.bar
    assert "1 run of balloon circle, saved at" in bar.text
    with qtbot.waitSignal(window.sequence_opening.shown):
        bar.buttons["Recover"].click()
    assert window.session.sequence.source == run.sequence.source and len(window.session.runs) == 1
    assert file in [entry.file for entry in window.sequence_opening.entries]
    assert window.session.settings_of(read_sequence(file)) == other


@pytest.mark.parametrize("seconds", [0, 30])
def test_what_was_recovered_and_not_saved_is_kept_when_the_window_closes(
    qtbot, make_session_window, kept, store, seconds
):
    save_every(store, seconds)
    window = make_session_window()
    lose(renamed(kept, "recovered"), window.session_saver.folder)
    window.session_saver.begin(scripted=False)
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.session_saver.recovery.bar.buttons["Recover"].click()
    assert titles(own_file(window)) == ["recovered"]  # if the process ends now, it is offered again
    window.close()
    assert own_file(window) is None
    assert titles(window.session_saver.last_session()[0]) == ["recovered"]


def test_a_session_that_cannot_be_made_this_windows_own_is_left_where_it_is(
    qtbot, make_session_window, kept, monkeypatch
):
    window = make_session_window()
    lost = lose(kept, window.session_saver.folder)
    window.session_saver.begin(scripted=False)
    monkeypatch.setattr(QLockFile, "tryLock", lambda *_: False)
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.session_saver.recovery.bar.buttons["Recover"].click()
    assert lost.exists() and window.isWindowModified()


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
    assert "The window ended" not in saver.recovery.bar.text
    with qtbot.waitSignal(window.sequence_opening.opened):
        saver.recovery.bar.buttons["Recover"].click()
    monkeypatch.undo()
    assert marks == [own_file(window).with_suffix(MARK)]
    qtbot.waitUntil(lambda: not marks[0].exists())
    lost = lose(kept, saver.folder)
    lost.with_suffix(MARK).touch()
    saver.recovery.offer()
    assert "The window ended when it was opened; it is recovered without its view." in saver.recovery.bar.text
    monkeypatch.setattr(session_saver, "show_layout", lambda *given: shown.append(given))
    with qtbot.waitSignal(window.sequence_opening.opened):
        saver.recovery.bar.buttons["Recover"].click()
    assert shown == [] and not saver.recovery.cautious
    window.close()
    assert list(saver.folder.glob(f"*{MARK}")) == []


def test_a_lost_session_can_be_discarded_or_left(make_session_window, kept):
    window = make_session_window()
    path = lose(kept, window.session_saver.folder)
    bar = window.session_saver.recovery.bar
    window.session_saver.begin(scripted=False)
    bar.buttons["Later"].click()
    assert bar.text == "" and path.exists()
    window.session_saver.begin(scripted=False)
    bar.buttons["Discard"].click()
    assert bar.text == "" and not path.exists()
    assert not path.with_suffix(".lock").exists()
    window.session_saver.begin(scripted=False)
    assert bar.text == ""
    path.mkdir()  # what cannot be removed is offered again
    window.session_saver.begin(scripted=False)
    bar.buttons["Discard"].click()
    assert bar.text == "" and path.exists()


WRITING = """
import sys
from pathlib import Path
from core.foundation import replacing
with replacing(Path(sys.argv[1])) as temporary:
    print(temporary.name, flush=True)
    input()
"""


def test_what_a_killed_process_was_writing_is_cleared_away(tmp_path):
    (tmp_path / f"{PREFIX}2-2.lock").write_text("999999999\nnrsfm-gui\nelsewhere\n")
    far = tmp_path / f"{PREFIX}2-2.nrsfm"  # of another machine on the same disk: it may still run
    far.write_bytes(b"PK")
    command = [sys.executable, "-c", WRITING, str(tmp_path / f"{PREFIX}1-1.nrsfm")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        written = tmp_path / child.stdout.readline().strip()
        assert lost_sessions(tmp_path) == []
        assert written.exists()  # its process is alive
        child.kill()
    again = tmp_path / ".." / tmp_path.name  # the path that was looked at is not looked at again at once
    assert lost_sessions(again) == []
    assert not written.exists() and far.exists()


def test_a_lost_session_that_is_damaged_is_not_in_the_way(qtbot, make_session_window, known):
    window = make_session_window(known.sequence)
    folder = window.session_saver.folder
    folder.mkdir(parents=True)
    path = folder / f"{PREFIX}1-0.nrsfm"
    path.write_bytes(b"PK\x03\x04 and no more")
    window.session_saver.begin(scripted=False)
    bar = window.session_saver.recovery.bar
    assert "saved at" in bar.text
    with qtbot.waitSignal(window.sequence_opening.failed):
        bar.buttons["Recover"].click()
    assert window.session.sequence is known.sequence
    lock = QLockFile(str(path.with_suffix(".lock")))
    assert lock.tryLock(0)  # it was let go of
    lock.unlock()


def test_a_lost_session_that_is_removed_while_it_is_offered_is_a_sentence(qtbot, make_session_window, kept):
    window = make_session_window()
    path = lose(kept, window.session_saver.folder)
    window.session_saver.begin(scripted=False)
    path.unlink()
    with qtbot.waitSignal(window.sequence_opening.failed) as failed:
        window.session_saver.recovery.bar.buttons["Recover"].click()
    assert failed.args == [f"{path}: there is no such file", ""]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_nobody_else_can_read_what_is_saved_by_itself(qtbot, autosave, tmp_path):
    folder = tmp_path / "data"
    with qtbot.waitSignal(autosave.saved):
        autosave.schedule_save()
    (own,) = folder.glob(f"{PREFIX}*.nrsfm")
    assert own.stat().st_mode & 0o777 == 0o600
    (folder / LAST).write_bytes(b"PK")
    (folder / LAST).chmod(0o600)
    assert autosave.begin_session(folder / LAST, keep=True)
    qtbot.waitUntil(lambda: (folder / LAST).is_file() and not own.exists())
    (own,) = folder.glob(f"{PREFIX}*.nrsfm")
    assert [path.stat().st_mode & 0o777 for path in (own, folder / LAST)] == [0o600, 0o600]


LIMITED = """
import resource, signal, sys
from PyQt6.QtWidgets import QApplication, QWidget
from core import InputError
from nrsfm_gui.sessions.autosave import Autosave
from nrsfm_gui.sessions.session_file import read_session
from pathlib import Path
app = QApplication([])
kept, folder, other = read_session(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
autosave = Autosave(folder, lambda: kept, lambda: 0.01, app)
autosave.not_kept.connect(lambda _saved, sentence, _details: print(sentence, flush=True))
def fill_the_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    if other == "close":
        try:
            autosave.keep()
        except InputError as refusal:
            print(refusal, autosave.own.describe_rest(), sep=". ", flush=True)
        autosave.shut_down(discard=False)
        app.quit()
    else:
        autosave.not_kept.connect(app.quit)
        adopted = autosave.begin_session(Path(other), keep=True)
        print("adopted", adopted, flush=True)
autosave.saved.connect(fill_the_disk)
autosave.schedule_save()
app.exec()
"""


def run_limited(tmp_path, folder, kept, other):
    """Save a session by itself, and leave it when no file may be larger than 4096 bytes."""
    source = write_session(renamed(kept, "saved by itself"), tmp_path / "source.nrsfm")
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(source), str(folder), other],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited on Windows")
@pytest.mark.parametrize("before", [False, True])
def test_closing_on_a_full_disk_keeps_what_was_saved_by_itself(tmp_path, kept, before):
    folder = tmp_path / "data"
    folder.mkdir()
    if before:
        write_session(renamed(kept, "closed before"), folder / LAST)
    done = run_limited(tmp_path, folder, kept, "close")
    assert done.returncode == 0, done.stderr
    (lost,) = lost_sessions(folder)
    lost.release()
    assert titles(lost.path) == ["saved by itself"]
    assert f"{folder / LAST} cannot be written: File too large. The session as it was at " in done.stdout
    assert f"is kept in {lost.path}, and offered at the next start" in done.stdout
    assert [path.name for path in folder.glob("*.nrsfm") if path != lost.path] == [LAST] * before
    if before:
        assert titles(folder / LAST) == ["closed before"]


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited on Windows")
def test_opening_a_session_on_a_full_disk_keeps_the_one_before_it(tmp_path, kept):
    folder = tmp_path / "data"
    folder.mkdir()
    write_session(renamed(kept, "closed before"), folder / LAST)
    done = run_limited(tmp_path, folder, kept, str(folder / LAST))
    assert done.returncode == 0, done.stderr
    assert "adopted True" in done.stdout and "File too large" in done.stdout
    found = lost_sessions(folder)
    for lost in found:
        lost.release()
    assert sorted(titles(lost.path)[0] for lost in found) == ["closed before", "saved by itself"]


def test_closing_reports_where_the_session_cannot_be_kept(qtbot, solved, capsys):
    window, _run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    path = own_file(window)
    (window.session_saver.folder / LAST).mkdir()
    window.close()
    assert path.exists()
    assert f"is not kept as the last one: {window.session_saver.folder / LAST}" in capsys.readouterr().err


@pytest.fixture
def unkept(qtbot, solved, tmp_path):
    """A window whose session can be written nowhere by itself, and that was asked to close."""
    (tmp_path / "data").write_text("a file where the folder should be")
    window, _run = solved()
    window.close()
    (asked,) = window.findChildren(UnsavedDialog)
    assert window.isVisible() and asked.isVisible()
    assert asked.text() == "Neither the session nor an automatic copy of it could be written."
    assert f"{tmp_path / 'data'} cannot be made" in asked.informativeText()
    assert asked.informativeText().endswith("Nothing of the session is saved.")
    return window, asked


def test_a_window_whose_session_cannot_be_kept_stays_open_where_that_is_chosen(qtbot, unkept, tmp_path):
    window, asked = unkept
    asked.answers["Cancel"].click()
    assert window.isVisible() and window.session_saver.modified
    (tmp_path / "data").unlink()  # there is space again
    qtbot.waitUntil(lambda: not window.findChildren(UnsavedDialog))
    window.close()
    assert not window.isVisible() and not window.findChildren(UnsavedDialog)
    assert window.session_saver.last_session() is not None


def test_a_session_that_cannot_be_kept_is_saved_elsewhere_before_its_window_closes(qtbot, unkept, tmp_path):
    window, asked = unkept
    asked.answers["Save elsewhere…"].click()
    (dialog,) = window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "elsewhere.nrsfm"))
    qtbot.waitUntil(lambda: not window.isVisible())
    assert len(read_session(tmp_path / "elsewhere.nrsfm").sequences[0].runs) == 1
    dialog.reject()


def test_a_session_that_cannot_be_kept_is_given_up_where_that_is_chosen(unkept, tmp_path):
    window, asked = unkept
    asked.answers["Close without saving"].click()
    assert not window.isVisible()
    assert (tmp_path / "data").is_file()


def test_where_nobody_answers_a_session_that_cannot_be_kept_is_written_to_the_temporary_folder(
    solved, tmp_path, monkeypatch, capsys
):
    (tmp_path / "data").write_text("a file where the folder should be")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    window, _run = solved()
    window.attended = False
    window.close()
    assert not window.isVisible() and not window.findChildren(UnsavedDialog)
    (copy,) = (tmp_path / "temporary").iterdir()
    assert f"{tmp_path / 'data'} is a file. The session is saved in {copy}.\n" in capsys.readouterr().err
    assert len(read_session(copy).sequences[0].runs) == 1
    if sys.platform != "win32":
        assert copy.stat().st_mode & 0o777 == 0o600


def test_a_session_that_cannot_be_kept_when_another_is_opened_can_be_saved_elsewhere(
    qtbot, solved, kept, opened, tmp_path
):
    (tmp_path / "data").write_text("a file where the folder should be")
    window, run = solved()
    window.session.rename_run(run, "left")
    opened(qtbot, window, write_session(kept, tmp_path / "other.nrsfm"))
    qtbot.waitUntil(lambda: "is not kept as the last one" in window.message_bar.text)
    (button,) = [each for each in window.message_bar.findChildren(QPushButton) if "elsewhere" in each.text()]
    button.click()
    (dialog,) = window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "left.nrsfm"))
    qtbot.waitUntil((tmp_path / "left.nrsfm").is_file)
    assert titles(tmp_path / "left.nrsfm") == ["left"]
    dialog.reject()


def test_a_session_that_cannot_be_saved_elsewhere_keeps_what_was_saved_by_itself(qtbot, solved, tmp_path):
    window, _run = solved()
    qtbot.waitUntil(lambda: own_file(window) is not None)
    window.session_saver.save_to(tmp_path / "absent" / "my.nrsfm")
    qtbot.waitUntil(lambda: "does not exist" in window.message_bar.text)
    assert own_file(window) is not None and window.session_saver.modified


SEVERAL = """
import sys
from pathlib import Path
from PyQt6.QtWidgets import QApplication
from nrsfm_gui.sessions.autosave import Autosave
from nrsfm_gui.sessions.recovery import lost_sessions
from nrsfm_gui.sessions.session_file import read_session
app = QApplication([])
folder = Path(sys.argv[1])
if len(sys.argv) == 3:
    kept = read_session(Path(sys.argv[2]))
    autosave = Autosave(folder, lambda: kept, lambda: 0.01, app)
    autosave.saved.connect(app.quit)
    autosave.schedule_save()
    app.exec()
print("ready", flush=True)
sys.stdin.readline()
if len(sys.argv) == 3:
    autosave.keep()
    autosave.shut_down(discard=True)
else:
    found = lost_sessions(folder)  # the locks are held as long as these are
    print(*(lost.path.name for lost in found), flush=True)
    sys.stdin.readline()
"""


def start_several(arguments):
    """Start a process for each list of arguments; return them when all wait for a line."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SEVERAL, *map(str, each)],
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for each in arguments
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    return processes


def let_go_on(processes):
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()


def end(processes):
    for process in processes:
        process.communicate(timeout=PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("killed", [(), (1,)])
def test_the_sessions_of_three_windows_can_all_be_recovered(tmp_path, kept, killed):
    folder, names = tmp_path / "data", ["first", "second", "third"]
    sources = [write_session(renamed(kept, name), tmp_path / f"{name}.nrsfm") for name in names]
    windows = start_several([(folder, source) for source in sources])
    assert len(list(folder.glob(f"{PREFIX}*.nrsfm"))) == 3
    assert lost_sessions(folder) == []
    for index in killed:
        windows[index].kill()
    closed = [window for index, window in enumerate(windows) if index not in killed]
    let_go_on(closed)  # all of them at the same time
    end(windows)
    later = start_several([(folder,)] * 3)  # three windows that look for lost sessions
    let_go_on(later)
    offered = [process.stdout.readline().split() for process in later]
    end(later)
    found = [folder / name for names_of_one in offered for name in names_of_one]
    last = [folder / LAST] * bool(closed)
    assert len(found) == len(set(found)) == 3 - len(last)  # none is offered twice
    assert sorted(titles(path)[0] for path in found + last) == names


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


@pytest.fixture
def running(tmp_path, sequence, monkeypatch):
    """Start the application with a run that does not end, which prints each automatic saving."""
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(tmp_path / "temporary"),
    }
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", environment["XDG_CONFIG_HOME"])
    save_every(AppStore(), 1)
    command = [
        sys.executable, "-c", KILLED, str(sequence.source), "--run", "--renderer", "software",
        "--method", "irnn", "--margin", "100", "--max-iterations", "1000000", "--rotations", "truth",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield process, environment
    process.kill()
    process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_leaves_a_copy_where_nothing_can_be_kept(running, tmp_path):
    process, _environment = running
    process.stdout.readline()
    (folder,) = {path.parent for path in (tmp_path / "data").rglob(f"{PREFIX}*")}
    for path in folder.glob(f"{PREFIX}*.nrsfm"):
        path.unlink()
    folder.rename(tmp_path / "gone")
    folder.write_text("a file where the folder should be")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 143
    (copy,) = (tmp_path / "temporary").glob("*.nrsfm")
    assert read_session(copy).sequences[0].runs[0].records
    assert f"The session is saved in {copy}." in process.stderr.read()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_ends_the_application_and_keeps_its_session(running, tmp_path):
    process, _environment = running
    saved = int(process.stdout.readline().split()[1])
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=PATIENCE) == 128 + signal.SIGHUP
    (last,) = (tmp_path / "data").rglob(LAST)
    assert len(read_session(last).sequences[0].runs[0].records) >= saved
    assert not list(last.parent.glob(f"{PREFIX}*"))


@pytest.mark.slow
def test_a_killed_application_loses_no_more_than_the_interval(running, tmp_path):
    process, environment = running
    try:
        first, second = (process.stdout.readline().split() for _ in range(2))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert first[0] == second[0] == "saved"
    (folder,) = [path.parent for path in (tmp_path / "data").rglob(f"{PREFIX}*.nrsfm")]
    (lost,) = lost_sessions(folder)
    saved = read_session(lost.path).sequences[0].runs[0]
    lost.release()
    assert saved.state is RunState.STOPPED
    assert len(saved.records) >= int(first[1])  # all that there was when the last saving began
    recover = """
import sys
from PyQt6.QtCore import QTimer
from nrsfm_gui import app
from nrsfm_gui import main_window
begin = main_window.MainWindow.begin
def watched(window, arguments):
    begin(window, arguments)
    def recover(*_):
        window.sequence_opening.opened.disconnect(recover)
        print(window.session_saver.recovery.bar.text)
        session_read = window.sequence_opening.session_read
        session_read.connect(lambda *_: print("read", len(window.session.runs[0].history)))
        session_read.connect(lambda *_: QTimer.singleShot(0, window.close))
        window.session_saver.recovery.bar.buttons["Recover"].click()
    window.sequence_opening.opened.connect(recover)
main_window.MainWindow.begin = watched
sys.exit(app.main(sys.argv[1:]))
"""
    again = subprocess.run(
        [sys.executable, "-c", recover, "--renderer", "software"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert "1 run of balloon circle, saved at" in again.stdout
    assert f"read {len(saved.records)}" in again.stdout
    assert not lost.path.exists()
