"""A session as a file: everything comes back, to the last bit; nothing that is wrong in it gets through."""

import functools
import io
import json
import zipfile
from dataclasses import fields, is_dataclass, replace
from itertools import islice

import numpy as np
import pytest

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
    write_npz,
)
from core.depth import DepthEnd
from core.io.readers import Allowance
from core.reconstruction import RECORDS
from nrsfm_gui.model.history import Tick
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import OpenSequence
from nrsfm_gui.scene.comparison import relative_movement
from nrsfm_gui.sessions import session_file
from nrsfm_gui.sessions.archive import DOCUMENT, read_archive
from nrsfm_gui.sessions.session_file import (
    SavedSession,
    StoredSequence,
    read_session,
    sequence_of,
    write_session,
)

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
    "low rank, stopped": [(LOW_RANK.with_changes(rank=3, starts=1), 5)],
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
    opened = OpenSequence(sequence, Settings(rank=3), [run.as_stored() for run in runs])
    return SavedSession((opened,), **options)


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
    (again,) = read.sequences[0].runs
    assert read.sequences[0].settings == Settings(rank=3)
    assert_same(run.last, again.last)
    assert again.history.records == run.history.records
    assert again.history.ticks == run.history.ticks
    assert again.history.phases == run.history.phases
    assert np.array_equal(again.history.values, run.history.values)
    assert (again.title, again.note, again.pinned, again.number) == ("mine", "a\nb", True, 3)
    assert again.state is (RunState.FINISHED if run.last.status.finished else RunState.STOPPED)
    assert again.last.provenance == run.last.provenance
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
    (again,) = read.runs
    assert again.settings.mode_weights == (1.0, 2.0)
    changed = run.settings.with_changes(isometry=0.5, mode_weights=(1.0,))
    ours, theirs = (list(iterate(each.sequence, changed, start=each.last)) for each in (run, again))
    assert all(state.record.energy is not None for state in theirs)  # nothing is searched
    apart = relative_movement(ours[-1].geometry.points, theirs[-1].geometry.points)
    assert apart < 0.1 * relative_movement(run.last.geometry.points, ours[-1].geometry.points)


def test_further_ends_keep_the_weight_of_the_lengths_that_they_were_found_with(sequence, tmp_path):
    run = made(sequence, CASES["refined, stopped"])
    shown = run.last.depth
    ends = tuple(DepthEnd(name, shown.best, 1.0, 1.0) for name in ("first", "second"))
    run.last = replace(run.last, depth=replace(shown, ends=ends, length_share=0.2))
    path = write_session(saved(sequence, run), tmp_path / "a.nrsfm")
    *_, end = read_session(path).sequences[0].runs[0].last.alternatives.values()
    assert end.geometry.refinement["length_share"] == 0.2


def test_the_sequence_is_restored_completely_with_its_origin(sequence, tmp_path, known):
    read = read_session(write_session(saved(sequence), tmp_path / "a.nrsfm")).sequences[0]
    assert_same(sequence, read.sequence)
    assert read.change == ""
    reading = {"frame_base": 0, "camera": "perspective"}
    bare = replace(known.sequence, reading=reading, frame_rate=25.0)  # in no file; has NaN
    back = read_session(write_session(saved(bare), tmp_path / "b.nrsfm")).sequences[0].sequence
    assert np.array_equal(back.tracks, bare.tracks, equal_nan=True)
    assert (back.source, back.reading, back.frame_rate) == (None, reading, 25.0)
    assert back.camera is CameraModel.PERSPECTIVE


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


def test_a_large_sequence_is_read_from_its_file_wherever_that_is(sequence, tmp_path, monkeypatch):
    monkeypatch.setattr(session_file, "LARGE", 100)
    data = tmp_path / "there" / "tracks.npz"
    data.parent.mkdir()
    write_npz(sequence, data)
    run = made(read_sequence(data), CASES["bilinear"])
    path = write_session(saved(run.sequence, run), tmp_path / "a.nrsfm")
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read(DOCUMENT))["sequences"][0]["sequence"]["arrays"] is None
    assert_same(run.last, read_session(path).sequences[0].runs[0].last)
    data.rename(tmp_path / "tracks.npz")  # beside the session now
    assert read_session(path).sequences[0].sequence.source == tmp_path / "tracks.npz"
    write_npz(replace(sequence, name="other"), data)
    (tmp_path / "tracks.npz").unlink()
    gone = r"a\.nrsfm: contains no copy of the tracks of .*, which is gone or has changed; put"
    with pytest.raises(InputError, match=gone):
        read_session(path)
    data.unlink()
    with pytest.raises(InputError, match=gone + r" .* \(SHA-256 [0-9a-f]{12}…\) there or in the folder"):
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
    assert read.change.startswith(f"{sequence.source} has changed since, or what is read with it: balloon")
    assert np.array_equal(read.sequence.visible, sequence.visible)
    visibility.write_text("0 1 x")
    assert read_session(path).sequences[0].change.startswith(f"{visibility}: ")


