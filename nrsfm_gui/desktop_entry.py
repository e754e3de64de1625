"""The entry in the menu of a desktop, its icon and the type of session files. No Qt here.

Written below XDG_DATA_HOME as the specifications of freedesktop.org have it: a desktop entry, an icon of the
theme hicolor, and a package of shared-mime-info. Desktops read two databases that are made of such files by
`update-mime-database` and `update-desktop-database`; both run after every change. What cannot be done raises
InputError.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from core import InputError
from core.foundation import PROGRAM, asset_folder, make_folder, replacing

ENTRY = f"applications/{PROGRAM}.desktop"
ICON = f"icons/hicolor/scalable/apps/{PROGRAM}.svg"
MIME_PACKAGE = f"mime/packages/{PROGRAM}.xml"
FILES = (ENTRY, ICON, MIME_PACKAGE)
SESSION_TYPE = "application/x-nrsfm-session"
# The program that makes each database, the folder that it is about, and the Debian package that has it.
DATABASES = (
    ("update-mime-database", "mime", "shared-mime-info"),
    ("update-desktop-database", "applications", "desktop-file-utils"),
)
# Where no other package is left, the databases are only what those programs made.
MIME_DATABASE = (
    "aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic",
    "types", "version", "XMLnamespaces",
)  # fmt: skip
ENTRY_DATABASE = "mimeinfo.cache"

ENTRY_TEXT = """\
[Desktop Entry]
Type=Application
Name={program}
GenericName=Non-rigid structure from motion
Comment=From the 2-D tracks of a deforming object to its 3-D shape in every frame
Exec={command} %f
TryExec={executable}
Icon={program}
Terminal=false
Categories=Science;DataVisualization;Qt;
Keywords=NRSfM;reconstruction;tracks;3D;
MimeType={session_type};
StartupWMClass={program}
"""
MIME_TEXT = """\
<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{session_type}">
    <comment>{program} session</comment>
    <sub-class-of type="application/zip"/>
    <icon name="{program}"/>
    <glob pattern="*.nrsfm"/>
  </mime-type>
</mime-info>
"""


def data_home(environment: Mapping[str, str]) -> Path:
    """Return the folder for data of the user: XDG_DATA_HOME, or ~/.local/share."""
    if not sys.platform.startswith("linux"):
        raise InputError(f"a menu entry is made on desktops of Linux only; this is {sys.platform}")
    given = Path(environment.get("XDG_DATA_HOME", ""))
    if given.is_absolute():  # the specification has relative paths ignored
        return given
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError as error:
        raise InputError("there is no home folder; set XDG_DATA_HOME to the folder for the entry") from error


def installed_program() -> Path:
    """Return the program that the entry starts: the one that runs, or that next to its Python."""
    expected = Path(sys.executable).with_name(PROGRAM)
    for path in (Path(sys.argv[0]).absolute(), expected):
        if path.name == PROGRAM and path.is_file() and os.access(path, os.X_OK):
            return path
    raise InputError(f"there is no program {expected} for the entry to start; install the package first")


def install(folder: Path, program: Path) -> list[str]:
    """Write the entry, the icon and the type of files, or none of them; return what stays to be done."""
    contents = _contents(program)
    new = [name for name in contents if not (folder / name).exists()]
    try:
        for name, content in contents.items():
            path = folder / name
            make_folder(path.parent)
            with replacing(path) as temporary:
                temporary.write_bytes(content)
        os.utime(folder / "icons" / "hicolor")  # its cache, where there is one, is older from now on
    except InputError:
        _unlink(folder, new)
        raise
    except OSError as error:
        _unlink(folder, new)
        raise InputError(f"{error.filename} cannot be made: {error.strerror or error}") from error
    return _update_databases(folder)


def remove(folder: Path) -> list[str]:
    """Remove the entry, the icon, the type of files, and what the databases hold of them."""
    try:
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        problems = _update_databases(folder)
        (folder / "mime" / SESSION_TYPE).with_suffix(".xml").unlink(missing_ok=True)
        if not any((folder / "mime" / "packages").glob("*")):
            for name in MIME_DATABASE:
                (folder / "mime" / name).unlink(missing_ok=True)
        if not any((folder / "applications").rglob("*.desktop")):
            (folder / "applications" / ENTRY_DATABASE).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be removed: {error.strerror or error}") from error
    _unlink(folder, [*FILES, f"mime/{SESSION_TYPE}.xml"])
    return problems


def change_desktop(action: str, environment: Mapping[str, str]) -> str:
    """Install or remove; return the text that shows what was done."""
    folder = data_home(environment)
    if action == "install":
        program = installed_program()
        problems = install(folder, program)
        done = f"The menu has an entry for {program}, which opens *.nrsfm files:"
        files = [str(folder / name) for name in FILES]
    else:
        files = [str(folder / name) for name in FILES if (folder / name).exists()]
        problems = remove(folder) if files else []
        done = "Removed:" if files else f"There is no entry of {PROGRAM} in {folder}; nothing was removed."
    return "\n".join([done, *(f"  {file}" for file in files), *problems])


def _contents(program: Path) -> dict[str, bytes]:
    icons = asset_folder("icons")
    if icons is None:
        raise InputError("the icon is not installed: the folder assets/icons is missing")
    # In an entry, a backslash begins an escape.
    command, executable = (path.replace("\\", "\\\\") for path in (_quoted(str(program)), str(program)))
    names = {"program": PROGRAM, "session_type": SESSION_TYPE}
    entry = ENTRY_TEXT.format(command=command, executable=executable, **names)
    icon = (icons / "application.svg").read_bytes()
    return {ENTRY: entry.encode(), ICON: icon, MIME_PACKAGE: MIME_TEXT.format(**names).encode()}


def _quoted(path: str) -> str:
    """Return a path as an argument of the key Exec, which has quoting of its own."""
    # The specification excludes some, and GLib 2.74 does not undo the escape of "%" in a name.
    if set("=%") & set(path) or not path.isprintable():
        raise InputError(f"{path!r} has a character that a menu entry cannot have; install it elsewhere")
    for character in '\\"`$':
        path = path.replace(character, "\\" + character)
    return f'"{path}"'


def _update_databases(folder: Path) -> list[str]:
    """Have the databases made again; return a sentence for each one that was not."""
    problems = []
    for command, name, package in DATABASES:
        program = shutil.which(command)
        if program is None:
            problems.append(
                f"{command} is not installed (system package {package}): the desktop may not see the change "
                f"before it has run: {command} {folder / name}"
            )
        elif (folder / name).is_dir():
            done = subprocess.run([program, str(folder / name)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                problems.append(f"{command} failed: {' '.join(done.stderr.split())[:200]}")
    return problems


def _unlink(folder: Path, names: list[str]) -> None:
    """Remove files, and the folders above them that are then empty."""
    for name in names:
        path = folder / name
        try:
            path.unlink(missing_ok=True)
            for parent in path.relative_to(folder).parents[:-1]:
                (folder / parent).rmdir()
        except OSError:  # a folder that holds something else
            continue
