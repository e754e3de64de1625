"""The command line of the application."""

from pathlib import Path

import pytest
from programs import environment_of, run_python
from PyQt6.QtGui import QImage

from core import (
    PRESETS,
    ExplicitWeights,
    Settings,
    finish,
    iterate,
    load_result,
    save_result,
    simulate,
    write_challenge,
)
from nrsfm_gui.app import enlarged, prepare_platform
from nrsfm_gui.model.app_store import APPLICATION, ORGANIZATION
from nrsfm_gui.model.arguments import Arguments, parse
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import OpenSequence
from nrsfm_gui.sessions.session_file import SavedSession, write_session


def test_every_option_is_understood():
    given = parse(
        "data/face --run --screenshot a.png --export a.npz --export a.ply --exit --theme light "
        "--window-size 1280x800 --preset paper --eta 0.1 --rho 2 --weights 1,2".split()
    )
    assert given == Arguments(
        path="data/face",
        run=True,
        screenshot=Path("a.png"),
        exports=(Path("a.npz"), Path("a.ply")),
        exit=True,
        theme="light",
        window_size=(1280, 800),
        settings=PRESETS["paper"].with_changes(
            eta=0.1, options=(("rho", 2.0),), penalty=ExplicitWeights((1.0, 2.0))
        ),
    )
    assert given.scripted
    assert not parse([]).scripted
    assert parse([]).settings is None  # those of the last time
    assert parse(["--preset", "recommended"]).settings == Settings()


def test_the_options_of_reading_are_kept_apart_and_a_script_or_a_given_camera_is_not_asked():
    arguments = parse(["a.npz", "--visible", "~seen", "--size", "640x480"])
    assert arguments.reading == {"visible": "~seen", "size": "640x480"}
    assert arguments.settings is None and arguments.asks
    assert not parse(["a.npz", "--exit"]).asks
    assert not parse(["a.npz", "--intrinsics", "900,900,640,480"]).asks


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--size wide", "wide"),
        ("--window-size 12", "WIDTHxHEIGHT"),
        ("--window-size 10x10", "below 800x560"),
        ("--theme pink", "invalid choice"),
        ("--preset best", "invalid choice"),
        ("--method admm --tau 0.1", "--tau does not belong to the method 'admm'"),
        ("--eta 0", "eta is 0; accepted is a number above 0 and at most 1"),
    ],
)
def test_wrong_options_end_with_a_sentence_and_code_2(capsys, line, words):
    with pytest.raises(SystemExit) as ended:
        parse(line.split())
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_help_and_version_answer_without_qt():
    code = (
        "import sys\n"
        "from nrsfm_gui.app import main\n"
        "for option in ('--help', '--help-all', '--version'):\n"
        "    try:\n"
        "        main([option])\n"
        "    except SystemExit as ended:\n"
        "        assert ended.code == 0\n"
        "    print('end of', option)\n"
        "loaded = [name for name in sys.modules if name.startswith(('PyQt6', 'pyqtgraph', 'OpenGL'))]\n"
        "assert not loaded, loaded\n"
    )
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("end of")[:3]
    assert len(answers) == 3 and all("nrsfm-gui" in answer for answer in answers)


def test_x11_is_chosen_on_a_desktop_that_has_both():
    environment = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    prepare_platform(environment)
    assert environment["QT_QPA_PLATFORM"] == "xcb"
    assert environment["PYOPENGL_PLATFORM"] == "glx"
    alone = {"WAYLAND_DISPLAY": "wayland-0"}
    prepare_platform(alone)
    assert "QT_QPA_PLATFORM" not in alone
    chosen = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "QT_QPA_PLATFORM": "wayland"}
    prepare_platform(chosen)
    assert chosen["QT_QPA_PLATFORM"] == "wayland"


def run_application(*arguments, folder):
    """Run the real program in a process of its own, with settings of its own."""
    return run_python("-m", "nrsfm_gui", *arguments, env=environment_of(folder))


@pytest.mark.slow
def test_a_script_runs_saves_and_leaves(tmp_path):
    picture, table, result = (tmp_path / name for name in ("window.png", "table.csv", "result.npz"))
    small = write_challenge(tmp_path, "stretch", paths=["circle"], frames=12, points=24)
    done = run_application(
        small, "--rank", "2", "--starts", "1", "--objective", "wnn", "--run",
        "--screenshot", picture, "--export", table, "--export", result,
        "--exit", "--window-size", "1000x700", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (QImage(str(picture)).width(), QImage(str(picture)).height()) == (1000, 700)
    assert load_result(result).loss > 0
    assert table.read_text().count("\n") == 1 + 12 * 24
    done = run_application(str(result), "--export", str(tmp_path / "shape.ply"), "--exit", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"element vertex 24" in (tmp_path / "shape.ply").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("/no/such/file.mat", "--run"), "/no/such/file.mat"),
        (("--screenshot", "/no/such/folder/a.png"), "/no/such/folder does not exist"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (("--export", "shape.ply"), "shape.ply is not written: there is no reconstruction yet"),
                (("--export", "a.doc"), "has the suffix '.doc'; accepted are .npz"),
                (("--run", "--method", "bmm"), "nrsfm-gui: BMM is for orthogonal cameras"),
            )
        ),
    ],
)
def test_what_fails_in_a_script_is_one_sentence_and_code_2(run_script, capsys, arguments, words):
    assert run_script(*arguments) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("opened", ["result.npz", "work.nrsfm"])
def test_parameters_of_the_command_line_go_before_those_of_what_it_opens(run_script, tmp_path, opened):
    sequence = simulate("balloon", frames=14, points=16, seed=3)
    before = Settings(rank=2, starts=1, rotations="truth", objective="wnn")
    run = Run(1, sequence, before, state=RunState.FINISHED)
    for state in iterate(sequence, before):
        run.history.extend([state.record])
        run.last = state
    path, made = tmp_path / opened, tmp_path / "made.npz"
    if path.suffix == ".npz":
        save_result(finish(sequence, before, run.last, run.history.records), path)
    else:
        write_session(SavedSession((OpenSequence(sequence, before, [run.as_stored()], run),)), path)
    words = ("--rank", "3", "--starts", "1", "--objective", "wnn", "--run", "--export", str(made))
    assert run_script(str(path), *words) == 0
    result = load_result(made)
    assert result.rank == result.meta["settings"]["rank"] == 3


def test_the_environment_goes_before_the_preferred_size_and_later_programs_keep_theirs():
    environment = {}
    with enlarged(environment, 125):
        assert environment == {"QT_SCALE_FACTOR": "1.25"}
    assert environment == {}
    environment = {"QT_SCALE_FACTOR": "1"}
    with enlarged(environment, 125):
        assert environment == {"QT_SCALE_FACTOR": "1"}


@pytest.mark.slow
def test_the_sample_is_painted_by_opengl_as_large_as_preferred(tmp_path):
    kept = tmp_path / "config" / ORGANIZATION / f"{APPLICATION}.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"size": 150}')
    picture = tmp_path / "window.png"
    done = run_application(
        "sample:stretch/circle", "--screenshot", str(picture), "--exit", "--renderer", "opengl",
        "--theme", "dark", "--window-size", "1200x800", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    image = QImage(str(picture))
    assert image.width() == 1800
    middle = [image.pixelColor(x, y) for x in range(450, 1350, 4) for y in range(150, 570, 4)]
    gray = [color for color in middle if color.lightness() > 110 and color.saturation() < 60]
    assert len(gray) > 500  # the ground truth, which is lit
