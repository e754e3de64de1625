from dataclasses import fields

import numpy as np
import pytest

from core import PENALTIES, LogPenalty, load_result, simulate, write_npz
from core.cli import main
from core.foundation import parameters_of
from core.penalties import is_spectral

FAST = ["--rank", "3", "--rotations", "truth", "--starts", "2", "--objective", "wnn", "--quiet"]


@pytest.fixture(scope="module")
def tracks(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "paper.npz"
    write_npz(simulate("paper", path="circle", frames=12, points=20, seed=2), path)
    return str(path)


def test_every_penalty_and_every_number_is_described():
    for kind in PENALTIES.values():
        described = parameters_of(kind)
        assert list(described) == [entry.name for entry in fields(kind)]
        assert kind.title and kind.short and kind.formula
        assert all(each.tip and each.slider and each.live for each in described.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kind in PENALTIES.items() if is_spectral(kind())])
def test_a_concave_penalty_is_solved_with(name, tracks, tmp_path):
    out = tmp_path / "out.npz"
    assert main(["solve", tracks, *FAST, "--penalty", name, "-o", str(out)]) == 0
    result = load_result(out)
    assert result.meta["settings"]["penalty"]["kind"] == name
    assert f"--penalty {name}" in result.meta["command"]
    # The loss is data + f, not data + a'gamma of some linear weights.
    f = PENALTIES[name]().value(result.singular_values)
    Y, m = result.camera_points, result.tracks
    squares = result.eta * (Y[:, :2] - m) ** 2 + (1 - result.eta) * (Y[:, :2] - Y[:, 2:] * m) ** 2
    data = np.where(result.visible, squares.sum(axis=1), 0.0).sum()
    assert f > 0
    assert result.loss == pytest.approx(data + f, rel=1e-9)


def test_the_help_describes_each_number(capsys):
    assert main(["solve", "--help-all"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "schatten, log: Singular values well below it" in said
    assert f"rank {PENALTIES['rank']().mu}" in said
    assert "wnn in recommended 0.5, wnn in bilinear 0.5, wnn in paper 0.005" in said
    assert f"log {LogPenalty().mu}, capped" in said
