"""Preferences: kept, given to what they concern at once, and no obstacle to anything else."""

import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from programs import run_python
from PyQt6.QtCore import QSize
from PyQt6.QtGui import QScreen
from PyQt6.QtWidgets import QMainWindow, QWidget

from core import InputError
from core.io.readers import memory_limit, set_memory_limit
from core.solvers import set_solver_threads, single_threaded
from core.solvers.solver import _blas
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.preferences import PROCESSORS, SIZES, Preferences
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.shell.preferences import PreferencesController
from nrsfm_gui.widgets.style import apply_theme


@pytest.fixture(autouse=True)
def one_thread():
    yield
    set_solver_threads(1)


@pytest.fixture
def window(show):
    """Return what the dialog stands over, with a least size."""
    window, center = QMainWindow(), QWidget()
    center.setMinimumSize(700, 500)
    window.setCentralWidget(center)
    return show(window, 800, 600)


@pytest.fixture
def preferences(session, store, window):
    made = PreferencesController(session, store, window, restart_first_steps=list)
    session.theme_changed.connect(apply_theme)
    yield made
    if made.dialog is not None:
        made.dialog.close()


def test_preferences_come_back_as_they_were(tmp_path):
    def opened():
        return AppStore(tmp_path / "s.json")

    assert opened().preferences() == Preferences()
    chosen = Preferences("system", 150, 1.75, "cividis", min(2, PROCESSORS), 0, "software", 8)
    store = opened()
    store.set_preferences(chosen)
    store.sync()
    assert opened().preferences() == chosen
    assert opened().preferences().autosave_seconds == 0


def test_every_field_of_the_dialog_applies_at_once_and_is_stored(session, preferences, press_action, store):
    press_action(SimpleNamespace(preferences_controller=preferences), "preferences")
    dialog = preferences.dialog
    assert dialog.isVisible() and not dialog.isModal()
    for name, value in {"theme": "light", "color_map": "magma", "renderer": "software", "size": 125}.items():
        dialog.boxes[name].setCurrentIndex(dialog.boxes[name].findData(value))
    dialog.boxes["point_size"].setValue(2.0)
    dialog.boxes["autosave_seconds"].setValue(45)
    assert session.theme is LIGHT
    assert (session.appearance.point_size, session.appearance.color_map) == (2.0, "magma")
    assert store.preferences() == Preferences("light", 125, 2.0, "magma", 1, 45, "software")
    preferences.restore_defaults()
    assert store.preferences() == Preferences() and session.theme is DARK
    assert session.appearance.point_size == dialog.boxes["point_size"].value() == 1.0


def test_the_dialog_has_the_theme_on_view_that_an_option_or_a_session_has_brought(
    session, preferences, store
):
    session.set_theme(LIGHT)
    preferences.show()
    box = preferences.dialog.boxes["theme"]
    assert box.currentData() == "light" and store.preferences().theme == "dark"
    preferences.restore_defaults()
    assert box.currentData() == "dark" and session.theme is DARK


CUT = """
import sys
from PyQt6.QtWidgets import QApplication, QLabel
from nrsfm_gui.model.preferences import Preferences
from nrsfm_gui.shell.preferences import PreferencesDialog
from nrsfm_gui.widgets.dialogs import show_on_screen
app = QApplication(sys.argv)
dialog = PreferencesDialog(None)
dialog.set_preferences(Preferences())
show_on_screen(dialog)
app.processEvents()
wrapped = [label for label in dialog.findChildren(QLabel) if label.wordWrap()]
assert wrapped
print([label.text() for label in wrapped if label.height() < label.heightForWidth(label.width())])
"""


def test_no_line_of_the_dialog_is_cut_where_all_is_large():
    large = {"QT_SCALE_FACTOR": "1.5", "QT_QPA_PLATFORM": "offscreen"}  # 533 by 533
    done = run_python("-c", CUT, env=os.environ | large)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_sizes_at_which_the_window_does_not_fit_its_screen_are_not_offered(window, preferences, monkeypatch):
    def offered():
        preferences.show()
        box = preferences.dialog.boxes["size"]
        return [size for row, size in enumerate(SIZES) if box.model().item(row).isEnabled()]

    least = window.minimumSizeHint()
    for times, expected in ((1.3, [100, 125]), (0.9, [100]), (4.0, list(SIZES))):
        room = QSize(round(least.width() * times), round(least.height() * times))
        monkeypatch.setattr(QScreen, "availableSize", lambda _screen, room=room: room)
        assert offered() == expected


def test_a_size_that_makes_the_window_too_large_is_reported(
    session, window, preferences, messages, store, monkeypatch
):
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: QSize(640, 480))
    preferences.check_size()
    assert messages.text == ""
    store.set_preferences(Preferences(size=150))
    PreferencesController(session, store, window, restart_first_steps=list).check_size()
    assert "does not fit this screen with text and buttons at 150 %" in messages.text


def test_the_next_window_starts_with_them(session, window, store):
    store.set_preferences(Preferences(point_size=3.0, color_map="plasma"))
    PreferencesController(session, store, window, restart_first_steps=list)
    assert (session.appearance.point_size, session.appearance.color_map) == (3.0, "plasma")


def test_a_file_may_need_as_much_memory_as_is_preferred(preferences, monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.5")  # stays in force until another is preferred
    assert memory_limit() == 500_000_000
    preferences.show()
    preferences.dialog.boxes["file_memory"].setValue(6)
    assert memory_limit() == 6_000_000_000
    preferences.restore_defaults()
    assert memory_limit() == 2_000_000_000 and preferences.dialog.boxes["file_memory"].value() == 2
    set_memory_limit(1_500_000_000)
    assert memory_limit() == 1_500_000_000


def test_the_solver_uses_as_many_threads_as_are_preferred():
    def limits():
        return {each.num_threads for each in _blas().lib_controllers}

    before = limits()
    with single_threaded():
        assert limits() == {1}
        set_solver_threads(2)
        with single_threaded():
            assert limits() == {2}
        assert limits() == {1}
    assert limits() == before


def test_a_step_has_its_threads_after_another_thread_has_put_back_its_own():
    inner, outer = single_threaded(), single_threaded()
    set_solver_threads(2)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(outer.__enter__).result()
        inner.__enter__()
        pool.submit(outer.__exit__, None, None, None).result()
        with single_threaded():
            assert {each.num_threads for each in _blas().lib_controllers} == {2}
        inner.__exit__(None, None, None)


def test_a_number_of_threads_that_is_none_is_refused():
    with pytest.raises(InputError, match="threads are 0"):
        set_solver_threads(0)
