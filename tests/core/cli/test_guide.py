import json
import signal

import pytest

from core import CameraModel, Settings, WeightedNuclearNorm, iterate, read_sequence, write_challenge
from core.cli import main
from core.cli.console import ProgressLine
from core.evaluation import HoldoutPlan, gather_curve, parameters_of, sweep

OPTIONS = ["--rank", "3", "--starts", "1", "--rotations", "truth", "--penalty", "wnn", "--xi", "0.5"]
UNREFINED = [*OPTIONS, "--objective", "wnn"]


@pytest.fixture(scope="module")
def tracks(tmp_path_factory):
    """Tracks of a small sequence."""
    root = tmp_path_factory.mktemp("guide")
    folder = write_challenge(root, "balloon", paths=("circle",), frames=12, points=18)
    return str(folder / "sequence" / "perspective" / "circle.txt")


def test_guide_gives_the_numbers_of_python(tracks, capsys):
    words = [*UNREFINED, "--over", "xi", "--values", "0.1,0.5", "--folds", "2", "--json", "--quiet"]
    assert main(["guide", tracks, *words]) == 0
    said = json.loads(capsys.readouterr().out)
    sequence, penalty = read_sequence(tracks), WeightedNuclearNorm(xi=0.5)
    settings = Settings(rank=3, starts=1, rotations="truth", penalty=penalty, objective="wnn")
    *_, last = iterate(sequence, settings)
    line = gather_curve(sweep(sequence, last, settings, HoldoutPlan("xi", (0.1, 0.5), folds=2)), "xi")
    assert [row["value"] for row in said["rows"]] == [0.1, 0.5]
    assert [row["hidden_rms"] for row in said["rows"]] == pytest.approx(line.held, rel=1e-9)
    assert [row["standard_error"] for row in said["rows"]] == pytest.approx(line.deviation, rel=1e-9)
    assert [row["used_rms"] for row in said["rows"]] == pytest.approx(line.kept, rel=1e-9)
    assert said["best"] == line.values[line.best]
    assert (said["parameter"], said["hiding"], said["units"]) == ("xi", "tracks", "px")


def test_a_signal_leaves_the_table_of_what_is_done(tracks, capsys, monkeypatch):
    write = ProgressLine.write

    def write_and_stop(line, text):
        write(line, text)
        if text.startswith("3 of 4"):
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ProgressLine, "write", write_and_stop)
    words = [*UNREFINED, "--over", "xi", "--values", "0.1,0.5", "--folds", "2"]
    assert main(["guide", tracks, *words]) == 143
    out, errors = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["xi", "0.1", "0.5", "3"]
    assert out.endswith("3 of 4 solves were done\n") and errors.endswith("nrsfm guide: stopped\n")


def test_the_table_marks_the_best_value(tracks, capsys):
    words = [*UNREFINED, "--over", "rank", "--values", "1,2,3", "--folds", "1", "--hiding", "entries"]
    assert main(["guide", tracks, *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rank", "hidden", "px", "+-", "median", "used", "px"]
    rows = {line.split()[0]: float(line.split()[1]) for line in lines[1:4]}
    (marked,) = [line.split()[0] for line in lines if line.endswith("<- best")]
    assert list(rows) == ["1", "2", "3"]
    assert rows[marked] <= min(rows.values()) * 1.001


@pytest.mark.slow
def test_words_are_values_of_the_objective(tracks, capsys):
    words = [*OPTIONS, "--over", "objective", "--values", "wnn,depths", "--folds", "1", "--hiding", "blocks"]
    assert main(["guide", tracks, *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [row["value"] for row in said["rows"]] == ["depths", "wnn"]
    assert said["best"] in ("depths", "wnn") and said["hiding"] == "blocks"


@pytest.mark.parametrize(
    ("words", "parameter", "offered"),
    [
        ([], "isometry", "isometry, smallest_movement, noise, neighbors, objective"),
        (["--over", "xi"], "xi", "xi, rank, eta, objective"),
        (["--over", "smallest_movement", "--rank", "3"], "smallest_movement", "isometry, smallest_movement"),
        (["--rank", "3"], "xi", "xi, rank, eta, objective"),
        (["--over", "isometry", "--preset", "recommended"], "isometry", "isometry, smallest_movement"),
        (["--over", "eta", "--preset", "bilinear", "--isometry", "1"], "eta", "xi, rank, eta, objective"),
    ],
)
def test_the_parameter_and_the_options_choose_the_objective(tracks, monkeypatch, words, parameter, offered):
    posed = []
    monkeypatch.setattr("core.cli.guide._solve", lambda *given: posed.append(given))
    assert main(["guide", tracks, "--quiet", *words]) == 0
    ((_, settings, plan, *_),) = posed
    assert plan.parameter == parameter
    assert ", ".join(parameters_of(settings, CameraModel.PERSPECTIVE)).startswith(offered)
