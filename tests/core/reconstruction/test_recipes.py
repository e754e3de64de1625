import json
import runpy
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core import (
    MCP,
    METHODS,
    PENALTIES,
    PRESETS,
    CameraModel,
    ExplicitWeights,
    InputError,
    LogPenalty,
    NuclearNorm,
    Observations,
    RampWeights,
    SchattenNorm,
    Sequence,
    Settings,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
    command_for,
    python_for,
    read_sequence,
)
from core.cli import parser, reading_from, settings_from
from core.foundation import parameters_of
from core.reconstruction import OBJECTIVES, options_for, preset_name, settings_from_dict, settings_to_dict
from core.reconstruction.provenance import nearest_preset

PAPER = PRESETS["paper"]
VARIED = [
    Settings(),
    PAPER,
    Settings(rank=3, eta=0.1, seed=5, starts=4, tolerance=0.0, max_iterations=7),
    Settings(method="lm", penalty=WeightedNuclearNorm(xi=0.1 + 0.2, gamma=1e-7)),
    Settings(penalty=TruncatedNuclearNorm(mu=1 / 3, free=2), rank=4),
    Settings(penalty=ExplicitWeights((0.0, 1e-3, 1 / 7)), rank=3),
    *(Settings(penalty=kind()) for kind in PENALTIES.values()),
    *(
        Settings(penalty=kind(**{name: 2 if name == "free" else 0.25 for name in parameters_of(kind)}))
        for kind in PENALTIES.values()
    ),
    Settings(penalty=RampWeights(mu=0.3, free=0), rank=4),
    Settings(penalty=SchattenNorm(mu=0.1, p=1 / 3, epsilon=1e-12)),
    PAPER.with_changes(penalty=LogPenalty(mu=2.0, epsilon=1 / 7)),
    Settings(penalty=MCP(mu=0.0, theta=1e6), method="lm"),
    Settings(rotations="truth", intrinsics=(1400.5, 1399.0, 640.0, 480.0)),
    Settings(rotations=Path("/data/with space/R.npz"), intrinsics=Path(__file__)),  # a file must exist
    PAPER.with_changes(rank=3, penalty=replace(PAPER.penalty, xi=0.02)),
    PAPER.with_changes(method="bilinear", rotation_rank=3),
    PAPER.with_changes(penalty=ExplicitWeights((0.1, 0.1)), rank=2),
    *(Settings(objective=each, noise=1 / 3, isometry=0.0, neighbors=5) for each in OBJECTIVES),
    *(Settings(objective=each, rank=3, penalty=NuclearNorm(mu=2.5)) for each in OBJECTIVES),
    *(
        preset.with_changes(objective=objective, **changes)
        for preset in PRESETS.values()
        for objective in OBJECTIVES
        for changes in ({}, {"rank": 3}, {"isometry": 0.7}, {"mode_weights": (0.0, 1 / 3)})
    ),
    Settings(mode_weights=(0.0, 1.0, 1 / 3 + 2), smallest_movement=1e-3),
    Settings(rank=3, mode_weights=(1.0, 20.0), noise=0.0),
    Settings(objective="wnn", mode_weights=(2.0,)),
    Settings(mirror="3-5", neighbors=4),
    Settings(problem="lowrank", rank=5),
    PAPER.with_changes(objective="depths", noise=0.0),
]


def sequence_at(source, **changes):
    tracks = np.arange(40, dtype=float).reshape(4, 2, 5)
    observations = Observations(tracks, np.ones((4, 5), dtype=bool))
    return Sequence(
        observations.tracks, observations.visible, CameraModel.PERSPECTIVE, "small", source=source, **changes
    )


@pytest.mark.parametrize("settings", VARIED, ids=range(len(VARIED)))
def test_settings_survive_the_command_line_json_and_python(settings, tmp_path):
    words = ["solve", "tracks.txt", *options_for(settings), "-o", "out.npz"]
    assert settings_from(parser().parse_args(words)) == settings
    assert settings_from_dict(json.loads(json.dumps(settings_to_dict(settings)))) == settings
    lines = python_for(sequence_at(Path("/data/tracks.txt")), settings).splitlines()
    program = tmp_path / "program.py"
    program.write_text("\n".join(line for line in lines if line.startswith(("from", "settings"))))
    assert runpy.run_path(str(program))["settings"] == settings


