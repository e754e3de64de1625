"""What is remembered between two starts."""

import json
import os
from pathlib import Path

import pytest
from PyQt6.QtCore import QByteArray, QSettings

from core import PRESETS, ExplicitWeights, NuclearNorm, Settings, TruncatedNuclearNorm, WeightedNuclearNorm
from nrsfm_gui.model.app_store import (
    LAYOUT_VERSION,
    MOST_BYTES,
    MOST_SEQUENCES,
    RECENT_FILES,
    AppStore,
    SettingsFile,
    usual_file,
)
from nrsfm_gui.model.preferences import Preferences


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.json"


def opened(file):
    return AppStore(file)


@pytest.mark.parametrize(
    "settings",
    [
        *PRESETS.values(),
        Settings(penalty=NuclearNorm(mu=0.25), method="lm", starts=4),
        Settings(penalty=TruncatedNuclearNorm(mu=1e-5, free=3), rotations=Path("rotations.npz").absolute()),
        Settings(penalty=WeightedNuclearNorm(xi=0.1, gamma=1e-3), intrinsics=(900.0, 901.5, 320.0, 240.0)),
        Settings(penalty=ExplicitWeights((0.0, 0.125, 3.0)), rank=3, rotation_rank=2),
    ],
)
def test_parameters_come_back_as_they_were(file, settings):
    store = opened(file)
    store.set_parameters("a", settings)
    store.sync()
    wanted = None if settings == Settings() else settings  # those are what a sequence begins with
    assert opened(file).parameters("a") == wanted
    assert opened(file).parameters("b") is None


@pytest.mark.skipif(os.name != "posix", reason="the system keeps settings private by itself")
@pytest.mark.parametrize("before", [False, True])
def test_nobody_else_can_read_the_settings(tmp_path, before):
    file = tmp_path / "folder" / "settings.json"
    if before:
        file.parent.mkdir()
        file.write_text('{"theme": "light"}')
        file.chmod(0o644)
    store = AppStore(file)
    assert store.theme() == ("light" if before else "")
    store.set_theme("dark")
    assert file.stat().st_mode & 0o777 == 0o600
    store.sync()
    assert json.loads(file.read_text()) == {"theme": "dark"}
    assert file.stat().st_mode & 0o777 == 0o600


def test_parameters_are_of_the_sequences_that_were_open_last(file):
    store = opened(file)
    for k in range(MOST_SEQUENCES + 2):
        store.set_parameters(str(k), Settings(rank=k + 7))
    assert store.parameters("1") is None
    assert store.parameters("2") == Settings(rank=9)
    store.set_parameters("2", Settings())
    assert store.parameters("2") is None


def test_parameters_that_cannot_be_read_count_as_absent(file):
    entries = ("1", "[]", '{"rank": 0}', '{"penalty": {"kind": "none"}}', '{"colour": 1}')
    for text in ("", "no JSON", "[]", *(f'{{"a": {entry}}}' for entry in entries)):
        SettingsFile(file).change({"sequences": text})
        assert opened(file).parameters("a") is None, text


def test_recent_files_are_newest_first_without_doubles_and_without_the_ones_that_are_gone(file, tmp_path):
    paths = [tmp_path / f"{k}.txt" for k in range(RECENT_FILES + 3)]
    for path in paths:
        path.touch()
    store = opened(file)
    for path in paths:
        store.add_recent(path)
    store.add_recent(paths[5])
    assert store.recent() == [paths[5], *[p for p in reversed(paths[3:]) if p != paths[5]]][:RECENT_FILES]
    paths[5].unlink()
    assert paths[5] not in opened(file).recent()
    store.clear_recent()
    assert store.recent() == []


def test_layout_and_theme_come_back_and_the_layout_can_be_forgotten(file):
    store = opened(file)
    assert store.layout() is None
    assert store.theme() == ""
    store.set_layout(QByteArray(b"geometry"), QByteArray(b"docks"), {"left": 300, "below": 210})
    store.set_theme("light")
    store.sync()
    again = opened(file)
    assert again.layout() == (QByteArray(b"geometry"), QByteArray(b"docks"), {"left": 300, "below": 210})
    assert again.theme() == "light"
    again.forget_layout()
    assert again.layout() is None


