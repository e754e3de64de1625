"""A session as a file: everything comes back, to the last bit; nothing that is wrong in it gets through."""

import functools
import json
import zipfile
from dataclasses import fields, is_dataclass, replace
from itertools import islice

import numpy as np
import pytest
from hands import files_of_at_most

import nrsfm_gui.sessions.session_data as session_data
from core import (
    MCP,
    PRESETS,
    CameraModel,
    ExplicitWeights,
    InputError,
    Settings,
    iterate,
    read_sequence,
    simulate,
    write_challenge,
    write_csv,
    write_npz,
)
from nrsfm_gui.model.history import Tick
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.comparison import relative_movement
from nrsfm_gui.sessions.archive import DOCUMENT
from nrsfm_gui.sessions.session_file import SavedRun, SavedSequence, SavedSession, read_session, write_session

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")
LOW_RANK = PRESETS["lowrank"].with_changes(starts=3)
CASES = {
    "bilinear": [(QUICK, None)],
    "stopped while it compares rotations": [(Settings(rank=2), 9)],
    "explicit weights, steered": [
        (QUICK, 4), (QUICK.with_changes(rank=3, penalty=ExplicitWeights((0.0, 0.1, 1 / 3))), None)
    ],
    "concave": [(QUICK.with_changes(penalty=MCP(mu=0.3, theta=0.7)), None)],
    "robust": [(QUICK.with_changes(loss="huber"), None)],
    "matrix method with a tail": [(QUICK.with_changes(method="admm", max_iterations=60), None)],
    "refined": [
        (QUICK.with_changes(objective="depths", isometry=0.2, mode_weights=(1.0, 2.0)), None)
    ],
    "refined, stopped": [(QUICK.with_changes(starts=1, objective="depths"), 50)],
    "refined, changed": [
        (QUICK.with_changes(starts=1, objective="depths"), 50),
        (QUICK.with_changes(objective="depths", eta=0.1), 1),
    ],
    "low rank": [(LOW_RANK, None)],
    "low rank, stopped": [(LOW_RANK, 5)],
    "low rank, steered": [(LOW_RANK, 9), (LOW_RANK.with_changes(rank=5), None)],
}  # fmt: skip
BRIEF = (
    "bilinear",
    "explicit weights, steered",
    "matrix method with a tail",
    "refined, stopped",
    "low rank, stopped",
)


