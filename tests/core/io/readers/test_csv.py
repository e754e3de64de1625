import re

import numpy as np
import pytest
from pose_tables import assert_tracks, write_pose_table
from refusals import refuses

from core import CameraModel, read_sequence
from core.io.readers import inspect_file

FRAMES, POINTS = 7, 6
RANDOM = np.random.default_rng(3)
TRACKS = RANDOM.uniform(50, 600, (FRAMES, POINTS, 2)).round(4)
VISIBLE = RANDOM.random((FRAMES, POINTS)) < 0.8
VISIBLE[0] = VISIBLE[:, 0] = VISIBLE[:2] = True
NAMES = ("nose", "left ear", "right ear", "spine", "tail_base", "tail.tip")


def write(path, header, rows, separator=",", end="\n"):
    lines = [separator.join(str(field) for field in row) for row in [*header, *rows]]
    path.write_text(end.join(lines) + end)
    return path


def long_rows(tracks=TRACKS, visible=VISIBLE):
    """Return frame, point, x, y of what is visible."""
    return [(*place, *tracks[tuple(place)].tolist()) for place in np.argwhere(visible).tolist()]


def assert_read(sequence, tracks=TRACKS, visible=VISIBLE):
    assert_tracks(sequence, tracks, visible)


# -- long tables ---------------------------------------------------------------------------------------------

XY = ["frame", "point", "x", "y"]
EVERYTHING = long_rows(visible=np.ones_like(VISIBLE))


HEADERS = "frame,point,x,y frame_id,track_id,x,y frame,id,x,y Frame,TrackID,X,Y image,particle,pos_x,pos_y"


@pytest.mark.parametrize("header", [*HEADERS.split(), "t,track,u,v", "# frame,point,x,y"])
def test_a_long_table_is_read_by_what_its_columns_are_called(header, tmp_path):
    path = write(tmp_path / "t.csv", [header.split(",")], long_rows())
    assert_read(read_sequence(path))
    contents = inspect_file(path)
    assert contents.columns == tuple(header.lstrip("# ").split(","))
    (guess,) = contents.guesses
    assert guess.startswith("the numbers look like pixels")


def test_columns_are_named_by_an_option_or_numbered_where_there_is_no_header(tmp_path):
    names = ("tick", "who", "across", "down", "ok")
    path = write(tmp_path / "t.csv", [names], [(*row, 1) for row in long_rows()])
    asks = r"t\.csv: the columns are tick, who, across, down, ok; .*--columns frame=A,point=B,x=C,y=D"
    for columns, sentence in (
        (None, asks),
        ("frame=tick,point=who,x=across", "columns names no y"),
        ("frame=tick,point=who,x=across,y=up", "there is no column 'up'; there are tick, who, across, down"),
        ("frames=tick", "columns has 'frames=tick'; accepted is --columns frame=A"),
    ):
        refuses(path, sentence, columns=columns)
    columns = "frame=tick,point=who,x=across,y=down,visible=ok"
    read = read_sequence(path, columns=columns)
    assert_read(read)
    assert read.reading == {"columns": columns}
    assert inspect_file(path).columns == names
    path = write(tmp_path / "t.csv", [], long_rows())
    refuses(path, "the columns are 1, 2, 3, 4")
    assert_read(read_sequence(path, columns="frame=1,point=2,x=3,y=4"))


@pytest.mark.parametrize(("separator", "decimal"), [(";", "."), ("\t", "."), (";", ",")])
def test_semicolons_tabs_and_decimal_commas_are_understood(separator, decimal, tmp_path):
    rows = [[str(field).replace(".", decimal) for field in row] for row in long_rows()]
    assert_read(read_sequence(write(tmp_path / "t.csv", [XY], rows, separator, "\r\n")))


def test_points_may_have_names(tmp_path):
    rows = [(frame, f'"{NAMES[point]}"', x, y) for frame, point, x, y in long_rows()]
    read = read_sequence(write(tmp_path / "t.csv", [["frame", "bodypart", "x", "y"]], rows))
    assert_read(read)
    assert read.point_names == NAMES


