"""What is understood of a file before it is opened, and the options that read it the same way again."""

import shlex

import numpy as np
import pytest
from tracker_files import NTXY, SEEN, TRACKS, F, P
from tracker_files import TNXY as XY

from core import InputError, Settings, inspect_file, read_sequence, simulate, write_csv, write_npz
from core.cli import main, parser, reading_from
from core.reconstruction import command_for, python_for


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_every_array_is_listed_with_what_it_is_taken_for(tmp_path):
    file = save(tmp_path / "a.npz", tracks=XY.astype(np.float32), visibility=SEEN, fps=25.0)
    found = inspect_file(file)
    assert {entry.name: (entry.size, entry.dtype, entry.role) for entry in found.arrays} == {
        "tracks": ("12 x 9 x 2", "float32", "tracks"),
        "visibility": ("12 x 9", "bool", "visibility"),
        "fps": ("1 number", "float64", "not read"),
    }
    assert not found.problem
    np.testing.assert_array_equal(found.sequence.visible, read_sequence(file).visible)


def test_the_arrays_are_listed_where_the_tracks_are_not_found(tmp_path):
    found = inspect_file(save(tmp_path / "a.npz", a=np.eye(3), b=np.zeros(4)))
    assert [entry.name for entry in found.arrays] == ["a", "b"]
    assert found.sequence is None and not found.clear
    with pytest.raises(InputError) as refused:
        read_sequence(tmp_path / "a.npz")
    assert found.problem == str(refused.value)


def test_a_sequence_in_a_format_of_the_program_is_clear_and_an_option_that_is_none_a_problem(tmp_path):
    sequence = simulate("paper", frames=4, points=20)
    write_npz(sequence, tmp_path / "a.npz")
    for path in (tmp_path / "a.npz", "sample:balloon/circle"):
        found = inspect_file(path)
        assert found.clear
        assert [entry.role for entry in found.arrays][:2] == ["tracks", "visibility"]
    for name, value in (("order", "txy"), ("size", "big"), ("camera", "fisheye"), ("threshold", "x")):
        problem = inspect_file(tmp_path / "a.npz", **{name: value}).problem
        assert name in problem and repr(value) in problem
    write_csv(sequence, tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"a\.csv: order is 'ntxy'; a \.csv file accepts only "):
        read_sequence(tmp_path / "a.csv", order="ntxy")


def options(tmp_path):
    score = np.where(SEEN, 0.9, 0.2).T
    file = save(tmp_path / "a.npz", a=TRACKS[:, ::-1].transpose(2, 0, 1), b=score, c=XY)
    reading = {"tracks": "a", "visible": "b", "threshold": 0.5, "order": "ntxy", "xy": "yx"}
    return file, reading | {"size": "640x480", "camera": "perspective"}


def test_the_options_choose_arrays_axes_and_coordinates(tmp_path):
    file, reading = options(tmp_path)
    read = read_sequence(file, **reading)
    np.testing.assert_array_equal(read.tracks, TRACKS)
    np.testing.assert_array_equal(read.visible, SEEN)
    assert read.image_size == (640, 480) and read.reading == reading
    other = read_sequence(file, tracks="c", visible="~b", threshold=0.95)
    np.testing.assert_array_equal(other.tracks, TRACKS)
    assert other.visible.all()  # all scores of what is hidden are below


def test_the_command_and_the_program_of_a_result_read_the_file_the_same_way(tmp_path):
    file, reading = options(tmp_path)
    sequence = read_sequence(file, **reading)
    words = shlex.split(command_for(sequence, Settings()))
    assert reading_from(parser().parse_args(words[1:])) == reading
    program = python_for(sequence, Settings())
    for name, value in reading.items():
        assert f"{name}={value!r}" in program or f"{name}=CameraModel({value!r})" in program


BLOCKED = TRACKS.transpose(1, 0, 2).reshape(2 * F, P)
BY_POINT = TRACKS.transpose(1, 2, 0)
SHAPES_OF_BACK = np.random.default_rng(1).normal(size=(3, P, F))
WRITTEN = {
    "blocked.txt": (lambda file: np.savetxt(file, BLOCKED), {"layout": "blocked"}),
    "blocked.npy": (lambda file: np.save(file, BLOCKED), {"layout": "blocked"}),
    "points.txt": (lambda f: np.savetxt(f, BY_POINT.reshape(2 * P, F)), {"layout": "points-blocked"}),
    "back.npz": (lambda f: save(f, L_tracks=BY_POINT, track3D=SHAPES_OF_BACK), {}),
    "tap.npz": (lambda file: save(file, points=NTXY / 900, occluded=~SEEN.T), {"size": "900x900"}),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_options_that_info_prints_read_the_file_the_same_way(tmp_path, capsys, name):
    write, given = WRITTEN[name]
    write(tmp_path / name)
    words = [word for option, value in given.items() for word in (f"--{option}", value)]
    assert main(["info", str(tmp_path / name), *words]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "same by options" in line]
    _, _, printed = line.partition(": ")
    args = parser().parse_args(["info", str(tmp_path / name), *shlex.split(printed)])
    same = read_sequence(tmp_path / name, **reading_from(args))
    np.testing.assert_array_equal(same.tracks, read_sequence(tmp_path / name, **given).tracks)
    assert not name.startswith("blocked") or "--layout blocked" in printed


def test_an_order_is_refused_where_the_layout_has_only_one(tmp_path):
    np.savetxt(tmp_path / "a.txt", BLOCKED)
    for given in ({}, {"layout": "blocked"}):
        with pytest.raises(InputError, match=r"layout (interleaved|blocked) has only one and accepts none"):
            read_sequence(tmp_path / "a.txt", order="ntxy", **given)


def test_sentences_stay_short_however_many_arrays_a_file_has(tmp_path, sentences):
    names = [f"a_name_that_is_much_longer_than_it_needs_to_be_{number}" for number in range(60)]
    for arrays in (
        {name: np.zeros(3) for name in names},
        dict.fromkeys(names, TRACKS),
        {"tracks": XY} | dict.fromkeys(names, SEEN),
        {"tracks": XY, "visibility": SEEN[1:]} | dict.fromkeys(names, SEEN),
    ):
        save(tmp_path / "a.npz", **arrays)
        for options in ({}, *({name: 200 * "b"} for name in ("tracks", "layout", "visible"))):
            with pytest.raises(InputError):
                read_sequence(tmp_path / "a.npz", **options)
    assert len(sentences) >= 16  # what the fixture counts
