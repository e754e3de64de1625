"""The entry in the menu of a desktop: installed, used and removed in a folder of its own."""

import os
import shutil
import subprocess
import sys

import pytest
from patience import PATIENCE

from core import InputError, Settings, simulate
from nrsfm_gui.desktop_entry import (
    DATABASES,
    ENTRY,
    FILES,
    SESSION_TYPE,
    data_home,
    install,
    installed_program,
    remove,
)
from nrsfm_gui.model.session import OpenSequence
from nrsfm_gui.sessions.session_file import SUFFIX, SavedSession, write_session

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="such desktops are Linux's"),
    pytest.mark.skipif(
        any(shutil.which(command) is None for command, _folder, _package in DATABASES),
        reason="desktop-file-utils or shared-mime-info is not installed",
    ),
]


def needs(command):
    return pytest.mark.skipif(shutil.which(command) is None, reason=f"{command} is not installed")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Make a folder for data, which all programs that are started use."""
    folder = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


@pytest.fixture
def recording(tmp_path):
    """Return a maker of programs that write their arguments into the file `started`."""

    def make(name):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/started.new"\n'
                           f'mv "{tmp_path}/started.new" "{tmp_path}/started"\n')  # fmt: skip
        program.chmod(0o755)
        return program

    return make


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def run(*command, **variables):
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=PATIENCE, env=os.environ | variables
    )


@pytest.mark.slow
@needs("desktop-file-validate")
@needs("xdg-mime")
def test_the_program_installs_an_entry_that_the_desktop_accepts_and_removes_it_again(tmp_path, home):
    session = tmp_path / f"work{SUFFIX}"
    sequence = simulate("balloon", frames=4, points=15)
    write_session(SavedSession((OpenSequence(sequence, Settings()),)), session)
    done = run(sys.executable, "-m", "nrsfm_gui", "--install-desktop", DISPLAY="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [f"  {home / name}" for name in FILES]
    checked = run("desktop-file-validate", home / ENTRY)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    assert run("xdg-mime", "query", "filetype", session).stdout.strip() == SESSION_TYPE
    assert run("xdg-mime", "query", "default", SESSION_TYPE).stdout.strip() == os.path.basename(ENTRY)
    done = run(sys.executable, "-m", "nrsfm_gui", "--remove-desktop", DISPLAY="")
    assert done.returncode == 0, done.stderr
    assert not [name for name in files_in(home) if "nrsfm" in name]
    again = run(sys.executable, "-m", "nrsfm_gui", "--remove-desktop", DISPLAY="")
    assert again.returncode == 0
    assert "nothing was removed" in again.stdout


@needs("gio")
@pytest.mark.parametrize("name", ['a $b`c"d', "it's back\\slash"])
def test_the_entry_starts_the_program_with_the_file(qtbot, tmp_path, home, recording, name):
    install(home, recording(name))
    session = tmp_path / "my work.nrsfm"
    session.write_bytes(b"PK")
    done = run("gio", "launch", home / ENTRY, session)
    assert done.returncode == 0, done.stderr
    qtbot.waitUntil((tmp_path / "started").exists)
    assert (tmp_path / "started").read_text() == f"{session}\n"


def test_qt_knows_the_type_of_a_session_and_its_icon(home, recording):
    program = (
        "from PyQt6.QtCore import QMimeDatabase\n"
        "found = QMimeDatabase().mimeTypeForFile('work.nrsfm', QMimeDatabase.MatchMode.MatchExtension)\n"
        "print(found.name(), found.iconName(), found.inherits('application/zip'))"
    )
    assert SESSION_TYPE not in run(sys.executable, "-c", program).stdout
    install(home, recording("nrsfm-gui"))
    assert run(sys.executable, "-c", program).stdout.split() == [SESSION_TYPE, "nrsfm-gui", "True"]


def test_a_second_install_replaces_the_first_and_what_other_programs_installed_stays(home, recording):
    other_entry = home / "applications" / "other.desktop"
    other_type = home / "mime" / "packages" / "other.xml"
    for path in (other_entry, other_type):
        path.parent.mkdir(parents=True)
    other_entry.write_text(
        "[Desktop Entry]\nType=Application\nName=other\nExec=true\nMimeType=text/x-other;\n"
    )
    other_type.write_text(
        '<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">'
        '<mime-type type="text/x-other"><glob pattern="*.other"/></mime-type></mime-info>'
    )
    install(home, recording("old"))
    before = files_in(home)
    assert install(home, recording("new")) == [] and files_in(home) == before
    text = (home / ENTRY).read_text()
    assert "/new" in text and "/old" not in text
    remove(home)
    assert other_entry.exists() and other_type.exists()
    assert "text/x-other" in (home / "mime" / "globs2").read_text()
    assert "text/x-other=other.desktop" in (home / "applications" / "mimeinfo.cache").read_text()
    assert not [name for name in files_in(home) if "nrsfm" in name]
    remaining = "".join(path.read_text(errors="replace") for path in home.rglob("*") if path.is_file())
    assert "nrsfm" not in remaining


def test_where_one_file_cannot_be_written_none_is(home, recording):
    (home / FILES[-1]).mkdir(parents=True)
    with pytest.raises(InputError, match="is a folder; name a file to write"):
        install(home, recording("nrsfm-gui"))
    assert files_in(home) == []
    shutil.rmtree(home)
    home.mkdir()
    (home / "icons").write_text("")  # where a folder is needed
    with pytest.raises(InputError, match=r"icons.* cannot be made: "):
        install(home, recording("nrsfm-gui"))
    assert files_in(home) == ["icons"]


@pytest.mark.parametrize("name", ["a=b", "50%", "line\nbreak", "caf\udce9"])
def test_a_path_that_an_entry_cannot_have_is_refused(home, tmp_path, name):
    with pytest.raises(InputError, match="has a character that a menu entry cannot have"):
        install(home, tmp_path / name)
    assert not home.exists()


def test_without_the_programs_of_the_databases_the_sentence_names_them(home, recording, monkeypatch):
    monkeypatch.setenv("PATH", "")
    problems = install(home, recording("nrsfm-gui"))
    assert [problem.split()[0] for problem in problems] == [command for command, *_others in DATABASES]
    for problem, (_command, folder, package) in zip(problems, DATABASES, strict=True):
        assert f"(system package {package})" in problem
        assert str(home / folder) in problem
    remove(home)
    assert files_in(home) == []


def test_the_entry_starts_the_installed_program(monkeypatch, tmp_path):
    assert installed_program().name == "nrsfm-gui"
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(InputError, match="install the package first"):
        installed_program()


def test_the_folder_is_the_default_one_where_the_variable_is_empty_or_relative(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_home({"XDG_DATA_HOME": "/somewhere"}).as_posix() == "/somewhere"
    for variables in ({}, {"XDG_DATA_HOME": ""}, {"XDG_DATA_HOME": "relative"}):
        assert data_home(variables) == tmp_path / ".local" / "share"
