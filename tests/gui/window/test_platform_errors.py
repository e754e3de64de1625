"""Starting the application where Qt cannot open a window: one sentence and exit code 2, and no abort."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import PyQt6
import pytest

from nrsfm_gui.platform_errors import platform_refusal

UNREACHABLE = ":1977"
LIBRARIES = Path(PyQt6.__file__).parent / "Qt6" / "lib"
FATAL = (
    "No plugin could be initialized.\n\nAvailable platform plugins are: minimal, offscreen, xcb, wayland.\n"
)

only_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only on Linux does Qt need a display server"
)


def start(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start the program in a process of its own, where only these variables name a display or platform."""
    left_out = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_SESSION_TYPE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"XDG_CONFIG_HOME": str(folder), "OPENBLAS_NUM_THREADS": "1"} | variables
    return subprocess.run(
        [sys.executable, "-m", "nrsfm_gui", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )


def check_sentence(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (sentence,) = done.stderr.splitlines()  # nothing else, of Qt or of the libraries that it uses
    assert sentence.startswith("nrsfm-gui: ")
    for part in parts:
        assert part in sentence


@only_linux
def test_without_a_display_the_program_shows_how_to_get_one(tmp_path):
    done = start(tmp_path)
    check_sentence(done, "no display", "DISPLAY and WAYLAND_DISPLAY are empty", "xvfb-run", "install xvfb")


@only_linux
@pytest.mark.parametrize(
    "variables",
    [
        {"DISPLAY": UNREACHABLE},
        {"WAYLAND_DISPLAY": "wayland-1977"},
        {"WAYLAND_DISPLAY": "wayland-1977", "XDG_RUNTIME_DIR": "/nowhere"},
        {"WAYLAND_DISPLAY": "wayland-1977", "DISPLAY": UNREACHABLE},
        {"WAYLAND_DISPLAY": "wayland-1977", "QT_QPA_PLATFORM": "wayland"},
        {"DISPLAY": UNREACHABLE, "QT_QPA_PLATFORM": "xcb"},
    ],
    ids=" ".join,
)
def test_a_display_that_cannot_be_reached_is_named(tmp_path, variables):
    name = "DISPLAY" if "DISPLAY" in variables else "WAYLAND_DISPLAY"
    check_sentence(start(tmp_path, **variables), f"{name}={variables[name]}", "cannot be opened", "xvfb-run")


@only_linux
def test_an_unknown_platform_is_refused_with_those_that_there_are(tmp_path):
    done = start(tmp_path, QT_QPA_PLATFORM="fantasy")
    check_sentence(done, "QT_QPA_PLATFORM is 'fantasy'", "accepted are", "offscreen", "xcb")


def without_library(folder: Path, user: str, library: str) -> str:
    """Copy a library of Qt that needs another one under a name that does not exist; return that name."""
    missing = library[:3] + "Q" + library[4:]  # as long as before: nothing else in the file moves
    content = (LIBRARIES / user).read_bytes()
    assert f"\0{library}\0".encode() in content
    (folder / user).write_bytes(content.replace(f"\0{library}\0".encode(), f"\0{missing}\0".encode()))
    return missing


@only_linux
@pytest.mark.skipif(not (LIBRARIES / "libQt6XcbQpa.so.6").is_file(), reason="Qt is not that of its wheel")
def test_a_missing_library_of_the_platform_is_named_with_its_package(tmp_path):
    missing = without_library(tmp_path, "libQt6XcbQpa.so.6", "libxcb-cursor.so.0")
    done = start(tmp_path, DISPLAY=os.environ.get("DISPLAY", UNREACHABLE), LD_LIBRARY_PATH=str(tmp_path))
    check_sentence(done, f"missing here ({missing})", "apt-get install libqcb-cursor0")


@only_linux
@pytest.mark.skipif(not (LIBRARIES / "libQt6DBus.so.6").is_file(), reason="Qt is not that of its wheel")
def test_a_missing_library_of_qt_itself_is_named_with_its_package(tmp_path):
    missing = without_library(tmp_path, "libQt6DBus.so.6", "libdbus-1.so.3")
    done = start(tmp_path, QT_QPA_PLATFORM="offscreen", LD_LIBRARY_PATH=str(tmp_path))
    check_sentence(done, f"missing here ({missing})", "apt-get install libqbus-1-3")


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "offscreen:size=900x700"])
def test_a_platform_without_a_display_works_and_what_qt_shows_is_passed_on(tmp_path, platform):
    done = start(tmp_path, "--exit", QT_QPA_PLATFORM=platform, QT_DEBUG_PLUGINS="1")
    assert done.returncode == 0, done.stderr
    assert "platforms" in done.stderr  # the paths of the plugins that Qt looked at


def test_help_needs_no_display(tmp_path):
    assert start(tmp_path, "--help").returncode == 0


@only_linux
def test_packages_are_named_as_debian_does(monkeypatch):
    found = [
        "libEGL.so.1",
        "libdbus-1.so.3",
        "libglib-2.0.so.0",
        "libxcb-icccm.so.4",
        "libxkbcommon-x11.so.0",
    ]
    monkeypatch.setattr("nrsfm_gui.platform_errors._missing_libraries", lambda _binary: found)
    sentence = platform_refusal({"DISPLAY": ":0"}, FATAL)
    packages = "libegl1 libdbus-1-3 libglib2.0-0 libxcb-icccm4 libxkbcommon-x11-0"
    assert sentence.endswith(f"sudo apt-get install {packages}")
