"""Every kind of broken input gets one sentence: the file, what was found, and what is accepted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.io import savemat

from core import CameraModel, InputError, list_sequences, read_sequence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

F, P = 4, 6
Broken = tuple["Path", dict[str, Any]]
CASES: dict[str, tuple[Callable[[Path], Any], str]] = {}


def case(sentence: str) -> Callable[[Callable[[Path], Any]], None]:
    """Enter a function that breaks something and returns what to read, with the words of its refusal."""

    def enter(breaks: Callable[[Path], Any]) -> None:
        CASES[breaks.__name__] = (breaks, sentence)

    return enter


def numbers(rows: int = 2 * F, columns: int = P) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, columns)) + 20


def challenge(folder: Path, tracks: np.ndarray | str) -> Path:
    """Write an object with one perspective path and return the sequence file."""
    file = folder / "thing" / "sequence" / "perspective" / "line.txt"
    file.parent.mkdir(parents=True)
    if isinstance(tracks, str):
        file.write_text(tracks)
    else:
        np.savetxt(file, tracks)
    return file


def beside(file: Path, name: str, matrix: np.ndarray) -> Path:
    """Write a matrix beside the `sequence` folder of a Challenge file."""
    other = file.parent.parent.parent / name
    other.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(other, matrix)
    return other


def mat(folder: Path, **variables: Any) -> Path:
    savemat(folder / "data.mat", variables)
    return folder / "data.mat"


def csv(folder: Path, *lines: str) -> Path:
    (folder / "data.csv").write_text("\n".join(lines))
    return folder / "data.csv"


def cells(*items: np.ndarray) -> np.ndarray:
    box = np.empty((1, len(items)), dtype=object)
    for index, item in enumerate(items):
        box[0, index] = item
    return box


@case(r"absent\.mat: there is no such file")
def absent_file(folder: Path) -> Path:
    return folder / "absent.mat"


@case(r"holds no sequence.*accepted is a folder of the NRSfM Challenge")
def empty_folder(folder: Path) -> Path:
    return folder


@case(r"line\.txt: the file is empty")
def empty_text(folder: Path) -> Path:
    return challenge(folder, "\n \n")


@case(r"line\.txt: row 3 has 5 numbers, row 1 has 6; all rows need the same number")
def ragged_row(folder: Path) -> Path:
    rows = [" ".join(["1.5"] * (5 if row == 2 else 6)) for row in range(8)]
    return challenge(folder, "\n".join(rows))


@case(r"line\.txt: row 2 holds 'O\.5', which is not a number")
def text_among_numbers(folder: Path) -> Path:
    return challenge(folder, "1 2 3 4\n1 O.5 3 4\n1 2 3 4\n1 2 3 4\n")


@case(r"line\.txt: has 7 rows; accepted is an even number")
def odd_rows(folder: Path) -> Path:
    return challenge(folder, numbers(7))


@case(r"line\.txt: row 4, column 3 is inf; accepted are finite numbers")
def infinity_in_text(folder: Path) -> Path:
    tracks = numbers()
    tracks[3, 2] = np.inf
    return challenge(folder, tracks)


@case(r"line\.txt: row 4, column 3 is nan; .*NaN only where the visibility file has 0")
def nan_in_text(folder: Path) -> Path:
    tracks = numbers()
    tracks[3, 2] = np.nan
    return challenge(folder, tracks)


@case(r"line\.txt: tracks have 1 frame; at least 2 are needed")
def one_frame(folder: Path) -> Path:
    return challenge(folder, numbers(2))


@case(r"line\.txt: tracks have 3 points; at least 4 are needed")
def three_points(folder: Path) -> Path:
    return challenge(folder, numbers(columns=3))


@case(r"line\.txt: frame 2 \(0-based\) has no visible point")
def frame_without_a_visible_point(folder: Path) -> Path:
    file = challenge(folder, numbers())
    mask = np.ones((2 * F, P))
    mask[4] = 0
    beside(file, "visibility/perspective/line.txt", mask)
    return file


@case(r"visibility.perspective.line\.txt: is 8 x 5; the tracks in .* are 8 x 6")
def visibility_of_another_size(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "visibility/perspective/line.txt", np.ones((8, 5)))
    return file


@case(r"visibility.perspective.line\.txt: row 1, column 2 is NaN; accepted are 0 and 1")
def nan_in_visibility(folder: Path) -> Path:
    file = challenge(folder, numbers())
    mask = np.ones((2 * F, P))
    mask[0, 1] = np.nan
    beside(file, "visibility/perspective/line.txt", mask)
    return file


@case(r"orthogonal.line\.txt: has \(frames, points\) \(4, 5\); the perspective tracks .* \(4, 6\)")
def companion_of_another_size(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "sequence/orthogonal/line.txt", numbers(columns=5))
    return file


@case(r"gt_frame_2\.txt: is 3 x 5; accepted is 3 x 6 or 6 x 3")
def ground_truth_of_another_size(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "gt_frame_2.txt", numbers(3, 5))
    return file


@case(r"gt_frame_5\.txt: is for frame 5, counted from 1; .* has 4 frames")
def ground_truth_beyond_the_last_frame(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "gt_frame_5.txt", numbers(3))
    return file


@case(r"gt_frame_2\.txt: row 1, column 4 is not finite")
def ground_truth_that_is_not_finite(folder: Path) -> Path:
    file, shape = challenge(folder, numbers()), numbers(3)
    shape[0, 3] = np.nan
    beside(file, "gt_frame_2.txt", shape)
    return file


@case(r"holds gt_frame_1\.txt, gt_frame_2\.txt; one ground truth is accepted")
def two_ground_truths(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "gt_frame_1.txt", numbers(3))
    beside(file, "gt_frame_2.txt", numbers(3))
    return file


@case(r"edges\.txt: accepted are 2 point indices per row, from 0 to 5")
def edge_to_a_point_that_is_not_there(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "edges.txt", np.array([[0, 6]]))
    return file


@case(r"truth.line\.npz: is not an \.npz file: it is no zip archive")
def truth_that_is_no_npz(folder: Path) -> Path:
    file = challenge(folder, numbers())
    beside(file, "truth/line.npz", numbers())
    return file


@case(r"line\.txt: holds perspective tracks; accepted are that camera or none")
def the_wrong_camera(folder: Path) -> Broken:
    return challenge(folder, numbers()), {"camera": CameraModel.ORTHOGONAL}


@case(r"thing: has no any/circle; there are perspective/line")
def a_path_that_is_not_there(folder: Path) -> Broken:
    return challenge(folder, numbers()).parent.parent.parent, {"path_name": "circle"}


@case(r"frame base is 2; accepted are 1 and 0")
def a_strange_frame_base(folder: Path) -> Broken:
    return challenge(folder, numbers()), {"frame_base": 2}


@case(r"data\.mat: is not a MATLAB file that can be read")
def damaged_mat(folder: Path) -> Path:
    file = mat(folder, W=numbers(200, 50))
    file.write_bytes(file.read_bytes()[:5000])
    return file


@case(r"data\.mat: the file is empty")
def empty_mat(folder: Path) -> Path:
    (folder / "data.mat").touch()
    return folder / "data.mat"


@case(r"data\.mat: fits no layout that is known; it holds A 3 x 3, note 1 x 1; .*array of tracks.*--layout")
def mat_without_tracks(folder: Path) -> Path:
    return mat(folder, A=np.eye(3), note=1.0)


@case(
    r"data\.mat: fits several layouts \(interleaved:A, interleaved:B\); it holds A 8 x 6, B 8 x 6; .*--layout"
)
def mat_with_two_candidates(folder: Path) -> Path:
    return mat(folder, A=numbers(), B=numbers())


@case(r"data\.mat: there is no layout 'nonsense'; accepted are .*mocap, factors")
def unknown_layout(folder: Path) -> Broken:
    return mat(folder, A=numbers()), {"layout": "nonsense"}


@case(r"data\.mat: layout back needs L_tracks .*; the file holds A 8 x 6")
def layout_that_does_not_fit(folder: Path) -> Broken:
    return mat(folder, A=numbers()), {"layout": "back"}


@case(r"data\.mat: B is absent; there are A 8 x 6")
def layout_of_an_absent_variable(folder: Path) -> Broken:
    return mat(folder, A=numbers()), {"layout": "interleaved:B"}


@case(r"data\.mat: W\(2, 3\) is nan; accepted are finite numbers")
def nan_where_the_layout_knows_none(folder: Path) -> Path:
    tracks = numbers()
    tracks[1, 2] = np.nan
    return mat(folder, W=tracks, S=numbers(3 * F))


@case(r"data\.mat: W2D\(2, 3\) is inf; accepted are finite numbers, and NaN where a point is missing")
def infinity_in_mat(folder: Path) -> Path:
    tracks = numbers()
    tracks[1, 2] = np.inf
    return mat(folder, W2D=tracks)


@case(r"data\.mat: P3_gt is 11 x 6; accepted is 3 rows per frame, and 11 does not divide by 3")
def a_shape_that_does_not_divide(folder: Path) -> Path:
    return mat(folder, P3_gt=numbers(11))


@case(r"data\.mat: W has 4 frames of 6 points, S has 3 of 6; both must agree")
def truth_with_fewer_frames(folder: Path) -> Path:
    return mat(folder, W=numbers(), S=numbers(9))


@case(r"data\.mat: P3_gt holds complex numbers; accepted are real ones")
def complex_numbers(folder: Path) -> Path:
    return mat(folder, P3_gt=numbers(3 * F) * 1j)


@case(r"data\.mat: Rs has rows that are not orthonormal in frame 2")
def cameras_that_are_no_rotations(folder: Path) -> Path:
    cameras = np.tile(np.eye(3)[:2], (F, 1))
    cameras[2] *= 2
    return mat(folder, W=numbers(), S=numbers(3 * F), Rs=cameras)


@case(r"data\.mat: Rs is 0 x 3 and empty; accepted is at least one frame of one point")
def cameras_of_no_frame(folder: Path) -> Path:
    return mat(folder, W=numbers(), S=numbers(3 * F), Rs=np.zeros((0, 3)))


@case(r"data\.mat: P\{2\} has columns 1 to 3 that are singular; accepted are cameras K \[R t\]")
def camera_that_is_singular(folder: Path) -> Path:
    views = {"pointnr": P, "points": cells(*[numbers(2)] * 2), "index": cells(*[np.arange(P) + 1] * 2)}
    return mat(folder, u=views, P=cells(np.eye(3, 4), np.ones((3, 4))))


@case(r"data\.mat: list must hold two point numbers per row, from 1 to 6")
def skeleton_that_counts_from_0(folder: Path) -> Path:
    return mat(folder, W=numbers(), S=numbers(3 * F), list=np.array([[0, 1]]))


@case(r"data\.mat: M is NaN at frame 2, point 3, which W marks as seen; .*only where a point is hidden")
def nan_where_the_mask_says_seen(folder: Path) -> Path:
    tracks = numbers()
    tracks[3, 2] = np.nan
    return mat(folder, M=tracks, W=np.ones((2 * F, P)))


@case(r"data\.mat: frame 1 \(0-based\) has no visible point")
def mask_that_hides_a_frame(folder: Path) -> Path:
    mask = np.ones((2 * F, P))
    mask[2:] = 0
    return mat(folder, X=numbers(), W=mask)


@case(r"data\.mat: cell 2 of Pgth is 3 x 5; accepted is 3 x points, all of one size")
def cells_of_different_sizes(folder: Path) -> Path:
    return mat(folder, Pgth=cells(numbers(3), numbers(3, 5)), K=np.eye(3))


@case(r"data\.mat: Pgth must be projected .*no K in the file and no KK in mdh_camcalib\.mat")
def kinect_without_a_camera(folder: Path) -> Path:
    return mat(folder, Pgth=cells(numbers(3), numbers(3)))


@case(r"data\.mat: Pgth has depth -20.* at frame 1, point 1; accepted are points in front of the camera")
def kinect_behind_the_camera(folder: Path) -> Path:
    return mat(folder, Pgth=cells(np.full((3, 6), -20.0), numbers(3)), K=np.eye(3))


@case(r"data\.mat: K is .*; accepted is an upper triangular camera matrix")
def camera_matrix_that_is_none(folder: Path) -> Path:
    return mat(folder, M=numbers(), W=np.ones((2 * F, P)), K=np.ones((3, 3)))


@case(r"data\.mat: view 2 of u: index runs to 7; accepted is 1 to pointnr = 6")
def index_beyond_the_points(folder: Path) -> Path:
    index = cells(np.arange(1, 7), np.arange(2, 8))
    return mat(folder, u={"pointnr": 6, "points": cells(numbers(2), numbers(2)), "index": index})


@case(r"data\.npz: is not an \.npz file that can be read")
def damaged_npz(folder: Path) -> Path:
    (folder / "data.npz").write_bytes(b"PK\x03\x04 and no more")
    return folder / "data.npz"


@case(r"data\.npz: format is 'nrsfm-sequence 9'; accepted is 'nrsfm-sequence 1'")
def npz_of_another_version(folder: Path) -> Path:
    np.savez(folder / "data.npz", format="nrsfm-sequence 9")
    return folder / "data.npz"


@case(r"data\.npz: tracks is absent; a file of format 'nrsfm-sequence 1' needs it")
def npz_without_tracks(folder: Path) -> Path:
    np.savez(folder / "data.npz", format="nrsfm-sequence 1", camera="orthogonal", name="x")
    return folder / "data.npz"


@case(r"data\.csv: the columns are time, x, y; .* which are frame, point, x and y: name them by --columns")
def csv_with_another_header(folder: Path) -> Path:
    return csv(folder, "time,x,y", "0,1,2")


@case(r"data\.csv: there is no line after the header")
def csv_with_only_a_header(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y")


@case(r"data\.csv: line 3 has 3 fields; the header has 4")
def csv_with_a_ragged_row(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y", "0,0,1,2", "0,1,2")


@case(r"data\.csv: line 2 is '0,0,one,2'; accepted are numbers")
def csv_with_words(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y", "0,0,one,2")


@case(r"data\.csv: line 4 is a second one for frame 0, point 0")
def csv_with_an_observation_twice(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y", "0,0,1,2", "0,1,2,3", "0,0,1,2")


@case(r"data\.csv: line 2 has frame 0\.5; accepted is a whole number from 0")
def csv_between_frames(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y", "0.5,0,1,2")


@case(r"data\.csv: line 3 has point 1e\+19; accepted is a whole number from 0 to 9007199254740991")
def csv_with_points_that_are_too_large(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y", "0,0,1,2", "0,1e19,1,2", "0,2e19,1,2")


@case(r"data\.csv: line 2 has visible 1 with x, y = nan, 2; accepted is 1 with two numbers, or 0")
def csv_visible_without_a_place(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y,visible", "0,0,,2,1")


@case(r"data\.csv: line 2 holds an infinity")
def csv_with_an_infinity(folder: Path) -> Path:
    return csv(folder, "frame,point,x,y", "0,0,inf,2")


@case(r"photo\.png: is none of the formats that can be read: \.npz, \.npy, ")
def another_kind_of_file(folder: Path) -> Path:
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    return folder / "photo.png"


@case(r"clip\.mp4: is a video; `nrsfm track`, or File > Track a video\.\.\., follows points through it")
def a_video(folder: Path) -> Path:
    (folder / "clip.mp4").write_bytes(b"\0\0\0\x1cftypisom" + bytes(50))
    return folder / "clip.mp4"


@case(r"there is no sample 'kraken'; there are articulated/circle")
def unknown_sample(folder: Path) -> str:
    return "sample:kraken"


@pytest.mark.parametrize("kind", CASES)
def test_broken_input_is_refused_with_its_sentence(tmp_path: Path, kind: str) -> None:
    breaks, sentence = CASES[kind]
    given = breaks(tmp_path)
    path, options = given if isinstance(given, tuple) else (given, {})
    with pytest.raises(InputError) as refused:
        read_sequence(path, **options)
    said = str(refused.value)
    assert re.search(sentence, said), said
    assert "\n" not in said and "Traceback" not in said


def test_a_folder_of_several_objects_is_refused_by_name(tmp_path: Path) -> None:
    challenge(tmp_path / "a", numbers())
    challenge(tmp_path / "b", numbers())
    (tmp_path / "b" / "thing").rename(tmp_path / "b" / "other")
    with pytest.raises(InputError, match=r"holds 2 objects \(thing, other\); accepted is the folder of one"):
        read_sequence(tmp_path)


def test_a_listing_refuses_what_is_absent_or_holds_nothing(tmp_path: Path) -> None:
    for path, sentence in ((tmp_path / "absent", "no such file or folder"), (tmp_path, "holds no sequence")):
        with pytest.raises(InputError, match=sentence):
            list_sequences(path)