def test_files_are_written_where_they_were_last_and_first_among_the_documents(file, tmp_path):
    store = opened(file)
    first = store.writing_folder()
    assert first.is_absolute() and (first.name == "Documents" or first == Path.home())
    store.set_writing_folder(tmp_path)
    assert opened(file).writing_folder() == tmp_path
    store.set_writing_folder(tmp_path / "gone")
    assert store.writing_folder() == first


def test_recent_files_on_another_computer_are_listed_without_asking_it(file, monkeypatch):
    asked = []
    monkeypatch.setattr(os.path, "exists", lambda path: asked.append(path))
    SettingsFile(file).change({"recent": json.dumps(["//elsewhere/share/a.npz", "/here/a.npz"])})
    assert opened(file).recent() == [Path("//elsewhere/share/a.npz")]
    assert asked == ["/here/a.npz"]


def test_settings_that_cannot_be_read_are_named_and_count_as_absent(file):
    """Absurd numbers, JSON of other kinds, and nesting without end."""
    values = {
        "threads": "inf",
        "size": "1e999",
        "point_size": "nan",
        "theme": "pink",
        "autosave_seconds": "-1",
    }
    texts = {"recent": "{}", "reports": "[" * 100_000, "sequences": "[1]", "imports": "{"}
    SettingsFile(file).change(values | texts | {"color_map": "magma"})
    store = opened(file)
    assert set(store.refused()) == {*values, *texts}
    assert store.preferences() == Preferences(color_map="magma")
    assert store.recent() == store.recent_reports() == []
    assert store.parameters("a") is None and store.imported(Path("a.npz")) is None
    store.forget(store.refused())
    assert store.refused() == () == opened(file).refused()


@pytest.mark.parametrize("size", ["9" * 400, "²", "-1", "inf", "1e3"])
def test_a_size_of_a_dock_that_is_no_number_of_pixels_is_left_out(file, size):
    store = opened(file)
    store.set_layout(QByteArray(b"a"), QByteArray(b"b"), {"left": 300})
    SettingsFile(file).change({f"layout{LAYOUT_VERSION}/sizes": f"left=300 right={size}"})
    layout = opened(file).layout()
    assert layout is not None and layout[2] == {"left": 300}


@pytest.mark.parametrize(
    "entry",
    [
        {"reading": {"bogus": 1}},
        {"reading": {"frame_base": "x"}},
        {"reading": {"threshold": []}},
        {"reading": {"size": 7}},
        {"reading": {}, "camera_model": "pinhole"},
        {"reading": {}, "intrinsics": 10**400},
        {"reading": []},
    ],
    ids=str,
)
def test_an_import_that_cannot_be_repeated_counts_as_absent(file, tmp_path, entry):
    path = tmp_path / "a.npz"
    SettingsFile(file).change({"imports": json.dumps({str(path): entry})})
    assert opened(file).imported(path) is None


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
    store = opened(file)
    assert (store.theme(), store.recent(), store.layout()) == ("", [], None)
    assert store.refused() == ("evil.ini",)
    store.forget(store.refused())
    assert store.refused() == () and not made.exists()


@pytest.mark.parametrize(
    "content", ["[1]", "{", "[" * 100_000, " " * (MOST_BYTES + 1)], ids=lambda text: text[:3]
)
def test_a_file_that_holds_no_settings_is_named_kept_and_replaced(file, content):
    file.write_text(content)
    store = opened(file)
    assert store.refused() == (file.name,)
    store.set_theme("dark")
    assert store.refused() == () and opened(file).theme() == "dark"
    assert Path(f"{file}.damaged").read_text() == content  # what somebody has written by hand is not lost


def test_two_windows_keep_the_settings_of_each_other(file):
    one, two = opened(file), opened(file)
    one.set_theme("dark")
    two.set_steps_done(frozenset({"open"}))
    assert (two.theme(), one.steps_done()) == ("dark", {"open"})


def test_settings_that_cannot_be_written_are_those_of_this_window_until_they_can(file):
    file.mkdir()
    store = opened(file)
    store.set_theme("dark")
    assert store.theme() == "dark"
    file.rmdir()
    store.sync()
    assert opened(file).theme() == "dark"


def test_the_usual_file_is_among_those_of_the_user(settings_folder):
    assert usual_file().parents[1] == Path(settings_folder)