@pytest.fixture(scope="module")
def sequence(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "small.npz"
    write_npz(simulate("balloon", frames=14, points=16, seed=3), path)
    return read_sequence(path)


@functools.cache
def solved(sequence, parts):
    """Return the records and the last iterate of settings one after the other, each for so many iterates."""
    records, start = [], None
    for settings, count in parts:
        for state in islice(iterate(sequence, settings, start=start), count):
            start = state
            records.append(state.record)
    return records, start


def made(sequence, parts):
    dismissed = frozenset({"a remark", "b"})
    run = Run(3, sequence, parts[-1][0], title="mine", note="a\nb", pinned=True, dismissed=dismissed)
    records, start = solved(sequence, tuple(parts))
    run.history.extend(records)
    run.last, run.state = start, RunState.FINISHED if start.status.finished else RunState.RUNNING
    run.history.ticks.append(Tick(2, "eta 0.2", restarts=True, before=QUICK, later=(3, 4)))
    return run


def saved(sequence, *runs, **options):
    of = SavedSequence(sequence, tuple(SavedRun.of(run) for run in runs), None, Settings(rank=3))
    return SavedSession((of,), 0, **options)


def leaves(value, path=""):
    """Yield every array and value that a dataclass is made of, by the way to it."""
    if not is_dataclass(value):
        yield path, value
        return
    for entry in fields(value):
        # The history of a stream, and the energy that its refined shape is a minimum of: a file has neither.
        if entry.name not in ("log", "provenance", "objective", "followed"):
            yield from leaves(getattr(value, entry.name), f"{path}.{entry.name}")


def assert_same(one, two):
    for (path, a), (other, b) in zip(leaves(one), leaves(two), strict=True):
        assert path == other
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype and np.array_equal(a, b), path
            assert not b.flags.writeable, path
        else:
            assert a == b or repr(a) == repr(b), path


@pytest.mark.parametrize(
    "name", [name if name in BRIEF else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_a_run_is_restored_to_the_last_bit_and_continues_as_if_it_was_never_saved(sequence, tmp_path, name):
    run = made(sequence, CASES[name])
    path = write_session(saved(sequence, run), tmp_path / "a.nrsfm")
    read = read_session(path)
    (back,) = read.sequences[0].runs
    assert read.sequences[0].settings == Settings(rank=3)
    again = back.run(read.sequences[0].sequence)
    assert_same(run.last, again.last)
    assert again.history.records == run.history.records
    assert again.history.ticks == run.history.ticks
    assert again.history.phases == run.history.phases
    assert np.array_equal(again.history.values, run.history.values)
    assert (again.title, again.note, again.pinned, again.number) == ("mine", "a\nb", True, 3)
    assert again.state is (RunState.FINISHED if run.last.status.finished else RunState.STOPPED)
    assert again.last.provenance.flatten() == run.last.provenance.flatten()
    best = again.last.best
    assert best.problem.robust == run.last.best.problem.robust
    assert best.problem.loss(best.factors) == run.last.best.problem.loss(run.last.best.factors)
    changed = run.settings.with_changes(eta=0.3, max_iterations=8)
    ours, theirs = (
        [state.record.loss for state in islice(iterate(which.sequence, changed, start=which.last), 12)]
        for which in (run, again)
    )
    assert ours == theirs


@pytest.mark.slow
def test_a_refined_shape_that_is_restored_is_followed_from_where_it_is(sequence, tmp_path):
    run = made(sequence, CASES["refined"])
    path = write_session(saved(sequence, run), tmp_path / "a.nrsfm")
    read = read_session(path).sequences[0]
    again = read.runs[0].run(read.sequence)
    assert again.settings.mode_weights == (1.0, 2.0)
    changed = run.settings.with_changes(isometry=0.5, mode_weights=(1.0,))
    ours, theirs = (list(iterate(each.sequence, changed, start=each.last)) for each in (run, again))
    assert all(state.record.energy is not None for state in theirs)  # nothing is searched
    apart = relative_movement(ours[-1].geometry.points, theirs[-1].geometry.points)
    assert apart < 0.1 * relative_movement(run.last.geometry.points, ours[-1].geometry.points)


def test_the_sequence_is_restored_completely_with_its_origin(sequence, tmp_path, known):
    read = read_session(write_session(saved(sequence), tmp_path / "a.nrsfm")).sequences[0]
    assert_same(sequence, read.sequence)
    assert read.change == ""
    bare = replace(known.sequence, reading={"frame_base": 0, "camera": "perspective"})  # in no file; has NaN
    back = read_session(write_session(saved(bare), tmp_path / "b.nrsfm")).sequences[0].sequence
    assert np.array_equal(back.tracks, bare.tracks, equal_nan=True)
    assert (back.source, back.reading, back.camera) == (None, bare.reading, CameraModel.PERSPECTIVE)


def test_a_file_that_is_gone_or_has_changed_is_reported(sequence, tmp_path):
    data = tmp_path / "tracks.npz"
    write_npz(sequence, data)
    path = write_session(saved(read_sequence(data)), tmp_path / "a.nrsfm")
    write_npz(replace(sequence, name="other"), data)
    assert f"{data} has changed since" in read_session(path).sequences[0].change
    data.unlink()
    read = read_session(path).sequences[0]
    assert f"{data} is not there any more" in read.change
    assert np.array_equal(read.sequence.tracks, sequence.tracks)


def test_a_sequence_that_is_a_folder_is_restored_without_a_sentence_while_that_is_there(tmp_path):
    folder = tmp_path / "clip"
    folder.mkdir()
    for frame in range(4):
        people = [{"pose_keypoints_2d": (np.arange(1.0, 16) + 0.1 * frame).tolist()}]
        (folder / f"clip_{frame:012d}_keypoints.json").write_text(json.dumps({"people": people}))
    sequence = read_sequence(folder, threshold=0.5)
    path = write_session(saved(sequence), tmp_path / "a.nrsfm")
    read = read_session(path).sequences[0]
    assert_same(sequence, read.sequence)
    assert read.change == ""
    folder.rename(tmp_path / "other")
    assert f"{folder} is not there any more" in read_session(path).sequences[0].change


def test_a_file_of_a_name_that_the_system_refuses_is_gone(sequence, tmp_path):
    named = replace(sequence, source=tmp_path / f"{400 * 'a'}.npz")
    read = read_session(write_session(saved(named), tmp_path / "a.nrsfm")).sequences[0]
    assert "is not there any more" in read.change
    assert np.array_equal(read.sequence.tracks, sequence.tracks)


def test_a_large_sequence_is_read_from_its_file_wherever_that_is(sequence, tmp_path, monkeypatch):
    monkeypatch.setattr(session_data, "LARGE", 100)
    data = tmp_path / "there" / "tracks.npz"
    data.parent.mkdir()
    write_npz(sequence, data)
    run = made(read_sequence(data), CASES["bilinear"])
    path = write_session(saved(run.sequence, run), tmp_path / "a.nrsfm")
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read(DOCUMENT))["sequences"][0]["sequence"]["arrays"] is None
    assert_same(run.last, read_session(path).sequences[0].runs[0].iterate)
    data.rename(tmp_path / "tracks.npz")  # beside the session now
    assert read_session(path).sequences[0].sequence.source == tmp_path / "tracks.npz"
    write_npz(replace(sequence, name="other"), data)
    (tmp_path / "tracks.npz").unlink()
    with pytest.raises(
        InputError, match=r"a\.nrsfm: contains no copy of the tracks of .*, which has changed"
    ):
        read_session(path)
    data.unlink()
    with pytest.raises(
        InputError, match=r"which is not there; put the file as it was \(SHA-256 [0-9a-f]{12}"
    ):
        read_session(path)


@pytest.fixture
def challenge(tmp_path):
    """A sequence of the Challenge's layout, and the file that says what is seen of it."""
    folder = write_challenge(tmp_path, "balloon", paths=("circle",), frames=14, points=16, seed=3)
    return read_sequence(folder), folder / "visibility" / "perspective" / "circle.txt"


def see_everything_but(points, visibility):
    mask = np.ones((28, 16), dtype=int)
    mask[:20, :points] = 0
    np.savetxt(visibility, mask, fmt="%d")


def test_what_is_read_with_a_file_and_has_changed_is_reported(challenge, tmp_path):
    sequence, visibility = challenge
    path = write_session(saved(sequence), tmp_path / "a.nrsfm")
    assert read_session(path).sequences[0].change == ""
    see_everything_but(3, visibility)
    read = read_session(path).sequences[0]
    assert read.change.startswith(f"What is read with {sequence.source} has changed since: balloon circle is")
    assert np.array_equal(read.sequence.visible, sequence.visible)
    visibility.write_text("0 1 x")
    assert read_session(path).sequences[0].change.startswith(f"{visibility}: ")


def test_a_large_sequence_is_refused_where_what_is_read_with_its_file_has_changed(
    challenge, tmp_path, monkeypatch
):
    monkeypatch.setattr(session_data, "LARGE", 100)
    sequence, visibility = challenge
    run = made(sequence, CASES["bilinear"])
    path = write_session(saved(sequence, run), tmp_path / "a.nrsfm")
    assert_same(run.last, read_session(path).sequences[0].runs[0].iterate)
    before = visibility.read_bytes()
    see_everything_but(3, visibility)
    with pytest.raises(
        InputError, match=r"a\.nrsfm: contains no copy .*, beside which something .* as it was$"
    ):
        read_session(path)
    visibility.write_bytes(before)
    assert_same(run.last, read_session(path).sequences[0].runs[0].iterate)
    sequence.source.rename(tmp_path / "circle.txt")  # where nothing says what is seen, or by which camera
    with pytest.raises(InputError, match=r"which is not there; put the file as it was \(SHA-256 .*\) there$"):
        read_session(path)


def test_a_table_that_has_not_changed_is_not_read_again(sequence, tmp_path, monkeypatch):
    write_csv(sequence, tmp_path / "tracks.csv")
    table = read_sequence(tmp_path / "tracks.csv")
    path = write_session(saved(table), tmp_path / "a.nrsfm")
    monkeypatch.setattr(session_data, "read_sequence", None)
    assert read_session(path).sequences[0].change == ""


def test_a_file_is_about_as_large_as_what_is_in_it(sequence, tmp_path):
    """Tracks are stored once, whatever number of runs are of them."""
    one = made(sequence, CASES["bilinear"])
    runs = [replace(one, number=number) for number in range(1, 6)]
    few = write_session(saved(sequence, one), tmp_path / "one.nrsfm").stat().st_size
    many = write_session(saved(sequence, *runs), tmp_path / "five.nrsfm").stat().st_size
    assert many < few + 5 * 12_000


def changed(path, edit):
    """Rewrite the document of a session."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts[DOCUMENT])
    edit(document)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | {DOCUMENT: json.dumps(document).encode()}).items():
            archive.writestr(name, content)


def put(*way, value):
    def edit(document):
        for key in way[:-1]:
            document = document[key]
        if value is KeyError:
            del document[way[-1]]
        else:
            document[way[-1]] = value

    return edit


RUN = ("sequences", 0, "runs", 0)
POINT = (*RUN, "iterate", "current")
PROBLEM = (*POINT, "problem")
OWN = ("sequences", 0, "sequence")
BROKEN = {
    "format": (put("format", value="x"), "its format is not 'nrsfm-session'"),
    "version": (put("version", value=2), "is a session of version 2; this program reads version 1"),
    "no settings": (put(*RUN, "settings", value=KeyError), r"runs\[0\] lacks 'settings'"),
    "settings": (put("sequences", 0, "settings", "rank", value=0), "settings: rank is 0; accepted"),
    "settings of another type": (put(*RUN, "settings", "eta", value="x"), "eta is 'x'; accepted is a number"),
    "penalty": (put(*RUN, "settings", "penalty", value=[1]), "settings.penalty is "),
    "sequences": (put("sequences", value=[]), "current is 0; there are 0 sequences"),
    "current": (put("current", value=1), "current is 1; there are 1 sequences"),
    "number": (put(*RUN, "number", value="one"), r"runs\[0\].number is 'one'; accepted is a whole number"),
    "number of none": (put(*RUN, "number", value=0), "numbers from 1"),
    "true for a number": (put(*RUN, "number", value=True), "number is True; accepted"),
    "state": (
        put(*RUN, "state", value="running"),
        "the state is running; accepted is that of a run which is",
    ),
    "title": (put(*RUN, "title", value=3), "title is 3; accepted is a text"),
    "columns": (put(*RUN, "records", "columns", value="nothing"), "lacks arrays/nothing.npy"),
    "phases": (put(*RUN, "records", "phases", value=[[1]]), r"phases\[0\] is \[1\]; accepted is 2 values"),
    "no first phase": (put(*RUN, "records", "phases", value=[]), "lacks the phase of the first record"),
    "tick": (put(*RUN, "ticks", 0, "first", value=10**9), r"changes are at the records \[1000000000, 3, 4\]"),
    "status": (put(*RUN, "iterate", "status", value="odd"), "status is 'odd'; accepted is one of running"),
    "kind": (put(*PROBLEM, "low_rank", value="x"), "low_rank is 'x'; accepted is true or false"),
    "eta": (put(*PROBLEM, "eta", value=7), "current.problem: eta is 7; accepted is 0 < eta <= 1"),
    "spectral": (
        put(*PROBLEM, "spectral", value={"kind": "nn"}),
        "spectral is .*; accepted is a penalty that",
    ),
    "no rotations": (put(*PROBLEM, "rotations", value=None), "a non-rigid problem has rotations"),
    "loss": (put(*POINT, "loss", value="low"), "loss is 'low'; accepted is a number"),
    "lineage": (put(*RUN, "iterate", "provenance", "steps", value=[{}]), r"steps\[0\] lacks 'settings'"),
    "layout": (put("layout", value=[]), r"layout is \[\]; accepted is an object"),
    "reading": (put(*OWN, "reading", value={"odd": 1}), "reading is .* unexpected keyword argument 'odd'"),
    "content": (put(*OWN, "content", value=3), "content is 3; accepted is a text"),
    "tracks": (put(*OWN, "arrays", "tracks", value=KeyError), "tracks is absent"),
    "texts": (put(*OWN, "texts", "tracks", value="x"), None),
    "neither": (put(*OWN, "arrays", value=None), None),
}


@pytest.fixture(scope="module")
def whole(sequence, tmp_path_factory):
    run = made(sequence, CASES["bilinear"])
    return write_session(saved(sequence, run), tmp_path_factory.mktemp("whole") / "a.nrsfm").read_bytes()


def test_each_sequence_keeps_its_parameters(sequence, known, tmp_path):
    left = replace(saved(known.sequence).sequences[0], settings=Settings(eta=0.3))
    other = replace(saved(sequence).sequences[0], settings=Settings(eta=0.2))
    read = read_session(write_session(SavedSession((left, other), 0), tmp_path / "a.nrsfm"))
    assert [each.settings.eta for each in read.sequences] == [0.3, 0.2]
    assert read.sequences[0].settings == Settings(eta=0.3)


@pytest.mark.parametrize(("edit", "sentence"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_in_a_file_is_refused_with_its_name(whole, tmp_path, edit, sentence):
    path = tmp_path / "broken.nrsfm"
    path.write_bytes(whole)
    changed(path, edit)
    if sentence is None:  # what stands twice, or can be read from the file, is no error
        assert read_session(path).sequences[0].runs
        return
    with pytest.raises(InputError, match=sentence) as refusal:
        read_session(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert "\n" not in str(refusal.value)


def test_arrays_of_the_wrong_shape_or_kind_are_refused(whole, tmp_path):
    factors, problem = (*POINT, "factors"), PROBLEM
    for (place, name), other, sentence in (
        (
            (factors, "B"),
            (factors, "s"),
            r"factors: C has shape \(2, 3, 16\); accepted is \(K, 3, M\), here \(3, 3, 16\)",
        ),
        ((problem, "weights"), (factors, "B"), r"problem: weights has shape .*; accepted is \(K\)"),
        ((problem, "rotations"), (factors, "s"), r"problem: rotations has shape .*, here \(14, 3, 3\)"),
    ):
        path = tmp_path / f"{name}.nrsfm"
        path.write_bytes(whole)

        def edit(document, place=place, name=name, other=other):
            found = document
            for key in other[0]:
                found = found[key]
            put(*place, name, value=found[other[1]])(document)

        changed(path, edit)
        with pytest.raises(InputError, match=sentence):
            read_session(path)


def test_a_zip_of_a_newer_kind_is_refused_with_a_sentence(whole, tmp_path):
    path = tmp_path / "new.nrsfm"
    entry = whole.index(b"PK\x01\x02")  # of the directory; the version that is needed stands 6 bytes on
    path.write_bytes(whole[: entry + 6] + b"\xff" + whole[entry + 7 :])
    with pytest.raises(InputError, match=r"new\.nrsfm: is not a session.*zip file version 25.5"):
        read_session(path)


def test_nothing_is_unpickled_and_no_file_unpacks_to_more_than_its_size_allows(whole, tmp_path):
    path = tmp_path / "bad.nrsfm"
    path.write_bytes(whole)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
        parts = {part: archive.read(part) for part in archive.namelist()}
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{"a": 1}], dtype=object))  # written as a pickle, to be refused
    lying = parts[name].replace(b"'shape': (", b"'shape': (9999999999,", 1)
    for content in (pickled.read_bytes(), lying, b"", b"\x93NUMPY\x01\x00"):
        with zipfile.ZipFile(path, "w") as archive:
            for part, kept in (parts | {name: content}).items():
                archive.writestr(part, kept)
        with pytest.raises(InputError, match=r"bad\.nrsfm: the array .* cannot be read"):
            read_session(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DOCUMENT, parts[DOCUMENT])
        with archive.open("arrays/0.npy", "w") as bomb:
            for _ in range(80):
                bomb.write(bytes(1_000_000))
    with pytest.raises(
        InputError, match=r"needs 80 MB of memory; accepted of a file of this size are 6\d MB"
    ):
        read_session(path)


def test_the_old_file_stays_intact_where_no_more_bytes_are_accepted(sequence, tmp_path):
    """The system itself refuses: no file of this process may grow beyond so many bytes."""
    path = write_session(saved(sequence), tmp_path / "a.nrsfm")
    before = path.read_bytes()
    refused = pytest.raises(InputError, match=r"a\.nrsfm cannot be written: File too large")
    with files_of_at_most(len(before) // 2), refused:
        write_session(saved(sequence), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["a.nrsfm"]
