"""Files are old or new, never between: when a block fails, the disk is full, or the process is killed."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from core import InputError
from core.foundation import atomic, remove_temporaries, replacing, replacing_many
from core.io.readers import read_bytes

NAMES = [f"shape_{number:04d}.ply" for number in range(1, 6)]


def write(path, text, **options):
    with replacing(path, **options) as temporary:
        temporary.write_text(text)


def write_all(folder, text, names=NAMES, **options):
    with replacing_many(folder / "shape.ply", **options) as temporary:
        for name in names:
            (temporary / name).write_text(text)


def contents(folder):
    """Return the texts of all files, of hidden ones, too."""
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


def in_a_process(code, *arguments):
    """Run lines in a process of their own, and return its exit code."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=False).returncode


# -- one file ------------------------------------------------------------------------------------------------


def test_bytes_are_on_the_disk_before_the_name_and_the_name_before_the_end(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        original = getattr(os, name)

        def call(*arguments, name=name, original=original):
            target = os.fstat(arguments[0]).st_mode if name == "fsync" else 0
            calls.append("folder" if stat.S_ISDIR(target) else name)
            return original(*arguments)

        monkeypatch.setattr(os, name, call)
    write(tmp_path / "a.txt", "new")
    assert calls == ["fsync", "replace", "folder"]


def test_a_file_system_that_cannot_wait_for_its_disk_is_written_to(tmp_path, monkeypatch):
    def refuse(number):
        raise OSError(number, os.strerror(number))

    for number, text in ((errno.EINVAL, "new"), (errno.ENOTSUP, "newer")):
        monkeypatch.setattr(os, "fsync", lambda _handle, number=number: refuse(number))
        write(tmp_path / "a.txt", text)
        assert contents(tmp_path) == {"a.txt": text}
    monkeypatch.setattr(os, "fsync", lambda _handle: refuse(errno.EIO))
    with pytest.raises(InputError, match="Input/output error"):
        write(tmp_path / "a.txt", "damaged")
    assert contents(tmp_path) == {"a.txt": "newer"}


def test_permissions_of_a_file_are_kept_and_those_of_a_new_one_follow_the_umask(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write(path, "new")
    finally:
        os.umask(before)
    assert permissions(path) == 0o640
    path.chmod(0o604)
    write(path, "newer")
    assert permissions(path) == 0o604 and path.read_text() == "newer"


def test_what_is_written_can_be_read_by_its_owner_whatever_the_umask(tmp_path):
    before = os.umask(0o777)
    try:
        write(tmp_path / "a.txt", "new")
        with replacing_many(tmp_path / "shape.ply") as temporary:
            modes = [permissions(temporary), permissions(temporary.parent)]
            (temporary / "b.ply").write_text("new")
    finally:
        os.umask(before)
    assert modes == [0o700, 0o700]
    assert permissions(tmp_path / "a.txt") == permissions(tmp_path / "b.ply") == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_a_file_stays(tmp_path):
    path = tmp_path / "a.txt"
    path.touch()
    os.chown(path, 1234, 4321)
    write(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_a_private_file_is_never_readable_by_others(tmp_path):
    path = tmp_path / "a.txt"
    path.touch(0o644)
    with replacing(path, private=True) as temporary:
        assert permissions(temporary) == 0o600
    assert permissions(path) == 0o600


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path):
    target, link = tmp_path / "below" / "a.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "below", "link.txt"]


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("a" * 200 + "." + "b" * 54)
    write(path, "new")
    assert contents(tmp_path) == {path.name: "new"}


def test_an_error_in_the_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("new")
        raise KeyboardInterrupt
    assert contents(tmp_path) == {"a.txt": "old"}


FULL = """
import resource, sys
from pathlib import Path
from core import InputError
from core.foundation import replacing
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with replacing(Path(sys.argv[1])) as temporary:
        temporary.write_bytes(bytes(2000))
except InputError as error:
    sys.exit("File too large" not in str(error))
"""


def test_a_disk_that_refuses_the_bytes_leaves_the_old_file_and_a_sentence(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    assert in_a_process(FULL, path) == 0
    assert contents(tmp_path) == {"a.txt": "old"}


# -- several files -------------------------------------------------------------------------------------------


def test_several_files_replace_those_before_with_their_permissions(tmp_path):
    write_all(tmp_path, "old")
    (tmp_path / NAMES[0]).chmod(0o600)
    write_all(tmp_path, "new")
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")
    assert permissions(tmp_path / NAMES[0]) == 0o600


@pytest.mark.parametrize("existing", [NAMES, NAMES[:2], []])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_several_files_appear_or_none_wherever_the_renaming_fails(tmp_path, monkeypatch, existing, error):
    for name in existing:
        (tmp_path / name).write_text("old")
    replace, moved = os.replace, []
    for failing in range(len(NAMES)):
        moved.clear()

        def fail(source, target, failing=failing):
            if target.name in NAMES and "old" not in source.parts:
                if len(moved) == failing:
                    raise error
                moved.append(target)
            replace(source, target)

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(InputError if isinstance(error, OSError) else KeyboardInterrupt):
            write_all(tmp_path, "new")
        assert contents(tmp_path) == dict.fromkeys(existing, "old")


def test_one_name_that_cannot_be_written_keeps_all_from_appearing(tmp_path):
    (tmp_path / NAMES[3]).mkdir()
    with pytest.raises(InputError, match=f"{NAMES[3]} is a folder"):
        write_all(tmp_path, "new")
    assert contents(tmp_path) == {}


def test_files_that_go_with_the_new_ones_go_with_them_only(tmp_path, monkeypatch):
    write_all(tmp_path, "old")
    (tmp_path / "link.ply").symlink_to(tmp_path / NAMES[4])
    removed = [*NAMES[1:4], "absent.ply", "link.ply"]
    unlink, gone = Path.unlink, []

    def fail(path, **options):
        if path.parent == tmp_path:
            gone.append(path)
            if len(gone) == 2:
                raise OSError(5, "Input/output error")
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", fail)
        with pytest.raises(InputError, match="Input/output error"):
            write_all(tmp_path, "new", NAMES[:2], removed=removed)
    assert contents(tmp_path) == dict.fromkeys([*NAMES, "link.ply"], "old")
    write_all(tmp_path, "new", NAMES[:2], removed=removed)
    assert contents(tmp_path) == dict.fromkeys(NAMES[:2], "new") | {NAMES[4]: "old", "link.ply": "old"}


def test_what_cannot_be_put_back_at_once_is_put_back_later(tmp_path, monkeypatch):
    write_all(tmp_path, "old")
    replace = os.replace

    def fail(source, target):
        if target.name == NAMES[2] or "old" in source.parts:
            raise OSError(5, "Input/output error")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(InputError):
            write_all(tmp_path, "new")
    assert contents(tmp_path)[NAMES[0]] == "new"
    (left,) = tmp_path.glob(".nrsfm-*")
    atomic._discard(left, through_links=False)
    assert contents(tmp_path) == dict.fromkeys(NAMES, "old")


KILLED = """
import os, signal, sys
from pathlib import Path
from core.foundation import replacing_many
folder, count = Path(sys.argv[1]), int(sys.argv[2])
def killing(function):
    def call(*arguments, **options):
        global count
        if Path(arguments[-1]).parent == folder:
            if count == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            count -= 1
        return function(*arguments, **options)
    return call
os.replace, Path.unlink = killing(os.replace), killing(Path.unlink)
with replacing_many(folder / "shape.ply", removed=["gone.ply"]) as temporary:
    for name in sys.argv[3:]:
        (temporary / name).write_text("new")
"""


def test_a_process_that_is_killed_while_it_renames_leaves_the_old_files_to_the_next(tmp_path):
    write_all(tmp_path, "old", NAMES[:3])
    assert in_a_process(KILLED, tmp_path, 4, *NAMES) == -signal.SIGKILL
    edited = tmp_path / NAMES[3]
    assert contents(tmp_path)[NAMES[0]] == "new"
    edited.write_text("somebody else")
    remove_temporaries(tmp_path)
    expected = dict.fromkeys(NAMES[:3], "old") | {NAMES[3]: "somebody else"}
    assert contents(tmp_path) == expected


@pytest.mark.parametrize("count", range(len(NAMES) + 2))
def test_files_are_whole_when_the_next_file_of_the_folder_is_read(tmp_path, count):
    write_all(tmp_path, "old", [*NAMES[:3], "gone.ply"])
    assert in_a_process(KILLED, tmp_path, count, *NAMES) == -signal.SIGKILL * (count <= len(NAMES))
    read_bytes(tmp_path / NAMES[0])
    new = count > len(NAMES)
    assert contents(tmp_path) == dict.fromkeys(
        NAMES if new else [*NAMES[:3], "gone.ply"], ("old", "new")[new]
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1, 2]",
        "{",
        "[" * 100_000,
        '{"../a.txt": null}',
        '{"a\\u0000b": null}',
        '{"a\\ud800b": null}',
        '{"..": null, ".": null}',
        '{"a.txt": [1]}',
        '{"": 1}',
    ],
)
def test_a_list_that_is_not_one_changes_nothing(tmp_path, content):
    kept = tmp_path / "below" / ".nrsfm" / "old"
    kept.mkdir(parents=True)
    (tmp_path / "a.txt").write_text("here")
    (tmp_path / "below" / "a.txt").write_text("here")
    (kept / "a.txt").write_text("there")
    (kept.parent / "renames.json").write_text(content)
    atomic._discard(kept.parent, through_links=False)
    assert contents(tmp_path) == {"a.txt": "here", str(Path("below", "a.txt")): "here"}


# -- what was put into a folder by somebody else -------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path):
    """Return a folder that has the temporary folder of a process that has ended, and one beside it."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    left = folder / f".nrsfm-{atomic._machine()}-999999999-1-{'0' * 16}"
    (left / "old").mkdir(parents=True)
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    (folder / "mine.txt").write_text("mine")
    (left / "old" / "a.txt").write_text("hostile")
    (left / "renames.json").write_text('{"a.txt": null}')
    return folder, outside, left


def test_a_list_does_not_write_through_a_link(hostile):
    folder, outside, left = hostile
    (folder / "a.txt").symlink_to(outside / "new.txt")
    read_bytes(folder / "mine.txt")
    assert contents(outside) == {"kept.txt": "kept"}
    assert (folder / "a.txt").is_symlink() and not left.exists()


def test_a_list_does_not_remove_through_a_link(hostile):
    folder, outside, left = hostile
    (folder / "a.txt").symlink_to(outside / "kept.txt")
    (left / "renames.json").write_text(json.dumps({"a.txt": atomic._mark(outside / "kept.txt")}))
    (left / "old" / "a.txt").unlink()
    read_bytes(folder / "mine.txt")
    assert contents(outside) == {"kept.txt": "kept"}


@pytest.mark.parametrize("replaced", ["old", "old/a.txt", "renames.json", "."])
def test_a_list_does_not_fetch_through_a_link(hostile, replaced):
    folder, outside, left = hostile
    for name in ("a.txt", "renames.json"):
        (outside / name).write_text((left / "old" / "a.txt" if name == "a.txt" else left / name).read_text())
    (outside / "old").mkdir()
    (outside / "old" / "a.txt").write_text("hostile")
    before = contents(outside)
    path = left / replaced
    target = outside if replaced in ("old", ".") else outside / path.name
    path.rename(folder / "away")
    path.symlink_to(target)
    read_bytes(folder / "mine.txt")
    assert contents(outside) == before
    assert not os.path.lexists(folder / "a.txt") and not os.path.lexists(left)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_list_of_another_user_changes_nothing(hostile):
    folder, _outside, left = hostile
    os.chown(left, 1234, 4321)
    read_bytes(folder / "mine.txt")
    assert not (folder / "a.txt").exists() and (left / "old" / "a.txt").exists()
    os.chown(left, os.geteuid(), os.getegid())
    remove_temporaries(folder.parent / "outside" / ".." / "folder")  # the path that was looked at waits
    assert (folder / "a.txt").read_text() == "hostile" and not left.exists()


@pytest.mark.slow
def test_a_hostile_folder_of_any_depth_can_be_read_in(hostile):
    folder, _outside, left = hostile
    here = os.open(left, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert read_bytes(folder / "mine.txt") == b"mine"
    subprocess.run(["rm", "-rf", left], check=True)  # pytest could not


def test_several_files_behind_links_are_put_back_where_the_renaming_fails(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    write_all(tmp_path / "below", "old")
    for name in NAMES:
        (tmp_path / name).symlink_to(tmp_path / "below" / name)
    replace = os.replace

    def fail(source, target):
        if target.name == NAMES[3] and "old" not in source.parts:
            raise OSError(5, "Input/output error")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(InputError):
            write_all(tmp_path, "new")
    assert contents(tmp_path / "below") == dict.fromkeys(NAMES, "old")
    assert all((tmp_path / name).is_symlink() for name in NAMES)


# -- what processes left -------------------------------------------------------------------------------------


WRITING = """
import sys
from pathlib import Path
from core.foundation import replacing
with replacing(Path(sys.argv[1]) / "a.npz") as temporary:
    print(temporary.name, flush=True)
    input()
"""


def test_temporary_files_of_processes_that_were_killed_are_removed_with_the_next_file(tmp_path):
    folders = [tmp_path / name for name in ("first", "second")]  # one is not listed twice at once
    for folder in folders:
        folder.mkdir()
    command = [sys.executable, "-c", WRITING, str(folders[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        name = child.stdout.readline().strip()
        write(folders[0] / "b.txt", "new")
        assert sorted(os.listdir(folders[0])) == [name, "b.txt"]
        machine, process, began = name.split("-")[1:4]
        another_start = name.replace(f"-{began}-", f"-{int(began) + 1}-")  # its number was given again
        foreign = [name.replace(machine, "00000000"), ".nrsfm-notes.txt", name.replace(f"-{process}-", "-x-")]
        for each in (another_start, *foreign):
            (folders[1] / each).touch()
        (folders[1] / another_start.removesuffix(".npz")).mkdir()
        (folders[0] / name).rename(folders[1] / name)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended before anybody waits for it
        write(folders[1] / "b.txt", "new")
    assert sorted(os.listdir(folders[1])) == sorted([*foreign, "b.txt"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such namespaces")
def test_temporary_files_of_a_container_of_the_same_name_stay(tmp_path):
    script = "from core.foundation import atomic; print(atomic._temporary_name())"
    container = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", script]
    with suppress(FileNotFoundError):
        named = subprocess.run(container, capture_output=True, text=True, check=False)
        if named.returncode == 0:
            file = tmp_path / named.stdout.strip()
            file.touch()
            remove_temporaries(tmp_path)
            assert file.exists()
            return
    pytest.skip("no namespace can be made")


def test_a_folder_is_not_listed_for_each_of_many_files(tmp_path, monkeypatch):
    listed, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    for number in range(20):
        (tmp_path / f"{number}.txt").touch()
        remove_temporaries(tmp_path)
    assert len(listed) < 5
