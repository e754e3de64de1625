"""What is remembered between two starts."""

import json
import os
from pathlib import Path

import pytest
from PyQt6.QtCore import QByteArray, QSettings

from core import ExplicitWeights, Settings
from nrsfm_gui.model.app_store import (
    LAYOUT,
    LAYOUT_VERSION,
    MOST_BYTES,
    MOST_REMEMBERED,
    RECENT,
    RECENT_FILES,
    REPORTS,
    AppStore,
    SettingsFile,
    StoredImport,
    usual_file,
)
from nrsfm_gui.model.preferences import Preferences


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.json"


def test_what_was_set_comes_back(file, tmp_path):
    store = AppStore(file)
    assert store.layout() is None and store.theme == ""
    assert store.writing_folder.is_absolute()
    rotations = Path("rotations.npz").absolute()
    settings = Settings(penalty=ExplicitWeights((0.0, 0.125, 3.0)), rank=3, rotations=rotations)
    store.set_parameters("a", settings)
    store.set_parameters("b", Settings())  # those are what a sequence begins with
    store.set_layout(QByteArray(b"geometry"), QByteArray(b"docks"), {"left": 300, "below": 210})
    store.theme = "light"
    store.writing_folder = tmp_path
    how = StoredImport({"visible": "none", "threshold": 0.5}, (900.0, 900.0, 640.0, 480.0), "auto")
    store.set_imported(tmp_path / "a.npz", how)
    again = AppStore(file)
    assert again.imported(tmp_path / "a.npz") == how and again.imported(tmp_path / "b.npz") is None
    assert (again.parameters("a"), again.parameters("b")) == (settings, None)
    assert again.layout() == (QByteArray(b"geometry"), QByteArray(b"docks"), {"left": 300, "below": 210})
    assert (again.theme, again.writing_folder) == ("light", tmp_path)
    again.writing_folder = tmp_path / "gone"
    again.forget(LAYOUT)
    assert AppStore(file).layout() is None
    assert AppStore(file).writing_folder.is_dir()


def test_parameters_are_of_the_sequences_that_were_open_last(file):
    store = AppStore(file)
    stored = {str(k): {"rank": k + 7} for k in range(MOST_REMEMBERED)}
    SettingsFile(file).change({"sequences": stored})
    store.set_parameters("more", Settings(rank=3))
    assert (store.parameters("0"), store.parameters("1")) == (None, Settings(rank=8))
    store.set_parameters("1", Settings())
    assert store.parameters("1") is None


@pytest.mark.skipif(os.name != "posix", reason="the system keeps settings private by itself")
@pytest.mark.parametrize("before", [False, True])
def test_nobody_else_can_read_the_settings(tmp_path, before):
    file = tmp_path / "folder" / "settings.json"
    if before:
        file.parent.mkdir()
        file.write_text('{"theme": "light"}')
        file.chmod(0o644)
    store = AppStore(file)
    assert store.theme == ("light" if before else "")
    store.theme = "dark"
    assert file.stat().st_mode & 0o777 == 0o600
    store.sync()
    assert json.loads(file.read_text()) == {"theme": "dark"}
    assert file.stat().st_mode & 0o777 == 0o600


def test_recent_files_are_newest_first_without_doubles_and_without_the_ones_that_are_gone(file, tmp_path):
    paths = [tmp_path / f"{k}.txt" for k in range(RECENT_FILES + 3)]
    for path in paths:
        path.touch()
    store = AppStore(file)
    for path in paths:
        store.add_recent(path)
    store.add_recent(paths[5])
    assert store.recent() == [paths[5], *[p for p in reversed(paths[3:]) if p != paths[5]]][:RECENT_FILES]
    paths[5].unlink()
    assert paths[5] not in AppStore(file).recent()
    store.forget([RECENT])
    assert store.recent() == []


