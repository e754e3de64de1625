"""Why Qt cannot be loaded or open a window here, in one sentence, in place of a traceback or an abort.

Python cannot import Qt where it is absent or of another version, where the system's C library is older than
the one that Qt was built for, or where another library is missing. Qt calls `abort` where no platform plugin
starts: there is no display, it cannot be reached, or a library of the plugin is missing. Its last message
before the abort goes through the message handler, which ends the process with the sentence instead. What Qt
and its libraries write to the standard error until then is held back, and written where the application
starts.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PLATFORM = "QT_QPA_PLATFORM"
DISPLAYS = {"xcb": "DISPLAY", "wayland": "WAYLAND_DISPLAY"}  # the variables that name them
REQUIREMENT = "nrsfm-gui needs PyQt6 6.11 (6.11.2 or newer of PyQt6-Qt6)"
C_LIBRARY = "2.34"  # the glibc that the wheels of PyQt6-Qt6 are built for
DEFAULT_PLATFORMS = tuple(DISPLAYS) if sys.platform.startswith("linux") else ()
# The libraries of GLib and zlib that have no Debian package of their own name.
PACKAGES = {
    "libgio-2.0.so.0": "libglib2.0-0",
    "libgmodule-2.0.so.0": "libglib2.0-0",
    "libgobject-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libz.so.1": "zlib1g",
}
NO_FONT = (
    "there is no font here, so that text is drawn as boxes; install one, on Debian and Ubuntu: "
    "sudo apt-get install fonts-dejavu-core"
)
VIRTUAL = (
    "start it on a desktop, or on a virtual display: xvfb-run -a nrsfm-gui (system package xvfb: "
    "sudo apt-get install xvfb)"
)


def import_qt(status: int) -> None:
    """Import Qt; end the process with a sentence and an exit code where that fails."""
    try:
        importlib.import_module("PyQt6.QtWidgets")
    except ImportError as error:
        sys.stderr.write(f"nrsfm-gui: {import_refusal(error)}\n")
        raise SystemExit(status) from None


def import_refusal(error: ImportError) -> str:
    """Return the sentence that explains why Qt cannot be imported."""
    text = str(error)
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name or 'PyQt6'} is not installed; {REQUIREMENT}: pip install nrsfm-gui"
    needed = re.search(r"version `GLIBC_([\d.]+)' not found", text)
    if needed is not None:
        present = platform.libc_ver()[1] or "an older one"
        return (
            f"Qt needs glibc {needed[1]} or newer, this system has {present}; "
            f"{C_LIBRARY} is in Debian 12, Ubuntu 22.04, Fedora 35, RHEL 9 and newer ones"
        )
    library = re.match(r"(lib[^ :]+\.so[^ :]*): cannot open", text)
    if library is not None:
        module = importlib.util.find_spec("PyQt6.QtWidgets")
        missing = _missing_libraries(Path("" if module is None else module.origin or ""))
        return _libraries_refusal(missing or [library[1]])
    return f"Qt cannot be loaded ({' '.join(text.split())[:200]}); {REQUIREMENT}"


@contextmanager
def explained(environment: Mapping[str, str], status: int) -> Iterator[None]:
    """End the process with a sentence and an exit code where Qt gives up meanwhile.

    Enclose only what makes the application: nothing is cleaned up.
    """
    from PyQt6.QtCore import QtMsgType, qFormatLogMessage, qInstallMessageHandler

    if sys.stderr is None:
        yield
        return

    def handle(kind: QtMsgType, context: Any, text: str | None) -> None:
        if kind is QtMsgType.QtFatalMsg:
            os.write(stderr, f"nrsfm-gui: {platform_refusal(environment, text or '')}\n".encode())
            os._exit(status)
        os.write(2, f"{qFormatLogMessage(kind, context, text)}\n".encode())

    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        faulthandler.enable(stderr)
        before = qInstallMessageHandler(handle)
        try:
            yield
        finally:
            qInstallMessageHandler(before)
            os.dup2(stderr, 2)
            faulthandler.enable()
            os.close(stderr)
            held.seek(0)
            os.write(2, held.read())


def platform_refusal(environment: Mapping[str, str], message: str) -> str:
    """Return the sentence that explains why no platform plugin of Qt starts."""
    asked = environment.get(PLATFORM, "")
    names = [name.partition(":")[0] for name in asked.split(";")] if asked else list(DEFAULT_PLATFORMS)
    listed = re.search(r"plugins are: (.*)\.", message)
    accepted = listed[1].split(", ") if listed else []
    if asked and accepted and not set(names) & set(accepted):
        return f"{PLATFORM} is {asked!r}; accepted are {', '.join(sorted(accepted))}"
    variables = [DISPLAYS[name] for name in names if name in DISPLAYS]
    if not variables:
        which = f"{asked!r}, which {PLATFORM} names" if asked else f"of {sys.platform}"
        return f"Qt could not start the platform {which}"
    given = {name: environment[name] for name in variables if environment.get(name)}
    if not given:
        empty = f"{' and '.join(sorted(variables))} {'are' if len(variables) > 1 else 'is'} empty"
        return f"there is no display ({empty}); {VIRTUAL}"
    if "DISPLAY" in given:
        from PyQt6.QtCore import QLibraryInfo

        plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
        missing = _missing_libraries(plugins / "platforms" / "libqxcb.so")
        if missing:
            return _libraries_refusal(missing)
    which = " and ".join(f"{name}={value}" for name, value in given.items())
    return f"the display cannot be opened ({which}); {VIRTUAL}"


def _libraries_refusal(missing: list[str]) -> str:
    packages = " ".join(dict.fromkeys(map(_package, missing)))
    return (
        f"Qt needs libraries that are missing here ({', '.join(missing)}); install the system packages that "
        f"hold them, on Debian and Ubuntu: sudo apt-get install {packages}"
    )


def _package(library: str) -> str:
    """Return the Debian package of a library: its name and version by section 8.1 of the Debian policy."""
    if library in PACKAGES:
        return PACKAGES[library]
    name, _, version = library.lower().replace("_", "-").partition(".so")
    name = re.sub(r"-(?=\d+\.\d)", "", name)  # libglib-2.0 is in libglib2.0-0
    return name + ("-" if name[-1].isdigit() else "") + version.lstrip(".")


def _missing_libraries(binary: Path) -> list[str]:
    """Return the libraries that a binary needs, by itself or through others, and that are not found."""
    ldd = shutil.which("ldd")
    if ldd is None:
        return []
    listing = subprocess.run([ldd, str(binary)], capture_output=True, text=True, check=False).stdout
    return sorted(set(re.findall(r"^\s*(\S+) => not found", listing, flags=re.MULTILINE)))