@pytest.mark.parametrize("method", METHODS)
def test_the_options_of_a_method_include_its_penalty(method):
    for preset in PRESETS.values():
        for penalty in (preset.penalty, *(kind() for kind in PENALTIES.values())):
            settings = preset.with_changes(method=method, penalty=penalty)
            words = ["solve", "tracks.txt", *options_for(settings), "-o", "out.npz"]
            assert settings_from(parser().parse_args(words)) == settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(), ""),
        (PAPER, "--preset paper"),
        (Settings(isometry=1.0), "--isometry 1.0"),
        (Settings(starts=4), "--starts 4"),
        (PAPER.with_changes(eta=0.5), "--preset paper --eta 0.5"),
        (Settings(mode_weights=(1, 2.5)), "--mode-weights 1.0,2.5"),
        (Settings(penalty=NuclearNorm()), "--preset bilinear --penalty nn"),
        (Settings(rank=4), "--preset bilinear --rank 4"),
        # The rank alone would choose the weighted nuclear norm.
        (Settings(objective="depths", rank=4), "--preset recommended --rank 4"),
        (Settings().with_changes(method="admm", objective="depths"), "--method admm --objective depths"),
        (PRESETS["lowrank"], "--problem lowrank"),
        (PRESETS["lowrank"].with_changes(rank=5), "--problem lowrank --rank 5"),
        (Settings(penalty=ExplicitWeights((0.1, 0.25)), rank=2), "--preset bilinear --weights 0.1,0.25"),
    ],
)
def test_only_what_differs_from_the_nearest_preset_is_printed(settings, words):
    assert options_for(settings) == words.split()


def test_presets_are_recognized():
    assert (preset_name(Settings()), preset_name(PAPER), preset_name(Settings(rank=2))) == (
        *("recommended", "paper"), None,
    )  # fmt: skip
    assert nearest_preset(Settings(rank=2)) == "bilinear"
    assert nearest_preset(Settings(isometry=2.0)) == "recommended"
    assert nearest_preset(PAPER.with_changes(seed=1)) == "paper"


def test_the_command_quotes_its_paths_and_keeps_the_reading_options():
    sequence = sequence_at(Path("/data/two words/a.mat"), reading={"layout": "W S", "camera": "orthogonal"})
    words = shlex.split(command_for(sequence, Settings(rank=2), "my out.npz"))
    assert words[:3] == ["nrsfm", "solve", "/data/two words/a.mat"]
    args = parser().parse_args(words[1:])
    assert reading_from(args) == {"layout": "W S", "camera": "orthogonal"}
    assert args.output == [Path("my out.npz")]
    text = python_for(sequence, Settings())
    assert "read_sequence('/data/two words/a.mat', layout='W S', camera=CameraModel('orthogonal'))" in text


def test_bundled_samples_are_called_by_their_names_and_what_is_in_no_file_has_a_comment():
    name = "sample:paper/zigzag/orthogonal"
    sequence = read_sequence(name)
    assert command_for(sequence, Settings()) == f"nrsfm solve {name} -o result.npz"
    assert f"read_sequence({name!r})" in python_for(sequence, Settings())
    assert "no file yet" in command_for(sequence_at(None), Settings())
    assert "no file yet" in python_for(sequence_at(None), Settings())


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"ranks": 2}, "holds 'ranks'; accepted are problem, method"),
        ({"penalty": {"kind": "lasso"}}, "accepted is a penalty of the kind wnn, nn, .*, rank or weights"),
        ({"penalty": {"kind": "wnn", "mu": 1}}, "penalty holds 'mu'; accepted are xi"),
        ({"penalty": {"kind": "schatten", "p": 2}}, "p is 2; accepted is a number above 0 and below 1"),
        ({"penalty": {}}, "accepted is a penalty of the kind"),
        ({"rank": 0}, "rank is 0"),
        *(
            (values, "accepted")
            for values in ("nonrigid", [1], {"options": np.nan}, {"rank": [2]}, {"penalty": 3})
        ),
    ],
)
def test_settings_that_cannot_be_rebuilt_are_refused_with_a_sentence(values, sentence):
    with pytest.raises(InputError, match=sentence):
        settings_from_dict(values)