def test_entries_that_cannot_be_read_count_as_absent(file, tmp_path):
    store, path = AppStore(file), tmp_path / "a.npz"
    for entry in (1, {"rank": 0}, {"colour": 1}):
        SettingsFile(file).change({"sequences": {"a": entry}})
        assert store.parameters("a") is None, entry
    for entry in ({"reading": {"bogus": 1}}, {"reading": {}, "intrinsics": 10**400}, {"reading": []}, 3):
        SettingsFile(file).change({"imports": {str(path): entry}})
        assert store.imported(path) is None, entry
    store.set_layout(QByteArray(b"a"), QByteArray(b"b"), {})
    sizes = {"left": 300, "right": 10**400, "below": "²", "top": [], "whole": 300.0, "true": True}
    SettingsFile(file).change({f"layout{LAYOUT_VERSION}/sizes": sizes})
    assert store.layout()[2] == {"left": 300}
    SettingsFile(file).change({"recent": ["//elsewhere/share/a.npz", "/not/here.npz", 3]})
    assert store.recent() == [Path("//elsewhere/share/a.npz")]  # another computer is not asked


@pytest.mark.parametrize(
    "values",
    [
        {"threads": float("inf"), "size": 10**400, "point_size": float("nan"), "theme": "pink"},
        {"autosave_seconds": -1, "file_memory": [2], "threads": True, "point_size": True},
        {"autosave_seconds": 15.7, "file_memory": "2", "point_size": 10**400, "theme": 3},
    ],
)
def test_settings_that_cannot_be_read_are_named_and_count_as_absent(file, values):
    """Absurd numbers, and values of other kinds."""
    others = {"recent": {}, "reports": "[", "sequences": [1], "imports": 3}
    SettingsFile(file).change(values | others | {"color_map": "magma"})
    store = AppStore(file)
    assert set(store.refused()) == {*values, *others}
    assert store.preferences() == Preferences(color_map="magma")
    assert store.recent() == store.recent(REPORTS) == []
    assert store.parameters("a") is None and store.imported(Path("a.npz")) is None
    store.forget(store.refused())
    assert store.refused() == () == AppStore(file).refused()


def test_a_number_that_may_have_a_fraction_may_be_whole(file):
    SettingsFile(file).change({"point_size": 2})
    assert AppStore(file).refused() == () and AppStore(file).preferences() == Preferences(point_size=2.0)


class Restored:
    """An object that makes a file when it is restored."""

    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return Path.touch, (self.made,)


def test_no_object_is_restored_from_settings(tmp_path):
    """PyQt unpickles the objects in a file of QSettings when their name is asked for."""
    made, file = tmp_path / "made", tmp_path / "evil.ini"
    evil = QSettings(str(file), QSettings.Format.IniFormat)
    for name in ("theme", "recent", "layout4/docks"):
        evil.setValue(name, Restored(made))
    evil.sync()
    made.unlink(missing_ok=True)
    assert b"PyQt_PyObject" in file.read_bytes()
    store = AppStore(file)
    assert (store.theme, store.recent(), store.layout()) == ("", [], None)
    assert store.refused() == ("evil.ini",)
    store.forget(store.refused())
    assert store.refused() == () and not made.exists()


@pytest.mark.parametrize(
    "content", ["[1]", "[" * 100_000, " " * (MOST_BYTES + 1)], ids=["list", "deep", "large"]
)
def test_a_file_that_holds_no_settings_is_named_kept_and_replaced(file, content):
    file.write_text(content)
    store = AppStore(file)
    assert store.refused() == (file.name,)
    store.theme = "dark"
    assert store.refused() == () and AppStore(file).theme == "dark"
    assert Path(f"{file}.damaged").read_text() == content  # what somebody has written by hand is not lost


def test_two_windows_keep_the_settings_of_each_other(file):
    one, two = AppStore(file), AppStore(file)
    one.theme = "dark"
    two.steps_done = frozenset({"open"})
    assert (two.theme, one.steps_done) == ("dark", {"open"})


def test_settings_that_cannot_be_written_are_those_of_this_window_until_they_can(file):
    file.mkdir()
    store = AppStore(file)
    store.theme = "dark"
    assert store.theme == "dark"
    file.rmdir()
    store.sync()
    assert AppStore(file).theme == "dark"


def test_the_usual_file_is_among_those_of_the_user(settings_folder):
    assert usual_file().parents[1] == Path(settings_folder)
