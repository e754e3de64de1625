"""The fuzzing harness finds defects that are planted, and damages every format."""

import io
import json
import pickle
from random import Random

import gaps
import h5py
import numpy as np
import planted
import pytest
from fuzz import Report, planned
from mutation import Decoded, decoded, mutated, mutated_array, npy_of
from readers import READERS
from scipy.io import savemat
from workers import READ, REFUSED, Case, Outcome, Workers

import core

DEFECTS = {
    "raises": "exception KeyError",
    "dies": "crash SIGSEGV",
    "leaves": "crash with exit code 3",
    "hangs": "hang",
    "takes memory": "memory",
    "asks for all memory": "MemoryError as a sentence",
    "speaks long": "long sentence",
    "shows bytes": "unprintable",
    "warns": "warning RuntimeWarning",
}
WITHOUT_PLACE = ("leaves", "takes memory", "shows bytes")


@pytest.fixture
def workers():
    """Workers that have little time and memory."""
    with Workers(cpu_seconds=0.3, memory_mb=50) as workers:
        yield workers


def case(defect, tmp_path, content):
    path = tmp_path / "a.txt"
    return Case(planted.read, path, path, content, (defect,))


def test_planted_defects_are_found(workers, tmp_path):
    lines = {at for *_, at in planted.read.__code__.co_lines()}
    for defect, kind in DEFECTS.items():
        outcome = workers.run(case(defect, tmp_path, b"one line\nand !?\nanother"))
        assert outcome.is_finding and outcome.kind == kind
        if defect not in WITHOUT_PLACE:
            file, line = outcome.place.split(":")
            assert file == "tests/fuzz/planted.py" and int(line) in lines
        assert workers.run(case(defect, tmp_path, b"nothing")).kind == READ  # also after a process has died


def test_a_sentence_is_no_finding(workers, tmp_path):
    outcome = workers.run(case("sound", tmp_path, b"a!?"))
    assert outcome.kind == REFUSED and not outcome.is_finding
    assert outcome.sentence == "/a.txt: holds a mark; accepted is none"


def test_one_of_many_files_of_a_folder_is_damaged(workers, tmp_path):
    folder = tmp_path / "clip"
    folder.mkdir()
    for name in "ab":
        (folder / name).write_text(name)
    outcome = workers.run(Case(planted.names, folder, folder / "b", b"!?"))
    assert outcome.kind == "exception KeyError" and "'a=a b=!?'" in outcome.sentence
    assert (folder / "b").read_text() == "b"


def test_findings_of_one_cause_are_one_file_and_all_inputs_are_counted(workers, tmp_path):
    report = Report()
    for number in range(3):
        of = case("raises", tmp_path, b"%d!?" % number)
        report.add("mesh", f"--input {number}", of, workers.run(of))
    report.add("mesh", "--input 3", of, Outcome(READ, seconds=1.5))
    (finding,) = report.findings.values()
    path = finding.write(tmp_path)
    told = path.with_name(f"{path.name}.txt").read_text()
    assert path.read_bytes() == b"0!?" and "inputs: 3, the first is --input 0" in told
    assert report.table().splitlines()[1].split()[:5] == ["mesh", "4", "1", "0", "3"]


def test_an_input_follows_from_its_numbers_and_every_reader_has_its_share():
    plan = list(planned(1000, list(READERS)))
    assert len(plan) == pytest.approx(1000, abs=len(READERS)) and len(set(plan)) == len(plan)
    assert {name for name, _ in plan[:200]} == set(READERS)  # a run that is cut off has tried all
    assert mutated(b"1 2 3\n" * 9, Random(7)) == mutated(b"1 2 3\n" * 9, Random(7))


def of_every_format():
    arrays = {"tracks": np.ones((4, 3)), "meta": np.array(json.dumps({"rank": 2, "steps": [{"eta": 0.1}]}))}
    archive, mat4, mat5, hdf5 = io.BytesIO(), io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(archive, **arrays)
    structs = np.array([[(np.eye(2),), (np.ones(3),)]], dtype=[("p", object)])
    savemat(mat5, {"W": np.eye(3), "c": {"a": np.ones(2)}, "p": structs}, do_compression=True)
    savemat(mat4, {"W": np.eye(3)}, format="4")
    with h5py.File(hdf5, "w") as file:
        file["tracks"] = np.ones((4, 3))
    return (
        archive.getvalue(),
        npy_of(np.ones((4, 3))),
        hdf5.getvalue(),
        mat5.getvalue(),
        mat4.getvalue(),
        pickle.dumps({"a": [1, 2.5, "b"]}, protocol=4),
        b'{"a": [1, 2, {"b": 0.5}]}',
        b"frame,point,x,y\n0,0,1,2\n0,1,3,4\n",
    )


def test_every_format_is_known_and_damaged_in_many_ways():
    for content in of_every_format():
        found = decoded(content)
        again = decoded(found.encoded())
        assert again.format is found.format
        np.testing.assert_equal(plain(again), plain(found))
        damaged = {mutated(content, Random(seed), content) for seed in range(60)}
        assert len(damaged) > 40
        assert sum(isinstance(decoded(each), Decoded) for each in damaged) > 20


def plain(value):
    """Return values without how they were encoded."""
    value = value.value if isinstance(value, Decoded) else value
    return {name: plain(each) for name, each in value.items()} if isinstance(value, dict) else value


def test_settings_inside_archives_are_changed_one_by_one():
    archive, changed = of_every_format()[0], set()
    for seed in range(100):
        parts = plain(decoded(mutated(archive, Random(seed))))
        changed.add(repr(parts.get("meta.npy")) if isinstance(parts, dict) else "")
    assert len(changed) > 15 and any("'eta'" in text for text in changed)


def test_an_array_is_damaged_into_other_types_and_shapes():
    with np.errstate(all="ignore"):
        arrays = [mutated_array(np.ones((4, 3)), Random(seed)) for seed in range(100)]
    assert len({array.shape for array in arrays}) > 8 and len({array.dtype for array in arrays}) > 4
    assert any(np.isnan(array).any() for array in arrays if array.dtype.kind == "f")


ARRAYS = [*"sequence evaluate export start mesh truth rotations intrinsics".split(), "opened result"]
READ_AS = {".npz": ARRAYS, ".nrsfm": ["session"], ".ini": ["settings"], ".mp4": ["video"]}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["hostile", "others"])
def test_files_that_once_broke_the_program_and_those_of_others_are_read_or_refused(folder, data):
    if not (data / folder).is_dir():
        pytest.skip(f"the folder {folder} is not there")
    with Workers() as workers:
        for path in sorted((data / folder).iterdir()):
            changed = path if path.is_file() else next(each for each in path.rglob("*") if each.is_file())
            for reader in READ_AS.get(path.suffix, ["sequence"]):
                outcome = workers.run(Case(READERS[reader].read, path, changed, changed.read_bytes()))
                assert not outcome.is_finding, f"{path.name} as {reader}: {outcome}"


# 8 observations, whose energy is no number; a direction that single precision does not hold.
@pytest.mark.slow
@pytest.mark.parametrize("case", [941, 1902])
def test_gaps_that_once_broke_a_run_are_reconstructed(case):
    assert gaps.run(case) in core.PRESETS
