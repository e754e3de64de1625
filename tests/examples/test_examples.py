"""The example scripts run, and print what they are there to show."""

from pathlib import Path

import pytest
from programs import run_python

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "assets" / "examples").glob("*.py"))
PRINTED = {
    "compare": "lowest at xi = ",
    "fit": "Result('my tracks': 30 frames, 60 points, rank 6",
    "own_penalty": "GeometricWeights(mu=0.002, ratio=4.0):",
    "own_solver": "Alternating: loss 0.04643070",
    "steer": "'--then=--preset bilinear --rank 4 --xi 0.1",
}
QUICK = ("own_solver",)


def test_all_examples_are_known():
    assert [path.stem for path in EXAMPLES] == sorted(PRINTED)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem)
        for path in EXAMPLES
    ],
)
def test_an_example_runs(path, tmp_path):
    done = run_python("-W", "error", path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert PRINTED[path.stem] in done.stdout
    if path.stem == "fit":
        assert {file.name for file in tmp_path.iterdir()} == {"my_tracks.npz", "my_tracks.ply"}
