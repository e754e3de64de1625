"""Files whose structure is sound and whose numbers or names are absurd: each is refused where it is read."""

import json

import numpy as np
import pytest

import core
from core import InputError, Settings, load_result, read_sequence, reconstruct, save_result
from core.cameras import estimate_intrinsics
from core.data import checked_intrinsics
from core.io.readers import entries_of

FRAMES, POINTS = 8, 16
QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn", max_iterations=2)


@pytest.fixture(scope="module")
def sequence():
    return core.simulate("balloon", frames=FRAMES, points=POINTS, seed=3)


@pytest.fixture
def written(sequence, tmp_path):
    """Write the sequence with other entries."""

    def write(**changes):
        path = tmp_path / "cloth.npz"
        np.savez(path, **{"format": "nrsfm-sequence 1"} | entries_of(sequence) | changes)
        return path

    return write


@pytest.mark.parametrize(
    ("name", "factor", "sentence"),
    [
        ("truth_points", np.inf, r"ground truth is .* at frame 0, point 0 \(0-based\)"),
        ("truth_points", 1e150, "accepted are coordinates up to 1e\\+30, and NaN where it is unknown"),
        ("translations", 1e60, r"translations of .* hold a number above 1e\+30"),
        ("rotations", 2.0, "R R' must be I"),
        ("intrinsics", np.diag([1e-200, 1e-200, 1.0]), "accepted are focal lengths from 1e-30 on"),
        ("intrinsics", np.diag([-1.0, 1.0, 1.0]), "both must be positive"),
        ("intrinsics", np.zeros((3, 3)), "accepted is .*zeros there"),
    ],
)
def test_what_is_known_of_a_sequence_has_bounds(written, sequence, name, factor, sentence):
    before = entries_of(sequence)[name]
    with np.errstate(invalid="ignore"):
        path = written(**{name: before @ factor if np.ndim(factor) else before * factor})
    with pytest.raises(InputError, match=sentence) as refused:
        read_sequence(path)
    assert str(refused.value).startswith(f"{path}: ")


def test_calibrated_tracks_have_the_bounds_of_tracks(sequence):
    with pytest.raises(InputError, match=r"K, with focal lengths 1e-29 .* turns the tracks into coordinates"):
        core.calibrate(sequence.observations, np.diag([1e-29, 1e-29, 1.0]), sequence.camera)
    assert checked_intrinsics(np.diag([2e4, 2e4, 2.0])).tolist() == np.diag([1e4, 1e4, 1.0]).tolist()


@pytest.mark.parametrize("factor", [0.0, 1e-200])
def test_tracks_that_coincide_determine_no_intrinsics(written, sequence, factor):
    tracks = np.nan_to_num(sequence.tracks) * factor
    with pytest.raises(InputError, match="all visible tracks of every frame coincide"):
        estimate_intrinsics(sequence.truth.at(0), tracks[0], sequence.visible[0])
    with pytest.raises(InputError, match="planar, or nearly so"):
        estimate_intrinsics(factor * sequence.truth.at(0), sequence.tracks[0], sequence.visible[0])
    path = written(tracks=tracks)
    with pytest.raises(InputError, match="all visible tracks of every frame coincide") as refused:
        reconstruct(read_sequence(path), QUICK)
    assert str(refused.value).startswith(f"{path}: ")  # also of what only a solver sees


def test_equations_without_a_solution_are_a_sentence(sequence, monkeypatch):
    def fails(*_args, **_options):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", fails)
    with pytest.raises(InputError, match=r"equations without a solution \(SVD did not converge"):
        reconstruct(sequence, QUICK)


def test_long_names_and_texts_are_cut(written):
    long = "n" * 20_000
    names = "\n".join(f"{number}{long}" for number in range(POINTS))
    read = read_sequence(written(name=long, units=long, provenance=long, point_names=names))
    assert read.name == "n" * 200 + "..." and read.units == read.name
    assert len(read.provenance) == 2003 and read.point_names[1] == f"1{'n' * 199}..."
    assert read_sequence(written(name=read.name)).name == read.name


def test_numbers_and_settings_of_a_result_have_the_same_bounds(sequence, tmp_path):
    path = save_result(reconstruct(sequence, QUICK), tmp_path / "result.npz")
    with np.load(path) as file:
        arrays = dict(file)
    for changes, sentence in (
        ({"intrinsics": np.zeros((3, 3))}, "intrinsics is .*zeros there"),
        ({"rotations": np.tile(-np.eye(3), (FRAMES, 1, 1))}, r"rotations of frame 0 .* is not a rotation"),
        ({"tracks": np.full((FRAMES, 2, POINTS), np.nan)}, "tracks hold nan where visible marks a point"),
        ({"truth_points": np.full((FRAMES, 3, POINTS), 1e40)}, "accepted are coordinates up to 1e"),
    ):
        np.savez(path, **arrays | changes)
        with pytest.raises(InputError, match=sentence):
            load_result(path)
    meta = json.loads(str(arrays["meta"]))
    meta["settings"]["problem"] = "lowrank"
    np.savez(path, **arrays | {"meta": np.array(json.dumps(meta))})
    with pytest.raises(InputError, match=r"meta\.settings are of the problem 'lowrank'"):
        core.reconstruction.load_start(path, sequence)
