"""Starting the application where Qt cannot open a window: one sentence and exit code 2, and no abort."""

import os
import platform
import re
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import PyQt6
import pytest
from programs import ROOT, run_python

from nrsfm_gui.platform_errors import C_LIBRARY, NO_FONT, REQUIREMENT, import_refusal, platform_refusal

UNREACHABLE = ":1977"
LIBRARIES = Path(PyQt6.__file__).parent / "Qt6" / "lib"
FATAL = (
    "No plugin could be initialized.\n\nAvailable platform plugins are: minimal, offscreen, xcb, wayland.\n"
)

only_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only on Linux does Qt need a display server"
)


def start(folder, *arguments, **variables):
    """Start the program in a process of its own, where only these variables name a display or platform."""
    left_out = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_SESSION_TYPE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"XDG_CONFIG_HOME": str(folder), "OPENBLAS_NUM_THREADS": "1"} | variables
    return run_python("-m", "nrsfm_gui", *arguments, env=environment)


def check_sentence(done, *parts):
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


@pytest.mark.slow
@only_linux
@pytest.mark.parametrize(
    "variables",
    [
        {"DISPLAY": UNREACHABLE},
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


@pytest.mark.slow
@only_linux
def test_an_unknown_platform_is_refused_with_those_that_there_are(tmp_path):
    done = start(tmp_path, QT_QPA_PLATFORM="fantasy")
    check_sentence(done, "QT_QPA_PLATFORM is 'fantasy'", "accepted are", "offscreen", "xcb")


@only_linux
@pytest.mark.skipif(not (LIBRARIES / "libQt6XcbQpa.so.6").is_file(), reason="Qt is not that of its wheel")
def test_a_missing_library_of_the_platform_is_named_with_its_package(tmp_path):
    needed, missing = b"\0libxcb-cursor.so.0\0", b"\0libQcb-cursor.so.0\0"  # as long: nothing else moves
    content = (LIBRARIES / "libQt6XcbQpa.so.6").read_bytes()
    assert needed in content
    (tmp_path / "libQt6XcbQpa.so.6").write_bytes(content.replace(needed, missing))
    done = start(tmp_path, DISPLAY=os.environ.get("DISPLAY", UNREACHABLE), LD_LIBRARY_PATH=str(tmp_path))
    check_sentence(done, "missing here (libQcb-cursor.so.0)", "apt-get install libqcb-cursor0")


@only_linux
def test_a_qt_that_cannot_be_loaded_is_explained():
    missing = import_refusal(ImportError("libdbus-1.so.3: cannot open shared object file: No such file"))
    assert "missing here (libdbus-1.so.3)" in missing and "apt-get install libdbus-1-3" in missing
    text = "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_9.99' not found (required by libQt6Core.so.6)"
    older = import_refusal(ImportError(text))
    assert f"Qt needs glibc 9.99 or newer, this system has {platform.libc_ver()[1]}" in older
    assert "Debian 12, Ubuntu 22.04" in older
    other = import_refusal(ImportError("libQt6Core.so.6: undefined symbol: qt"))
    assert "Qt cannot be loaded (libQt6Core" in other and REQUIREMENT in other


@only_linux
def test_the_c_library_that_is_named_is_the_one_of_the_wheel():
    wheel = distribution("PyQt6-Qt6").read_text("WHEEL")
    assert f"manylinux_{C_LIBRARY.replace('.', '_')}_" in wheel


def test_the_version_of_qt_that_is_named_is_the_one_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = dict(re.findall(r"(PyQt6[\w-]*)>=([\d.]+)", " ".join(project["dependencies"])))
    assert f"PyQt6 {least['PyQt6']} ({least['PyQt6-Qt6']} or newer of PyQt6-Qt6)" in REQUIREMENT


def test_a_qt_that_cannot_be_imported_is_named_with_the_one_that_is_needed(tmp_path):
    (tmp_path / "PyQt6.py").write_text("raise ModuleNotFoundError(\"No module named 'PyQt6'\", name='PyQt6')")
    done = start(tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    check_sentence(done, "PyQt6 is not installed", REQUIREMENT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimal", "offscreen:size=900x700"])
def test_a_platform_without_a_display_works_and_what_qt_shows_is_passed_on(tmp_path, name):
    done = start(tmp_path, "--exit", QT_QPA_PLATFORM=name, QT_DEBUG_PLUGINS="1")
    assert done.returncode == 0, done.stderr
    assert "platforms" in done.stderr  # the paths of the plugins that Qt looked at


@pytest.mark.slow
@only_linux
def test_where_there_is_no_font_a_sentence_names_a_package(tmp_path):
    (tmp_path / "fonts.conf").write_text("<fontconfig></fontconfig>")
    done = start(tmp_path, "--screenshot", str(tmp_path / "window.png"), "--exit",
                 QT_QPA_PLATFORM="offscreen", FONTCONFIG_FILE=str(tmp_path / "fonts.conf"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"nrsfm-gui: {NO_FONT}\n" in done.stderr
    assert "fonts-dejavu-core" in NO_FONT


@only_linux
def test_packages_are_named_as_debian_does(monkeypatch):
    found = ["libEGL.so.1", "libdbus-1.so.3", "libglib-2.0.so.0", "libgthread-2.0.so.0"]
    found += ["libxcb-icccm.so.4", "libxkbcommon-x11.so.0"]
    monkeypatch.setattr("nrsfm_gui.platform_errors._missing_libraries", lambda _binary: found)
    sentence = platform_refusal({"DISPLAY": ":0"}, FATAL)
    packages = "libegl1 libdbus-1-3 libglib2.0-0 libxcb-icccm4 libxkbcommon-x11-0"
    assert sentence.endswith(f"sudo apt-get install {packages}")
