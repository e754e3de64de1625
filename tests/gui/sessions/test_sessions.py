"""Sessions in windows: saved, opened, what can go wrong."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hands import button_of
from PyQt6.QtWidgets import QFileDialog, QLineEdit

from core import (
    PRESETS,
    Alignment,
    InputError,
    Settings,
    TruncatedNuclearNorm,
    simulate,
    write_challenge,
    write_npz,
)
from nrsfm_gui.export.export_controller import RECIPES
from nrsfm_gui.model.app_store import StoredImport
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.session import OpenSequence
from nrsfm_gui.scene.orbit_camera import Orbit
from nrsfm_gui.sessions.session_file import (
    SavedSession,
    ViewState,
    read_session,
    session_summary,
    write_session,
)

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")
LOW_RANK = PRESETS["lowrank"].with_changes(rank=3, starts=2, penalty=TruncatedNuclearNorm(mu=1.0, free=3))


@pytest.mark.parametrize(
    "settings", [QUICK, pytest.param(LOW_RANK, marks=pytest.mark.slow)], ids=["non-rigid", "low rank"]
)
def test_a_session_is_the_same_in_another_window(
    qtbot, make_session_window, solved, tmp_path, settings, saved_to, opened, text_of
):
    window, run = solved(settings, parameters=True)
    before, camera = window.session, window.scene_view.camera
    before.set_live(False)
    before.change_run(run, title="the good one")
    before.set_frame(5)
    before.set_selection((2, 4), 4)
    before.set_hidden((7,))
    before.set_frame_range((3, 9))
    before.set_appearance(before.appearance.changed(color_by="error"))
    camera.set_orbit(camera.orbit.turned(33.0, 5.0))
    camera.saved_views = {"7": camera.orbit}
    window.parameters_panel.set_settings(settings.with_changes(eta=0.125))
    before.set_settings(settings.with_changes(eta=0.125))
    traces = window.display.errors.traces
    qtbot.waitUntil(lambda: traces.is_complete(run))
    path = saved_to(window, tmp_path / "my.nrsfm")
    other = make_session_window(parameters=True)
    opened(other, path)
    session, (again,) = other.session, other.session.runs
    assert again.last.best.loss == run.last.best.loss
    for each in (window, other):
        each.display.refresh()
    assert other.display.errors.of_run(again) == window.display.errors.of_run(run)
    ours, theirs = traces.of(run), other.display.errors.traces.of(again)
    if settings is QUICK:  # an uncalibrated shape has no 3-D error
        assert len(again.snapshots) == 1 < len(ours.records)  # so they could not be computed again
        assert (theirs.name, theirs.unit) == (ours.name, ours.unit)
        assert (theirs.records.tolist(), theirs.errors.tolist()) == (
            ours.records.tolist(),
            ours.errors.tolist(),
        )
    assert again.title == "the good one" and session.shown is again
    assert (session.frame, session.selection, session.point) == (5, (2, 4), 4)
    assert (session.hidden, session.frame_range) == ({7}, (3, 9))
    assert session.appearance == before.appearance
    assert other.scene_view.camera.orbit == camera.orbit
    assert other.scene_view.camera.saved_views == {"7": camera.orbit}
    assert session.settings == settings.with_changes(eta=0.125) == other.parameters_panel.settings
    for recipe in RECIPES:
        assert text_of(other, recipe) == text_of(window, recipe)
    further = []
    for each in (window, other):
        each.parameters_controller.run()
        new = each.run_control.current
        qtbot.waitUntil(lambda new=new: new.state is RunState.FINISHED)
        assert new.warm_from == 1 and new.number == 2
        further.append(new.last.best.loss)
    assert further[0] == further[1] != run.last.best.loss


def test_the_compared_run_and_live_mode_are_the_same_in_another_window(
    make_session_window, solved, tmp_path, saved_to, opened
):
    window, run = solved()
    session = window.session
    session.set_live(False)
    session.append_run(replace(run, settings=QUICK.with_changes(eta=0.125)))
    session.set_compared(run)
    session.set_compare_mode("side")
    path = saved_to(window, tmp_path / "my.nrsfm")
    other = make_session_window()
    opened(other, path)
    assert (other.session.shown.number, other.session.compared.number) == (2, 1)
    assert (other.session.compare_mode, other.session.live) == ("side", False)
    session.set_compared(None)
    session.set_live(True)
    opened(other, saved_to(window, path))
    assert other.session.compared is None
    assert not other.session.live  # opening a session starts no run


def test_the_title_names_the_session_and_marks_what_is_not_saved(qtbot, solved, tmp_path, saved_to):
    window, run = solved()
    assert window.windowTitle() == "balloon circle (perspective)[*] – nrsfm-gui"
    qtbot.waitUntil(window.isWindowModified)
    path = saved_to(window, tmp_path / "my.nrsfm")
    qtbot.waitUntil(lambda: not window.isWindowModified())
    assert window.windowTitle() == "my.nrsfm[*] – balloon circle (perspective) – nrsfm-gui"
    assert window.store.recent()[0] == path
    window.session.change_run(run, note="looks right")
    qtbot.waitUntil(window.isWindowModified)
    window.session_saver.save()  # no question: it has a name
    qtbot.waitUntil(lambda: not window.isWindowModified())
    assert read_session(path).sequences[0].runs[0].note == "looks right"


def test_looking_at_other_sequences_and_runs_of_a_saved_session_does_not_change_it(
    qtbot, make_session_window, solved, tmp_path, saved_to, opened
):
    window, run = solved()
    window.session.append_run(replace(run, settings=QUICK.with_changes(eta=0.125)))
    write_npz(simulate("balloon", frames=14, points=16, seed=4), tmp_path / "other.npz")
    opened(window, tmp_path / "other.npz")
    window.session.append_run(replace(run, sequence=window.session.sequence, settings=Settings(rank=3)))
    path = saved_to(window, tmp_path / "two.nrsfm")
    other = make_session_window()
    opened(other, path)
    session = other.session
    opened(other, run.sequence.source)
    other.run_control.select(session.runs[0])
    assert session.settings.eta == QUICK.eta  # not that of the run that was shown when it was left
    write_npz(simulate("paper", frames=14, points=16), tmp_path / "not solved.npz")
    opened(other, tmp_path / "not solved.npz")
    session.set_frame(3)
    with qtbot.waitSignal(session.changed):
        session.set_point(2)
    assert not other.isWindowModified()
    session.set_live(False)
    session.set_settings(session.settings.with_changes(eta=0.25))
    qtbot.waitUntil(other.isWindowModified)
    other.session_saver.save()
    qtbot.waitUntil(lambda: not other.isWindowModified())
    other.sequence_opening.open_sequence(session.everything()[1].sequence)
    other.close()
    assert other.session_saver.closed_sessions() == []


def test_the_dialog_for_saving_blocks_nothing(qtbot, solved, tmp_path):
    window, _run = solved()
    window.session_saver.save()
    dialog = window.findChild(QFileDialog)
    assert Path(dialog.selectedFiles()[0]).name == "balloon-circle.nrsfm"
    window.session.drop_run(window.session.shown)
    dialog.setDirectory(str(tmp_path))
    dialog.findChild(QLineEdit).setText("mine")
    dialog.accept()
    qtbot.waitUntil(lambda: window.session_saver.file == tmp_path / "mine.nrsfm")
    assert read_session(tmp_path / "mine.nrsfm").sequences[0].runs == []


def test_a_window_without_runs_is_not_marked_and_leaves_nothing(make_session_window, sequence):
    window = make_session_window(sequence)
    window.session.set_settings(QUICK)
    window.session_saver.autosave.save()
    assert not window.isWindowModified()
    window.close()
    assert not list(window.session_saver.folder.glob("*.nrsfm"))


def test_every_sequence_with_runs_is_in_the_session(
    make_session_window, solved, known, tmp_path, saved_to, opened
):
    window, run = solved()
    window.sequence_opening.open_sequence(known.sequence)
    path = saved_to(window, tmp_path / "two.nrsfm")
    assert session_summary(path) == "1 run of balloon circle"
    other = make_session_window()
    opened(other, path)
    assert other.session.sequence.name == "sheet" and other.session.runs == []
    opened(other, run.sequence.source)
    assert [each.last.best.loss for each in other.session.runs] == [run.last.best.loss]


def test_the_summary_of_a_session_counts_its_sequences_and_runs(solved, known, tmp_path):
    _window, run = solved()
    one = OpenSequence(run.sequence, run.settings, [run, replace(run, number=2)])
    other = OpenSequence(known.sequence, run.settings, [run])
    for sequences, holds in (
        ((one,), "2 runs of balloon circle"),
        ((one, other), "2 sequences, 3 runs: 2 of balloon circle and 1 of sheet"),
        ((one, other, one), "3 sequences, 5 runs: 2 of balloon circle, 1 of sheet and 2 of balloon circle"),
    ):
        path = tmp_path / "several.nrsfm"
        write_session(SavedSession(sequences), path)
        assert session_summary(path) == holds


# -- what can go wrong ----------------------------------------------------------------------------------


def test_what_another_window_has_saved_is_not_replaced_without_a_question(
    qtbot, solved, kept, tmp_path, saved_to
):
    window, run = solved()
    path = saved_to(window, tmp_path / "my.nrsfm")
    saver = window.session_saver
    saver.save()
    saver.save()  # what it has written itself is no change
    qtbot.waitUntil(lambda: not saver.busy)
    assert window.message_bar.text == f"Saved {path}"
    write_session(kept, path)
    before = path.read_bytes()
    with qtbot.waitSignal(window.session.notifier.failed) as reported:
        saver.save()
    assert reported.args == [
        f"{path} has been written by another window or program since; it is not replaced"
    ]
    assert path.read_bytes() == before
    run.title = "of this window"
    button_of(window.message_bar, "Replace it").click()
    qtbot.waitUntil(lambda: not saver.busy)
    assert read_session(path).sequences[0].runs[0].title == "of this window"
    path.unlink()
    saver.save()
    qtbot.waitUntil(path.exists)


def test_what_follows_an_opening_is_dropped_where_that_fails(qtbot, make_session_window, sequence, tmp_path):
    opening, called = make_session_window().sequence_opening, []
    with qtbot.waitSignal(opening.failed):
        opening.open(tmp_path / "gone.npz", then=lambda: called.append(1))
    opening.open_imported(sequence, StoredImport({}))
    assert not called


def test_a_file_that_was_written_after_the_copy_that_is_recovered_is_not_replaced_without_a_question(
    qtbot, make_session_window, kept, tmp_path, opened
):
    path = tmp_path / "my.nrsfm"
    window = make_session_window()
    saver = window.session_saver
    saver.folder.mkdir(parents=True)
    lost = write_session(replace(kept, file=path), saver.folder / "autosave-1-a.nrsfm")
    write_session(kept, path)
    os.utime(lost, (1e9, 1e9))
    opened(window, lost)
    with qtbot.waitSignal(window.session.notifier.failed) as reported:
        saver.save()
    assert "has been written by another window" in reported.args[0]


def test_a_session_of_the_user_stays_where_it_is_beside_those_that_are_saved_by_themselves(
    make_session_window, kept, opened
):
    window = make_session_window()
    folder = window.session_saver.folder
    folder.mkdir(parents=True)
    path = write_session(kept, folder / "mine.nrsfm")
    opened(window, path)
    assert path.exists() and window.session_saver.file == path


def test_a_file_that_has_changed_is_offered(qtbot, make_session_window, kept, tmp_path, sequence, opened):
    path = write_session(kept, tmp_path / "my.nrsfm")
    write_npz(replace(sequence, name="newer"), sequence.source)
    other = make_session_window()
    opened(other, path)
    assert "has changed since" in other.message_bar.text
    with qtbot.waitSignal(other.sequence_opening.opened):
        button_of(other.message_bar, "Open the file as it is now").click()
    assert other.session.sequence.name == "newer" and other.session.runs == []


def test_a_sequence_whose_file_was_deleted_is_opened_from_the_list_as_the_session_has_it(
    solved, known, opened
):
    window, run = solved()
    opening, source = window.sequence_opening, run.sequence.source
    opened(window, source)
    opening.open_sequence(known.sequence)
    source.unlink()
    opening.open_entry(next(entry for entry in opening.entries if entry.file == source))
    assert window.session.shown is run
    assert window.message_bar.text == (
        f"{source} is not there any more: balloon circle is shown as the session contains it."
    )


def test_a_view_that_cannot_be_read_costs_the_view_only(
    make_session_window, solved, tmp_path, saved_to, opened
):
    window, _run = solved()
    path = saved_to(window, tmp_path / "my.nrsfm")
    saved = read_session(path)
    write_session(replace(saved, view=saved.view | {"theme": "green"}, layout={"docks": "!é"}), path)
    opened(window, path)
    assert "The session is shown from the front instead" in window.message_bar.text
    assert len(window.session.runs) == 1


def test_a_session_that_is_opened_while_another_is_saved_keeps_its_file(
    qtbot, solved, kept, tmp_path, opened, monkeypatch
):
    window, run = solved()
    first, second = tmp_path / "first.nrsfm", tmp_path / "second.nrsfm"
    write_session(kept, second)

    go_on = threading.Event()

    def slow(saved, path):
        go_on.wait()
        return write_session(saved, path)

    monkeypatch.setattr("nrsfm_gui.sessions.session_saver.write_session", slow)
    window.session.change_run(run, title="of the first")
    window.session_saver.save_to(first)
    opened(window, second)
    assert window.session_saver.busy
    go_on.set()
    qtbot.waitUntil(lambda: "Saved" in window.message_bar.text)
    assert window.session_saver.file == second and not window.isWindowModified()
    window.session.change_run(window.session.runs[0], title="of the second")
    window.session_saver.save()
    qtbot.waitUntil(lambda: not window.session_saver.busy)
    saved = {path: read_session(path).sequences[0].runs[0].title for path in (first, second)}
    assert saved == {first: "of the first", second: "of the second"}


def test_what_waits_to_be_saved_is_saved_before_the_window_closes(solved, tmp_path):
    window, _run = solved()
    window.session_saver.save_to(tmp_path / "a.nrsfm")
    window.session_saver.save_to(tmp_path / "b.nrsfm")
    window.close()
    assert all(read_session(tmp_path / f"{name}.nrsfm").sequences for name in "ab")


def test_a_run_that_opening_has_stopped_does_not_change_the_session_that_was_opened(
    qtbot, make_session_window, make_stream, known, kept, tmp_path, opened
):
    window = make_session_window(known.sequence, work=make_stream(pause=0.1))
    run = window.run_control.start(warm=False)
    qtbot.waitUntil(lambda: len(run.history) > 0)
    write_session(kept, tmp_path / "my.nrsfm")
    with qtbot.waitSignal(window.run_control.ended):
        opened(window, tmp_path / "my.nrsfm")
    qtbot.wait(50)
    assert not window.isWindowModified()


@pytest.mark.parametrize(
    ("way", "value", "sentence"),
    [
        (("orbit", "distance"), float("inf"), "a number that is not finite"),
        (("orbit", "up"), [0.0, 0.5, 0.0], "is not a unit vector"),
        (("saved_views", "6", "distance"), 0.0, "no distance"),
        (("theme",), "pink", "theme is 'pink'; accepted are"),
        (("compare_mode",), "above", "compare_mode is 'above'; accepted are"),
        (("appearance", "layers"), 3, "layers is 3; accepted is a list"),
        (("background",), {"path": "a", "opacity": float("nan")}, "opacity of the background is nan"),
    ],
)
def test_a_view_that_was_tampered_with_is_refused_with_a_sentence(way, value, sentence):
    layers, background = frozenset({"estimate", "path"}), Background(Path("a"), 0.4, 1)
    chosen = Appearance(layers, "depth", "magma", (1.5, 2.5), 40, "tracks", 2.0, "all")
    views = {"6": Orbit()}
    view = ViewState(3, 1, (1, 2), (4,), (0, 5), Alignment(), "dark", Orbit(), chosen, background, views)
    values = json.loads(json.dumps(view.as_plain()))
    assert ViewState.from_plain(values) == view
    place = values
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    with pytest.raises(InputError, match=sentence):
        ViewState.from_plain(values)


def test_the_list_of_sequences_comes_back_with_a_session(make_session_window, tmp_path, saved_to, opened):
    write_challenge(tmp_path / "data", "balloon", paths=("circle", "line"), frames=9, points=16)
    window = make_session_window()
    opened(window, tmp_path / "data")
    files = [entry.file for entry in window.sequence_opening.entries]
    assert len(files) == 4  # of two cameras
    path = saved_to(window, tmp_path / "my.nrsfm")
    other = make_session_window()
    opened(other, path)
    assert [entry.file for entry in other.sequence_opening.entries] == files
    saved = read_session(path)
    strange = ("/", "..", "//elsewhere/share/dance", str(tmp_path / "gone"), str(tmp_path))
    write_session(replace(saved, listed=strange), path)
    other.sequence_opening.remove_entries(other.sequence_opening.entries)
    opened(other, path)
    assert {entry.place for entry in other.sequence_opening.entries} == {Path(files[0]).parents[2]}


def test_a_background_on_another_computer_is_not_opened_with_a_session(
    make_session_window, solved, tmp_path, opened
):
    window, _run = solved()
    view = ViewState.of(window.session, window.scene_view.camera.orbit, {}).as_plain()
    view["background"] = {"path": "//elsewhere/share/a.mp4"}
    opened_before = OpenSequence(window.session.sequence, QUICK)
    path = write_session(SavedSession((opened_before,), view), tmp_path / "a.nrsfm")
    other = make_session_window()
    opened(other, path)
    assert other.session.background is None
    assert "background //elsewhere/share/a.mp4 is on another computer" in other.message_bar.text