def test_a_large_sequence_is_refused_where_what_is_read_with_its_file_has_changed(
    challenge, tmp_path, monkeypatch
):
    monkeypatch.setattr(session_file, "LARGE", 100)
    sequence, visibility = challenge
    run = made(sequence, CASES["bilinear"])
    path = write_session(saved(sequence, run), tmp_path / "a.nrsfm")
    assert_same(run.last, read_session(path).sequences[0].runs[0].last)
    before = visibility.read_bytes()
    see_everything_but(3, visibility)
    with pytest.raises(InputError, match=r"a\.nrsfm: contains no copy .* changed; .*\) there$"):
        read_session(path)
    visibility.write_bytes(before)
    assert_same(run.last, read_session(path).sequences[0].runs[0].last)
    sequence.source.rename(tmp_path / "circle.txt")  # where nothing says what is seen, or by which camera
    with pytest.raises(InputError, match=r"which is gone .*\(SHA-256 .*\) there$"):
        read_session(path)


def test_a_file_is_about_as_large_as_what_is_in_it(sequence, tmp_path):
    """Tracks are stored once, whatever number of runs are of them."""
    one = made(sequence, CASES["bilinear"])
    runs = [replace(one, number=number) for number in range(1, 6)]
    few = write_session(saved(sequence, one), tmp_path / "one.nrsfm").stat().st_size
    many = write_session(saved(sequence, *runs), tmp_path / "five.nrsfm").stat().st_size
    assert many < few + 5 * 12_000


def parts_of(path):
    """Return the members of an archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(path, parts):
    """Write an archive, and return its path."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def changed(path, *edits):
    """Change the document of a session, and return its path."""
    parts = parts_of(path)
    document = json.loads(parts[DOCUMENT])
    for edit in edits:
        edit(document)
    return archive_of(path, parts | {DOCUMENT: json.dumps(document).encode()})


def put(*way, value):
    """Return an edit of a document: another value at one place, KeyError for none."""

    def edit(document):
        for key in way[:-1]:
            document = document[key]
        if value is KeyError:
            del document[way[-1]]
        else:
            document[way[-1]] = value

    return edit


RUN = ("sequences", 0, "runs", 0)
POINT = (*RUN, "last", "current")
PROBLEM = (*POINT, "problem")
OWN = ("sequences", 0, "sequence")
BROKEN = {
    "format": (put("format", value="x"), "is not a session: its format is not 'nrsfm-session'"),
    "version": (put("version", value=1), "is a session of version 1; this program reads version 2"),
    "no settings": (put(*RUN, "settings", value=KeyError), r"runs\[0\] lacks 'settings'"),
    "settings": (put("sequences", 0, "settings", "rank", value=0), "settings: rank is 0; accepted"),
    "sequences": (put("sequences", value=[]), "there is no sequence"),
    "number of none": (put(*RUN, "number", value=0), "numbers from 1"),
    "state": (put(*RUN, "state", value="running"), "the state is running; accepted is that of a run which"),
    "columns": (put(*RUN, "history", "columns", value="nothing"), "columns is 'nothing'; accepted is the"),
    "no first phase": (put(*RUN, "history", "phases", value=[]), "lacks the phase of the first record"),
    "tick": (
        put(*RUN, "history", "ticks", 0, "first", value=10**9),
        r"changes are at the records \[1000000000, 3, 4\]",
    ),
    "eta": (put(*PROBLEM, "eta", value=7), "current.problem: eta is 7; accepted is 0 < eta <= 1"),
    "spectral": (put(*PROBLEM, "spectral", value={"kind": "nn"}), "spectral is .*; accepted is a penalty"),
    "no rotations": (
        put(*PROBLEM, "rotations", value=None),
        "rotations is None; accepted is the name of an array",
    ),
    "lineage": (put(*RUN, "last", "provenance", "steps", value=[{}]), r"steps\[0\] lacks 'settings'"),
    "no lineage": (put(*RUN, "last", "provenance", "steps", value=[]), "steps is empty; accepted is"),
    "reading": (put(*OWN, "reading", value={"odd": 1}), "reading is .* unexpected keyword argument 'odd'"),
    "tracks": (put(*OWN, "arrays", "tracks", value=KeyError), "tracks is absent"),
}


