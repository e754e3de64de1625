"""Starting the application where Qt cannot open a window: one sentence and exit code 2, and no abort."""

import os
import platform
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import PyQt6
import pytest
from patience import PATIENCE

from nrsfm_gui.platform_errors import C_LIBRARY, NO_FONT, REQUIREMENT, platform_refusal

ROOT = Path(__file__).parents[3]
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
    return subprocess.run(
        [sys.executable, "-m", "nrsfm_gui", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
    )


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


@only_linux
@pytest.mark.parametrize(
    "variables",
    [
        {"DISPLAY": UNREACHABLE},
        {"WAYLAND_DISPLAY": "wayland-1977"},
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (
                {"WAYLAND_DISPLAY": "wayland-1977", "XDG_RUNTIME_DIR": "/nowhere"},
                {"WAYLAND_DISPLAY": "wayland-1977", "DISPLAY": UNREACHABLE},
                {"WAYLAND_DISPLAY": "wayland-1977", "QT_QPA_PLATFORM": "wayland"},
                {"DISPLAY": UNREACHABLE, "QT_QPA_PLATFORM": "xcb"},
            )
        ),
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


def without_library(folder, user, library):
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


@only_linux
@pytest.mark.skipif(not (LIBRARIES / "libQt6Core.so.6").is_file(), reason="Qt is not that of its wheel")
def test_an_older_c_library_is_named_with_the_systems_that_have_a_newer_one(tmp_path):
    package, copy = Path(PyQt6.__file__).parent, tmp_path / "PyQt6"
    (copy / "Qt6" / "lib").mkdir(parents=True)
    for folder in ("", "Qt6", "Qt6/lib"):
        for path in (package / folder).iterdir():
            if not (copy / folder / path.name).exists():
                (copy / folder / path.name).symlink_to(path)
    core = copy / "Qt6" / "lib" / "libQt6Core.so.6"
    content, needed = core.read_bytes(), f"\0GLIBC_{C_LIBRARY}\0".encode()
    assert needed in content
    core.unlink()
    core.write_bytes(content.replace(needed, b"\0GLIBC_9.99\0"))
    done = start(
        tmp_path, QT_QPA_PLATFORM="offscreen", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)])
    )
    check_sentence(
        done, "Qt needs glibc 9.99", f"this system has {platform.libc_ver()[1]}", "Debian 12, Ubuntu 22.04"
    )


@only_linux
def test_the_c_library_that_is_named_is_the_one_of_the_wheel():
    wheel = distribution("PyQt6-Qt6").read_text("WHEEL")
    assert f"manylinux_{C_LIBRARY.replace('.', '_')}_" in wheel


def test_the_version_of_qt_that_is_named_is_the_one_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = dict(re.findall(r"(PyQt6[\w-]*)>=([\d.]+)", " ".join(project["dependencies"])))
    assert f"PyQt6 {least['PyQt6']} ({least['PyQt6-Qt6']} or newer of PyQt6-Qt6)" in REQUIREMENT


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "PyQt6 is not installed"),  # no package of that name
        ("raise ImportError('libQt6Core.so.6: undefined symbol: qt')", "Qt cannot be loaded (libQt6Core"),
    ],
    ids=["absent", "of another version"],
)
def test_a_qt_that_cannot_be_imported_is_named_with_the_one_that_is_needed(tmp_path, code, words):
    if code:
        (tmp_path / "PyQt6").mkdir()
        (tmp_path / "PyQt6" / "__init__.py").write_text("")
        (tmp_path / "PyQt6" / "QtWidgets.py").write_text(code)
    else:
        (tmp_path / "PyQt6.py").write_text(
            "raise ModuleNotFoundError(\"No module named 'PyQt6'\", name='PyQt6')"
        )
    check_sentence(
        start(tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)])), words, REQUIREMENT
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimal", "offscreen:size=900x700"])
def test_a_platform_without_a_display_works_and_what_qt_shows_is_passed_on(tmp_path, name):
    done = start(tmp_path, "--exit", QT_QPA_PLATFORM=name, QT_DEBUG_PLUGINS="1")
    assert done.returncode == 0, done.stderr
    assert "platforms" in done.stderr  # the paths of the plugins that Qt looked at


def test_help_needs_no_display(tmp_path):
    assert start(tmp_path, "--help").returncode == 0


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
    found = [
        "libEGL.so.1",
        "libdbus-1.so.3",
        "libglib-2.0.so.0",
        "libgthread-2.0.so.0",
        "libxcb-icccm.so.4",
        "libxkbcommon-x11.so.0",
    ]
    monkeypatch.setattr("nrsfm_gui.platform_errors._missing_libraries", lambda _binary: found)
    sentence = platform_refusal({"DISPLAY": ":0"}, FATAL)
    packages = "libegl1 libdbus-1-3 libglib2.0-0 libxcb-icccm4 libxkbcommon-x11-0"
    assert sentence.endswith(f"sudo apt-get install {packages}")