@pytest.mark.parametrize(
    ("name", "seen", "hidden", "said"),
    [
        ("visibility", 1, 0, ""),
        ("occluded", 0, 1, ""),
        ("occluded", "False", "True", ""),
        ("confidence", 0.7, 0.4, "confidence is a score, and a point is visible from 0.5 on"),
    ],
)
def test_a_column_of_flags_or_of_scores_hides_points(name, seen, hidden, said, tmp_path):
    rows = [(*row, seen if VISIBLE[row[0], row[1]] else hidden) for row in EVERYTHING]
    path = write(tmp_path / "t.csv", [[*XY, name]], rows)
    assert_read(read_sequence(path))
    assert said in " ".join(inspect_file(path).guesses)
    assert read_sequence(path, visible="none").visible.all()
    assert not said or read_sequence(path, threshold=0.3).visible.all()


def test_frames_that_have_no_line_are_left_out_and_named(tmp_path):
    rows = [(7 + frame, *rest) for frame, *rest in EVERYTHING if frame != 3]
    path = write(tmp_path / "t.csv", [XY], rows)
    kept = [0, 1, 2, 4, 5, 6]
    assert_read(read_sequence(path), TRACKS[kept], np.ones((6, POINTS), bool))
    guess = inspect_file(path).guesses[0]
    assert "no line is of the frames between 9 and 11" in guess and "no longer equal" in guess


def test_one_of_several_individuals_is_read_by_name(tmp_path):
    rows = [(name, *row) for row in long_rows() for name in ("a", "b")]
    path = write(tmp_path / "t.csv", [["individual", *XY]], rows)
    refuses(path, r"2 individuals: a \(100% visible\), b \(100% visible\); choose one by")
    assert inspect_file(path).individuals == ("a", "b")
    read = read_sequence(path, individual="b")
    assert_read(read)
    assert "not read" not in read.provenance


# -- wide tables ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "names"),
    [
        ("x{0}", "y{0}", None),
        ("x_{0}", "y_{0}", None),
        ("p{0}_x", "p{0}_y", tuple(f"p{point}" for point in range(POINTS))),
        ("p{0}x", "p{0}y", tuple(f"p{point}" for point in range(POINTS))),
        ("{1}_x", "{1}_y", NAMES),
        ("{1}.X", "{1}.Y", NAMES),
    ],
)
@pytest.mark.parametrize("numbered", [False, True])
def test_a_wide_table_is_read(x, y, names, numbered, tmp_path):
    header = [form.format(point, NAMES[point]) for point in range(POINTS) for form in (x, y)]
    missing = np.where(VISIBLE[..., None], TRACKS.astype(object), "").reshape(FRAMES, -1)
    rows = [([frame] if numbered else []) + list(row) for frame, row in enumerate(missing)]
    path = write(tmp_path / "t.csv", [(["frame"] if numbered else []) + header], rows)
    read = read_sequence(path)
    assert_read(read)
    assert read.point_names == names
    refuses(path, "individual is 'cat'; the file holds only one", individual="cat")


def test_the_second_of_two_columns_of_one_name_is_named_as_not_read(tmp_path):
    header = [f"{kind}{point}" for point in range(POINTS) for kind in "xy"]
    rows = np.concatenate([TRACKS.reshape(FRAMES, -1)] * 2, axis=1).tolist()
    read = read_sequence(write(tmp_path / "t.csv", [header * 2], rows))
    assert_read(read, visible=np.ones_like(VISIBLE))
    assert f"not read: {header[0]}, {header[1]}" in read.provenance


def test_scores_that_only_some_points_have_hide_these(tmp_path):
    header = [f"{kind}_{name}" for name in NAMES for kind in ("x", "y", "z")] + ["nose_likelihood"]
    values = np.concatenate([TRACKS, np.ones((FRAMES, POINTS, 1))], axis=2).reshape(FRAMES, -1)
    likelihood = np.where(np.arange(FRAMES) == 3, 0.55, 0.9)
    path = write(tmp_path / "t.csv", [header], np.column_stack([values, likelihood]).tolist())
    visible = np.ones_like(VISIBLE)
    visible[3, 0] = False
    read = read_sequence(path)
    assert_read(read, visible=visible)
    assert "not read: z_nose, z_left ear" in read.provenance
    assert "(nose_likelihood, ...) is at least 0.6" in inspect_file(path).guesses[0]