@pytest.fixture(scope="module")
def content(sequence, tmp_path_factory):
    run = made(sequence, CASES["bilinear"])
    return write_session(saved(sequence, run), tmp_path_factory.mktemp("whole") / "a.nrsfm").read_bytes()


@pytest.fixture
def whole(content, tmp_path):
    """The path of a session of one run, which a test may damage."""
    path = tmp_path / "a.nrsfm"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("edit", "sentence"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_in_a_file_is_refused_with_its_name(whole, edit, sentence):
    changed(whole, edit)
    with pytest.raises(InputError, match=sentence) as refusal:
        read_session(whole)
    assert str(refusal.value).startswith(f"{whole}: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("way", "edit", "sentence"),
    [
        ((*POINT, "factors", "B"), lambda B: B[:, :1], r"factors: C has shape \(2, 3, 16\); accepted is"),
        ((*PROBLEM, "weights"), lambda a: a[None], r"problem: weights has shape .*; accepted is \(K\)"),
        ((*RUN, "history", "columns"), lambda c: np.nan * c, "counts iterations or seconds that are no"),
        ((*PROBLEM, "weights"), lambda a: a + np.inf, "holds a value that is not finite"),
    ],
)  # fmt: skip
def test_arrays_of_the_wrong_shape_or_values_are_refused(whole, way, edit, sentence):
    parts = parts_of(whole)
    name = json.loads(parts[DOCUMENT])
    for key in way:
        name = name[key]
    array = edit(np.load(io.BytesIO(parts[f"arrays/{name}.npy"])))
    np.save(stream := io.BytesIO(), array)
    archive_of(whole, parts | {f"arrays/{name}.npy": stream.getvalue()})
    with pytest.raises(InputError, match=sentence):
        read_session(whole)


def test_nothing_is_unpickled_and_no_file_unpacks_to_more_than_its_size_allows(whole):
    parts = parts_of(whole)
    name = next(name for name in parts if name.endswith(".npy"))
    np.save(pickled := io.BytesIO(), np.array([{"a": 1}], dtype=object))  # as a pickle, to be refused
    lying = parts[name].replace(b"'shape': (", b"'shape': (9999999999,", 1)
    for content in (pickled.getvalue(), lying):
        archive_of(whole, parts | {name: content})
        with pytest.raises(InputError, match=r"a\.nrsfm: is not a session, or only a part"):
            read_session(whole)
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(DOCUMENT, parts[DOCUMENT])
        archive.writestr("arrays/0.npy", bytes(80_000_000))
    with pytest.raises(
        InputError, match=r"needs 80 MB of memory; accepted of a file of this size are \d\d MB"
    ):
        read_session(whole)


def test_arrays_of_many_sequences_are_counted_for_each(whole):
    document, arrays = read_archive(whole)
    stored = RECORDS.read(StoredSequence, document["sequences"][0]["sequence"], "")
    size = sum(arrays[name].nbytes for name in stored.arrays.values())
    allowance = Allowance(0)
    allowance.use(allowance.left - 2 * size + 1)
    sequence_of(stored, arrays, whole, allowance)
    with pytest.raises(InputError, match=r"a\.nrsfm: needs 64 MB of memory"):
        sequence_of(stored, arrays, whole, allowance)


def test_runs_of_a_sequence_share_the_tracks_that_they_pose(whole):
    def edit(document):
        runs = document["sequences"][0]["runs"]
        runs.append(runs[0] | {"number": runs[0]["number"] + 1})

    session = read_session(changed(whole, edit))
    first, second = (run.last.current.problem.tracks for run in session.sequences[0].runs)
    assert np.shares_memory(first, second) and not first.flags.writeable


def test_texts_of_a_session_are_escaped_where_they_cannot_be_printed(whole):
    changed(whole, *(put(*RUN, name, value="a\x1b[31m\u202e\nb") for name in ("title", "note")))
    (run,) = read_session(whole).sequences[0].runs
    assert run.title == run.note == "a\\x1b[31m\\u202e\nb"


def test_files_on_another_computer_that_a_session_names_are_not_looked_at(whole):
    place = "//elsewhere/share/a.mp4"
    changed(whole, put(*OWN, "source", value=place), put(*OWN, "texts", "video", value=place))
    (saved,) = read_session(whole).sequences
    assert (saved.sequence.source, saved.sequence.video) == (None, None)
    assert saved.change.startswith(f"{place} is on another computer or leads out of the folder")
    changed(whole, put(*OWN, "arrays", value=None), put(*OWN, "digest", value="0" * 64))
    with pytest.raises(InputError, match=f"no copy of the tracks of {place}, which is on another"):
        read_session(whole)
