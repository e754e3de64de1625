"""Damaged and hostile sessions, results and settings end in a sentence, whatever values they hold."""

import io
import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from core import InputError, Settings
from core.io.readers import Allowance
from core.reconstruction import RECORDS
from nrsfm_gui.sessions.archive import DOCUMENT, ArchiveReader
from nrsfm_gui.sessions.opening import is_result, read_opened_result
from nrsfm_gui.sessions.session_data import StoredSequence, sequence_of
from nrsfm_gui.sessions.session_file import (
    SavedRun,
    SavedSequence,
    SavedSession,
    ViewState,
    read_session,
    write_session,
)

VIEW = {
    "frame": 0, "point": -1, "selection": [1], "hidden": [], "frame_range": [1, 3], "theme": "dark",
    "alignment": {"kind": "per-frame", "mirror": "off"}, "background": None,
    "appearance": {"labels": "selected"},
    "orbit": {"center": [0, 0, 0], "distance": 3, "azimuth": 3, "elevation": 2, "orthographic": False},
}  # fmt: skip


@pytest.fixture
def parts(known, tmp_path):
    """The members of a session of one run with a history."""
    sequence = replace(known.sequence, frame_rate=25.0)
    file = tmp_path / "result.npz"
    known.result.save(file)
    opened = read_opened_result(file)
    run = opened.run.run(sequence)
    written = SavedSession(
        (SavedSequence(sequence, (SavedRun.of(run),), run.number, Settings()),), 0, VIEW, {"docks": ""}
    )
    path = write_session(written, tmp_path / "whole.nrsfm")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def changed(document, way, value):
    """Return a document with another value at one place; KeyError stands for none."""
    whole = json.loads(document)
    parent = whole
    for key in way[:-1]:
        parent = parent[key]
    if value is KeyError:
        del parent[way[-1]]
    else:
        parent[way[-1]] = value
    return json.dumps(whole).encode()


def read_all(path):
    """Read a session as the window does."""
    session = read_session(path)
    for saved in session.sequences:
        for run in saved.runs:
            run.run(saved.sequence)
    ViewState.from_plain(session.view)


def refused(function, path):
    """Return whether a file is refused, in one printable sentence."""
    try:
        function(path)
    except InputError as error:
        assert str(error).isprintable() and len(str(error)) <= 600
        return True
    return False


def test_a_session_of_a_sequence_with_a_frame_rate_is_opened_again(parts, tmp_path):
    """A single number is written as one, and one that was written as an array of one is read."""
    session = read_session(archive_of(tmp_path / "a.nrsfm", parts))
    assert session.sequences[0].sequence.frame_rate == 25.0
    name = json.loads(parts[DOCUMENT])["sequences"][0]["sequence"]["arrays"]["frame_rate"]
    content = io.BytesIO()
    np.save(content, np.array([25.0]))
    old = parts | {f"arrays/{name}.npy": content.getvalue()}
    assert read_session(archive_of(tmp_path / "b.nrsfm", old)).sequences[0].sequence.frame_rate == 25.0


def test_a_document_that_is_compressed_by_another_method_is_refused(parts, tmp_path):
    path = tmp_path / "a.nrsfm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(
        InputError, match=r"a\.nrsfm: session\.json is compressed by method 12; accepted are st"
    ):
        read_session(path)


def test_a_result_of_a_later_kind_of_zip_is_no_result(known, tmp_path):
    path = tmp_path / "result.npz"
    known.result.save(path)
    content = path.read_bytes()
    end = content.rindex(b"PK\x01\x02")
    path.write_bytes(content[: end + 6] + b"\xc8\x00" + content[end + 8 :])  # version 20.0 is needed
    assert not is_result(path)


def test_arrays_of_many_sequences_are_counted_for_each(parts, tmp_path):
    with ArchiveReader(archive_of(tmp_path / "a.nrsfm", parts)) as archive:
        stored = RECORDS.read(StoredSequence, archive.document["sequences"][0]["sequence"], "")
        size = sum(archive.array(name).nbytes for name in stored.arrays.values())
        allowance = Allowance(0)
        allowance.use(allowance.left - 2 * size + 1)
        sequence_of(stored, archive, allowance)
        with pytest.raises(InputError, match=r"a\.nrsfm: needs 64 MB of memory"):
            sequence_of(stored, archive, allowance)


def test_runs_of_a_sequence_share_the_tracks_that_they_pose(parts, tmp_path):
    document = json.loads(parts[DOCUMENT])
    runs = document["sequences"][0]["runs"]
    for point in ("current", "best"):  # they are posed from those of the sequence
        runs[0]["iterate"][point]["problem"] |= {"tracks": None, "visible": None}
    runs.append(runs[0] | {"number": runs[0]["number"] + 1})
    session = read_session(
        archive_of(tmp_path / "a.nrsfm", parts | {DOCUMENT: json.dumps(document).encode()})
    )
    first, second = (run.iterate.current.problem.tracks for run in session.sequences[0].runs)
    assert np.shares_memory(first, second) and not first.flags.writeable


def test_a_pipe_is_no_session(tmp_path):
    path = tmp_path / "pipe.nrsfm"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a pipe"):
        read_session(path)
    assert not is_result(path)


def test_texts_of_a_session_are_escaped_where_they_cannot_be_printed(parts, tmp_path):
    document = parts[DOCUMENT]
    for name in ("title", "note"):
        document = changed(document, ("sequences", 0, "runs", 0, name), "a\x1b[31m\u202e\nb")
    (run,) = read_session(archive_of(tmp_path / "a.nrsfm", parts | {DOCUMENT: document})).sequences[0].runs
    assert run.title == run.note == "a\\x1b[31m\\u202e\nb"


def test_files_on_another_computer_that_a_session_names_are_not_looked_at(parts, tmp_path):
    document = parts[DOCUMENT]
    for way in (("source",), ("texts", "video")):
        document = changed(document, ("sequences", 0, "sequence", *way), "//elsewhere/share/a.mp4")
    path = archive_of(tmp_path / "a.nrsfm", parts | {DOCUMENT: document})
    (saved,) = read_session(path).sequences
    assert (saved.sequence.source, saved.sequence.video) == (None, None)
    assert saved.change.startswith(
        "//elsewhere/share/a.mp4 is on another computer or leads out of the folder"
    )
    document = changed(document, ("sequences", 0, "sequence", "arrays"), None)
    document = changed(document, ("sequences", 0, "sequence", "digest"), "0" * 64)
    archive_of(path, parts | {DOCUMENT: document})
    with pytest.raises(
        InputError, match=r"no copy of the tracks of //elsewhere/share/a\.mp4, which is on ano"
    ):
        read_session(path)


@pytest.mark.parametrize("value", [1e308, np.nan])
def test_a_history_of_far_too_many_seconds_is_refused(parts, tmp_path, value):
    """A plot over them has no range."""
    history = json.loads(parts[DOCUMENT])["sequences"][0]["runs"][0]["records"]["columns"]
    name = f"arrays/{history}.npy"
    columns = np.load(io.BytesIO(parts[name])).copy()
    columns[0, 1] = value
    content = io.BytesIO()
    np.save(content, columns)
    assert refused(read_all, archive_of(tmp_path / "a.nrsfm", parts | {name: content.getvalue()}))