@pytest.mark.parametrize("marked", [True, False])
def test_points_at_the_corner_of_the_picture_are_hidden_unless_a_mask_says_what_is_seen(tmp_path, marked):
    header = [f"{axis}{point}" for point in range(POINTS) for axis in "xy"]
    shown = np.where(VISIBLE[..., None], TRACKS, 0.0).reshape(FRAMES, -1).tolist()
    path = write(tmp_path / "t.csv", [header], shown)
    options = {"visible": "none"} if marked else {}
    contents = inspect_file(path, **options)
    np.testing.assert_array_equal(contents.sequence.visible, VISIBLE | marked)
    share = (~VISIBLE).mean()
    assert (f"{share:.1%} of the points are at (0, 0) and count as hidden" in contents.guesses[0]) != marked
    centered = write(tmp_path / "c.csv", [header], (np.array(shown) - [[300, 0] * POINTS]).tolist())
    assert read_sequence(centered).visible.all()


def test_a_line_of_one_word_ends_a_part_of_which_one_is_read(tmp_path):
    header, end = ["iter", "id", "x", "y"], ("break", "", "", "")
    rows = [*long_rows(), end, *long_rows(TRACKS[1:] + 1, VISIBLE[1:]), end]
    path = write(tmp_path / "t.csv", [header], rows)
    refuses(path, "holds 2 individuals: part 1, part 2; choose one by --individual")
    assert_read(read_sequence(path, individual="part 1"))
    assert_read(read_sequence(path, individual="part 2"), TRACKS[1:] + 1, VISIBLE[1:])
    path = write(tmp_path / "t.csv", [header], long_rows() * 2)
    refuses(path, r"line \d+ is a second one for frame 0")


def test_points_of_anipose_are_the_truth_of_views_around_them(tmp_path):
    shapes = RANDOM.normal(size=(FRAMES, POINTS, 3))
    shapes[3, 2] = np.nan
    header = [f"{name}_{kind}" for name in NAMES for kind in ("x", "y", "z", "error", "ncams", "score")]
    rows = np.concatenate([shapes, np.ones((FRAMES, POINTS, 3))], axis=2).reshape(FRAMES, -1).tolist()
    path = write(tmp_path / "t.csv", [[*header, "fnum"]], [[*row, number] for number, row in enumerate(rows)])
    read = read_sequence(path)
    assert read.camera is CameraModel.ORTHOGONAL and read.point_names == NAMES
    np.testing.assert_array_equal(read.truth.points.transpose(0, 2, 1), shapes)
    np.testing.assert_array_equal(read.visible, np.isfinite(shapes).all(axis=2))


# -- DeepLabCut and Lightning Pose ---------------------------------------------------------------------------


POSES = np.insert(TRACKS, 2, np.where(VISIBLE, 0.99, 0.03), axis=2), np.insert(TRACKS + 10, 2, 0.99, axis=2)


@pytest.mark.parametrize("extra", [(), ("set",)])
def test_a_table_of_deeplabcut_or_lightning_pose_is_read(extra, tmp_path):
    path = write_pose_table(tmp_path / "mouseDLC_resnet50.csv", NAMES, POSES[0], extra=extra)
    read = read_sequence(path)
    assert_read(read)
    assert read.point_names == NAMES
    assert "its likelihood is at least 0.6" in read.provenance
    contents = inspect_file(path)
    assert contents.clear and contents.producer == "DeepLabCut" and not contents.individuals
    assert read_sequence(path, threshold=0.01).visible.all()


def test_a_table_of_several_animals_asks_for_one(tmp_path):
    path = write_pose_table(tmp_path / "t.csv", NAMES, *POSES, individuals=("mouse1", "mouse2"))
    share = f"{VISIBLE.mean():.0%}"
    refuses(path, rf"2 individuals: mouse1 \({share} visible\), mouse2 \(100% visible\); choose")
    contents = inspect_file(path)
    assert contents.individuals == ("mouse1", "mouse2") and "--individual" in contents.problem
    assert_read(read_sequence(path, individual="mouse1"))
    assert_read(read_sequence(path, individual="mouse2"), TRACKS + 10, np.ones_like(VISIBLE))
    refuses(path, "there is no individual 'mouse3'; there are mouse1", individual="mouse3")


def test_labelled_pictures_are_listed_and_a_point_without_x_is_refused(tmp_path):
    path = write_pose_table(tmp_path / "labels.csv", NAMES, POSES[1])
    text = path.read_text()
    path.write_text(re.sub(r"^(\d+),", r"img\1.png,", text, flags=re.MULTILINE))
    contents = inspect_file(path)
    assert [entry.role for entry in contents.arrays if entry.name == "pictures"] == ["frames"]
    assert "labelled pictures" in contents.guesses[0]
    path.write_text(text.replace("coords,x,", "coords,z,"))
    refuses(path, f"bodypart {NAMES[0]} has no x or no y; accepted are columns of both")
