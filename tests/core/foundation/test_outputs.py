"""Which files may be written."""

import os
import socket
from pathlib import Path

import pytest

from core import InputError
from core.foundation import check_outputs, check_writable


def test_what_is_no_file_is_never_written(tmp_path):
    pipe, server = tmp_path / "pipe", socket.socket(socket.AF_UNIX)
    os.mkfifo(pipe)
    server.bind(str(tmp_path / "socket"))
    server.close()
    (tmp_path / "link").symlink_to("/dev/null")
    kinds = {
        tmp_path: "a folder",
        pipe: "a pipe",
        tmp_path / "socket": "a socket",
        tmp_path / "link": "a device",
    }
    for path, kind in kinds.items():
        with pytest.raises(InputError, match=f"is {kind}; name a file to write"):
            check_writable(path)


def test_a_file_that_nobody_may_write_is_respected_whoever_asks(tmp_path):
    path = tmp_path / "result.npz"
    path.touch(0o444)
    with pytest.raises(InputError, match="the file is read-only"):
        check_writable(path)
    path.chmod(0o644)
    assert check_writable(path) == path


def test_links_lead_to_what_is_written_also_where_that_is_absent(tmp_path):
    (tmp_path / "below").mkdir()
    target, link = tmp_path / "below" / "result.npz", tmp_path / "link.npz"
    link.symlink_to(target)
    assert check_writable(link) == target
    target.parent.rmdir()
    with pytest.raises(InputError, match=f"the folder {target.parent} does not exist"):
        check_writable(link)
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(InputError, match=r"link\.npz cannot be written: Too many levels of symbolic links"):
        check_writable(link)


def test_a_name_with_a_zero_byte_and_a_folder_that_was_deleted_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="cannot be written: "):
        check_writable(tmp_path / "a\0b.npz")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InputError, match=r"result\.npz cannot be written: No such file or directory"):
        check_writable(Path("result.npz"))


def test_an_output_is_known_by_every_name_of_an_input_or_of_another_output(tmp_path):
    original, hard, soft = (tmp_path / name for name in ("original", "hard", "soft"))
    original.touch()
    os.link(original, hard)
    soft.symlink_to(original)
    inputs = {original: "the input"}
    for name in (original, hard, soft, tmp_path / "." / "original"):
        with pytest.raises(InputError, match=r"-o .* is the input, which would be overwritten"):
            check_outputs([("-o", name)], inputs)
    with pytest.raises(InputError, match=r"--history .* is another output \(-o\)"):
        check_outputs([("-o", tmp_path / "new"), ("--history", tmp_path / "new")], {})
    check_outputs([("-o", tmp_path / "new"), ("--history", tmp_path / "other")], inputs)


def test_an_input_that_is_absent_may_not_appear_as_an_output(tmp_path):
    with pytest.raises(InputError, match="is a file of the input"):
        check_outputs([("-o", tmp_path / "edges.txt")], {tmp_path / "edges.txt": "a file of the input"})
