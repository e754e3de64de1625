"""Files are old or new, never between: when a block fails, or the disk is full."""

import errno
import os
import stat
from pathlib import Path

import pytest

from core import InputError
from core.foundation import replacing, replacing_many

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


def test_an_error_in_the_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("new")
        raise KeyboardInterrupt
    assert contents(tmp_path) == {"a.txt": "old"}


# -- several files -------------------------------------------------------------------------------------------


def test_several_files_replace_those_before_with_their_permissions(tmp_path):
    write_all(tmp_path, "old")
    (tmp_path / NAMES[0]).chmod(0o600)
    write_all(tmp_path, "new")
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")
    assert permissions(tmp_path / NAMES[0]) == 0o600


@pytest.mark.parametrize("existing", [NAMES[:2], []])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_several_files_appear_or_none_wherever_the_renaming_fails(tmp_path, monkeypatch, existing, error):
    for name in existing:
        (tmp_path / name).write_text("old")
    replace, moved = os.replace, []
    for failing in range(len(NAMES)):
        moved.clear()

        def fail(source, target, failing=failing):
            if target.name in NAMES and "new" in source.parts:
                if len(moved) == failing:
                    raise error
                moved.append(target)
            replace(source, target)

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(InputError if isinstance(error, OSError) else KeyboardInterrupt):
            write_all(tmp_path, "new")
        assert contents(tmp_path) == dict.fromkeys(existing, "old")


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


def test_several_files_behind_links_are_put_back_where_the_renaming_fails(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    write_all(tmp_path / "below", "old")
    for name in NAMES:
        (tmp_path / name).symlink_to(tmp_path / "below" / name)
    replace = os.replace

    def fail(source, target):
        if target.name == NAMES[3] and "new" in source.parts:
            raise OSError(5, "Input/output error")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(InputError):
            write_all(tmp_path, "new")
    assert contents(tmp_path / "below") == dict.fromkeys(NAMES, "old")
    assert all((tmp_path / name).is_symlink() for name in NAMES)


# -- what processes left -------------------------------------------------------------------------------------


def test_temporary_files_of_processes_that_were_killed_are_removed_with_the_next_file(tmp_path):
    with replacing(tmp_path / "a.npz") as temporary:
        write(tmp_path / "b.txt", "new")
        assert temporary.exists()  # its process is there
        own = f"-{os.getpid()}-"
        left = temporary.with_name(temporary.name.replace(own, "-999999999-"))
        machine = left.name.split("-")[1]
        foreign = [left.name.replace(machine, "00000000"), ".nrsfm-notes.txt"]
        for name in (left.name, *foreign):
            (tmp_path / name).touch()
        (tmp_path / left.stem).mkdir()
        write(tmp_path / "b.txt", "newer")
    assert sorted(os.listdir(tmp_path)) == sorted([*foreign, "a.npz", "b.txt"])
