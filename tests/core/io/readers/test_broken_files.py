"""Every kind of broken input gets one sentence: the file, what was found, and what is accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refuses
from scipy.io import savemat
from tracker_files import cells

from core import InputError, list_sequences, read_sequence

F, P = 4, 6
NAN, INF = float("nan"), float("inf")


def numbers(rows=2 * F, columns=P, **changed):
    """Return a matrix, with entries "r3c2" that are changed."""
    matrix = np.random.default_rng(0).normal(size=(rows, columns)) + 20
    for place, value in changed.items():
        row, column = map(int, place[1:].split("c"))
        matrix[row, column] = value
    return matrix


def mask(*hidden):
    matrix = np.ones((2 * F, P))
    for rows in hidden:
        matrix[rows] = 0
    return matrix


# -- an object of the Challenge: files in place of its own and beside them, and what is asked for ------------

TRACKS, VISIBILITY = "sequence/perspective/line.txt", "visibility/perspective/line.txt"
CHALLENGE: dict[str, dict[str, Any]] = {
    r"line\.txt: the file is empty": {TRACKS: "\n \n"},
    r"line\.txt: row 3 has 3 numbers, row 1 has 4; all rows need": {TRACKS: "1 2 3 4\n1 2 3 4\n1 2 3\n"},
    r"line\.txt: row 2 holds 'O\.5', which is not a number": {TRACKS: "1 2 3 4\n1 O.5 3 4\n"},
    r"line\.txt: has 7 rows; accepted is an even number": {TRACKS: numbers(7)},
    r"line\.txt: row 4, column 3 is inf; accepted are finite": {TRACKS: numbers(r3c2=INF)},
    r"line\.txt: row 4, column 3 is nan; .*visibility file has 0": {TRACKS: numbers(r3c2=NAN)},
    r"line\.txt: tracks have 1 frame; at least 2 are needed": {TRACKS: numbers(2)},
    r"line\.txt: tracks have 3 points; at least 4 are needed": {TRACKS: numbers(columns=3)},
    r"line\.txt: frame 2 \(0-based\) has no visible point": {VISIBILITY: mask(4)},
    r"visibility.*line\.txt: is 8 x 5; the tracks in .* are 8 x 6": {VISIBILITY: np.ones((8, 5))},
    r"visibility.*: row 1, column 2 is NaN; accepted are 0 and 1": {VISIBILITY: numbers(r0c1=NAN)},
    r"orthogonal.line\.txt: has \(frames, points\) \(4, 5\); the perspective tracks .* \(4, 6\)": {
        "sequence/orthogonal/line.txt": numbers(columns=5)
    },
    r"gt_frame_2\.txt: is 3 x 5; accepted is 3 x 6 or 6 x 3": {"gt_frame_2.txt": numbers(3, 5)},
    r"gt_frame_5\.txt: is for frame 5, counted from 1; .* has 4 frames": {"gt_frame_5.txt": numbers(3)},
    r"gt_frame_2\.txt: row 1, column 4 is not finite": {"gt_frame_2.txt": numbers(3, r0c3=NAN)},
    r"holds gt_frame_1\.txt, gt_frame_2\.txt; one": {f"gt_frame_{n}.txt": numbers(3) for n in (1, 2)},
    r"edges\.txt: accepted are 2 point indices per row, from 0 to 5": {"edges.txt": np.array([[0, 6]])},
    r"truth.line\.npz: is not an \.npz file: it is no zip archive": {"truth/line.npz": numbers()},
    r"line\.txt: holds perspective tracks; accepted are that": {"camera": "orthogonal"},
    r"thing: has no circle; there are perspective/line": {"path_name": "circle"},
    r"frame base is 2; accepted are 1 and 0": {"frame_base": 2},
}  # fmt: skip


@pytest.mark.parametrize("sentence", CHALLENGE)
def test_a_broken_object_of_the_challenge_is_refused(tmp_path, sentence):
    root, options = tmp_path / "thing", {}
    for name, value in {TRACKS: numbers(), **CHALLENGE[sentence]}.items():
        if "." not in name:
            options[name] = value
            continue
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, str):
            (root / name).write_text(value)
        else:
            np.savetxt(root / name, value)
    refuses(root if "path_name" in options else root / TRACKS, sentence, **options)


# -- variables of MATLAB: what they are, what is asked for ---------------------------------------------------

ORDER = np.arange(P) + 1
VIEWS = {"pointnr": P, "points": cells([numbers(2), numbers(2)]), "index": cells([ORDER, ORDER])}
MOCAP = {"W": numbers(), "S": numbers(3 * F)}
SHAPES = cells([numbers(3), numbers(3)])
STRETCHED = np.tile(np.eye(3)[:2], (F, 1)) * [[1], [1], [2], *[[1]] * 5]
MAT: dict[str, dict[str, Any]] = {
    r"fits no layout that is known; it holds A 3 x 3, note 1 x 1; .*array of tracks.*--layout": {
        "A": np.eye(3), "note": 1.0
    },
    r"fits several layouts \(interleaved of A, interleaved of B\); .*--layout interleaved --tracks A$": {
        "A": numbers(), "B": numbers()
    },
    rf"fits several layouts \(interleaved of {'A' * 21}\.\.\., .*--layout interleaved --tracks {'A' * 30}$": {
        "A" * 30: numbers(), "B" * 30: numbers()
    },
    r"there is no layout 'nonsense'; accepted are .*mocap": {"A": numbers(), "layout": "nonsense"},
    r"layout back needs L_tracks .*; the file holds A 8 x 6": {"A": numbers(), "layout": "back"},
    r"B is absent; there are A 8 x 6": {"A": numbers(), "layout": "interleaved", "tracks": "B"},
    r"fits several layouts \(interleaved of A, interleaved of B\); it holds A 8 x 6, B 8 x 6; name one by": {
        "A": numbers(), "B": numbers(), "layout": "interleaved"
    },
    r"tracks is 'S'; those of layout mocap are W": {**MOCAP, "layout": "mocap", "tracks": "S"},
    r"W\(2, 3\) is nan; accepted are finite numbers": MOCAP | {"W": numbers(r1c2=NAN)},
    r"W2D\(2, 3\) is inf; accepted are finite numbers, and NaN": {"W2D": numbers(r1c2=INF)},
    r"P3_gt is 11 x 6; accepted is 3 rows per frame, and 11 does not": {"P3_gt": numbers(11)},
    r"W has 4 frames of 6 points, S has 3 of 6; both must agree": MOCAP | {"S": numbers(9)},
    r"P3_gt holds complex numbers; accepted are real ones": {"P3_gt": MOCAP["S"] * 1j},
    r"Rs of frame 1 \(0-based\) is not a rotation": MOCAP | {"Rs": STRETCHED},
    r"Rs is 0 x 3 and empty; accepted is at least one frame": MOCAP | {"Rs": np.zeros((0, 3))},
    r"P\{2\} has columns 1 to 3 that are singular; accepted are cameras K \[R t\]": {
        "u": VIEWS, "P": cells([np.eye(3, 4), np.ones((3, 4))])
    },
    r"list must hold two point numbers per row, from 1 to 6": MOCAP | {"list": np.array([[0, 1]])},
    r"M has 4 frames of 6 points, W has 3 of 6; both must agree": {"M": numbers(), "W": np.ones((6, P))},
    r"M is NaN at frame 2, point 3, which W marks as seen; .*only": {"M": numbers(r3c2=NAN), "W": mask()},
    r"frame 1 \(0-based\) has no visible point": {"X": numbers(), "W": mask(slice(2, None))},
    r"cell 2 of Pgth is 3 x 5; accepted is 3 x points, all of one size": {
        "Pgth": cells([numbers(3), numbers(3, 5)]), "K": np.eye(3)
    },
    r"Pgth must be projected .*no K in the file and no KK in mdh_camcalib\.mat": {"Pgth": SHAPES},
    r"Pgth has depth -20.* at frame 1, point 1; accepted are points in front": {
        "Pgth": cells([np.full((3, 6), -20.0), numbers(3)]), "K": np.eye(3)
    },
    r"K is .*; accepted is \[\[fx, skew, cx\], \[0, fy, cy\], \[0, 0, 1\]\] with zeros there": {
        "M": numbers(), "W": mask(), "K": np.ones((3, 3))
    },
    r"u.pointnr is -1; accepted is the number of the points": {"u": VIEWS | {"pointnr": -1.0}},
    r"u.pointnr is 2 numbers; accepted is the number of the points": {"u": VIEWS | {"pointnr": np.ones(2)}},
    r"view 2 of u: index runs to 7; accepted is 1 to": {"u": VIEWS | {"index": cells([ORDER, 1 + ORDER])}},
}  # fmt: skip


@pytest.mark.parametrize("sentence", MAT)
def test_broken_variables_are_refused(tmp_path, sentence):
    options = {name: value for name, value in MAT[sentence].items() if name in ("layout", "tracks")}
    savemat(tmp_path / "data.mat", {name: MAT[sentence][name] for name in MAT[sentence].keys() - options})
    refuses(tmp_path / "data.mat", rf"data\.mat: {sentence}", **options)


# -- files as they are ---------------------------------------------------------------------------------------

XY = "frame,point,x,y"
FILES: dict[str, tuple[str, str | bytes]] = {
    r"data\.mat: cannot be read as MATLAB variables": ("data.mat", b"MATLAB 5.0 MAT-file" + bytes(300)),
    r"data\.npz: cannot be read as an \.npz file \(": ("data.npz", b"PK\x03\x04 and no more"),
    r"the columns are time, x, y; .* frame, point, x and y: name them by --col": ("a.csv", "time,x,y\n0,1,2"),
    r"a\.csv: there is no line after the header": ("a.csv", XY),
    r"a\.csv: line 3 has 3 fields; the header has 4": ("a.csv", f"{XY}\n0,0,1,2\n0,1,2"),
    r"a\.csv: line 2 is '0,0,one,2'; accepted are numbers": ("a.csv", f"{XY}\n0,0,one,2"),
    r"a\.csv: line 4 is a second one for frame 0, point 0": ("a.csv", f"{XY}\n0,0,1,2\n0,1,2,3\n0,0,1,2"),
    r"a\.csv: line 2 has frame 0\.5; accepted is a whole number from 0": ("a.csv", f"{XY}\n0.5,0,1,2"),
    r"line 3 has point 1e\+19; accepted is a whole number from 0": ("a.csv", f"{XY}\n0,0,1,2\n0,1e19,1,2"),
    r"line 2 has visible 1 with x, y = nan, 2; accepted is 1 with two": ("a.csv", f"{XY},visible\n0,0,,2,1"),
    r"a\.csv: line 2 holds an infinity": ("a.csv", f"{XY}\n0,0,inf,2"),
    r"a\.csv: has a name of 5000 characters inside; accepted are": ("a.csv", f"{XY},{5000 * 'c'}\n0,0,1,2,3"),
    r"photo\.png: is none of the formats that can be read: \.npz, \.npy": ("photo.png", b"\x89PNG\r\n\x1a\n"),
    r"clip\.mp4: is a video; `nrsfm track`, or File > Track a video": ("clip.mp4", b"\0\0\0\x1cftypisom"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", FILES)
def test_a_broken_file_is_refused(tmp_path, sentence):
    name, content = FILES[sentence]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    refuses(tmp_path / name, sentence)


OWN = {
    "format is 'nrsfm-sequence 9'; accepted is 'nrsfm-sequence 1'": {"format": "nrsfm-sequence 9"},
    "tracks is absent; a file of format 'nrsfm-sequence 1' needs it": {"format": "nrsfm-sequence 1"},
    "is a reconstruction.*nrsfm evaluate": dict.fromkeys(("tracks", "B", "C", "weights"), np.ones((3, 1))),
}


@pytest.mark.parametrize("sentence", OWN)
def test_a_broken_file_of_this_program_is_refused(tmp_path, sentence):
    np.savez(tmp_path / "data.npz", **OWN[sentence] | {"camera": "orthogonal", "name": "x"})
    refuses(tmp_path / "data.npz", sentence)


def test_what_is_absent_or_holds_nothing_is_refused(tmp_path):
    for read in (read_sequence, list_sequences):
        for path, sentence in (
            (tmp_path / "absent", "no such file"),
            (tmp_path, "holds no sequence.*accepted is a folder of the NRSfM Challenge"),
            ("sample:kraken", "there is no sample 'kraken'; there are articulated/circle"),
        ):
            with pytest.raises(InputError, match=sentence):
                read(path)


def test_a_folder_of_several_objects_is_refused_by_name(tmp_path):
    for name in ("thing", "other"):
        file = tmp_path / name / "sequence" / "perspective" / "line.txt"
        file.parent.mkdir(parents=True)
        np.savetxt(file, numbers())
    refuses(tmp_path, r"holds 2 objects \(other, thing\); accepted is the folder of one")
