"""What the window never writes over: its inputs, devices, pipes, folders, read-only files."""

import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtGui import QImage

import core
from core import Settings, load_result, read_sequence, simulate, write_challenge, write_npz
from core.io.writers import numbered
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.export.movie_files import FORMATS

QUICK = Settings(rank=2, rotations="truth", starts=1, objective="wnn", max_iterations=20)
MOVIE = MovieOptions(width=64, height=64, last=1)
unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other devices and links")

WRITES = {
    "result .npz": lambda window, path: window.export_controller.save_reconstruction(path),
    "table .csv": lambda window, path: window.export_controller.save_reconstruction(path),
    "shape .ply": lambda window, path: window.export_controller.save_reconstruction(path),
    "page .html": lambda window, path: window.export_controller.save_result(path),
    "picture .png": lambda window, path: window.export_controller.save_view(path),
    "sized picture .png": lambda window, path: window.export_controller.save_sized_picture(path, MOVIE),
    "figure .pdf": lambda window, path: window.export_controller.save_figure("loss", path),
    "figure .png": lambda window, path: window.export_controller.save_figure("loss", path),
    "report .html": lambda window, path: window.export_controller.save_report(path),
    "movie .gif": lambda window, path: window.export_controller.save_movie(path, MOVIE),
    "movie .mp4": lambda window, path: window.export_controller.save_movie(path, MOVIE),
    "pictures .png": lambda window, path: window.export_controller.save_movie(path, MOVIE),
    "session .nrsfm": lambda window, path: window.session_saver.save_to(path),
    "log .txt": lambda window, path: window.log_controller.save(path),
}
BRIEF = ("result .npz", "picture .png", "figure .pdf", "movie .gif", "session .nrsfm")  # of each way one


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("input") / "input.npz"
    write_npz(simulate("balloon", frames=6, points=16, seed=3), path)
    return path


@pytest.fixture
def opened(open_and_solve, source):
    """A window with that file, solved."""
    return open_and_solve(QUICK, lambda window: window.sequence_opening.open(source))


@pytest.fixture(scope="module")
def shared(make_shared_window, add_solved_run, source):
    """The same for tests that read it."""
    window = make_shared_window()
    add_solved_run(window.session, read_sequence(source), QUICK)
    window.display.finish()
    return window


@pytest.fixture
def refusal_of(qtbot):
    """Return what lets a window write to a path, and returns the sentence that refuses it."""

    def refused(window, write, path):
        sentences = []
        window.session.notifier.failed.connect(sentences.append)
        write(window, path)
        qtbot.waitUntil(lambda: bool(sentences))
        qtbot.waitUntil(lambda: not (window.export_controller.busy or window.session_saver.busy))
        window.session.notifier.failed.disconnect(sentences.append)
        return sentences[0]

    return refused


@unix
@pytest.mark.parametrize(
    "what", [each if each in BRIEF else pytest.param(each, marks=pytest.mark.slow) for each in WRITES]
)
def test_nothing_is_written_over_what_must_stay(shared, source, refusal_of, tmp_path, what):
    window = shared
    before, suffix = source.read_bytes(), what.split()[-1]
    if what.startswith("movie") and FORMATS[suffix].missing:
        pytest.skip(FORMATS[suffix].missing)
    open_file = "is a file of what is open, which would be overwritten"
    kept = "the content of another file"
    occupied = {
        "link": (lambda path: path.symlink_to(source), open_file),
        "second": (lambda path: os.link(source, path), open_file),
        "device": (lambda path: path.symlink_to("/dev/null"), "is a device"),
        "pipe": (os.mkfifo, "is a pipe"),
        "folder": (Path.mkdir, "is a folder"),
        "kept": (lambda path: (path.write_text(kept), path.chmod(0o444)), "the file is read-only"),
    }
    (tmp_path / "there").mkdir()
    paths = {}
    for name, (occupy, sentence) in occupied.items():
        asked = tmp_path / "there" / f"{name}{suffix}"
        paths[name] = numbered(asked, 0) if what.startswith("pictures") else asked  # which is then written
        occupy(paths[name])
        assert sentence in refusal_of(window, WRITES[what], asked)
    assert source.read_bytes() == paths["second"].read_bytes() == before
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and paths["pipe"].is_fifo() and paths["folder"].is_dir()
    assert paths["kept"].read_text() == kept
    assert set((tmp_path / "there").iterdir()) == set(paths.values())


def test_every_file_that_a_sequence_consists_of_stays(qtbot, make_window, refusal_of, tmp_path):
    root = write_challenge(tmp_path, "stretch", paths=["circle"], frames=6, points=24)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for index in range(6):
        image = QImage(64, 48, QImage.Format.Format_RGB32)
        image.fill(0)
        assert image.save(str(numbered(pictures / "back.png", index)))
    rotations = tmp_path / "rotations.npz"
    np.savez(rotations, R=np.tile(np.eye(3), (6, 1, 1)))
    window = make_window(settings=QUICK)
    window.session.set_live(False)
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(root)
    window.session.set_settings(QUICK.with_changes(rotations=rotations))
    window.background_controller.open(numbered(pictures / "back.png", 0))
    of_background = {numbered(pictures / "back.png", index).absolute() for index in range(6)}
    qtbot.waitUntil(lambda: of_background <= set(window.session.inputs()))
    texts = {path.absolute() for path in Path(root).rglob("*.txt")}
    assert texts and {path for path in texts if path.name == "edges.txt"} <= set(window.session.inputs())
    assert window.session.inputs()[rotations] == "the file of the rotations"
    movie = MovieOptions(width=64, height=64, last=5)
    refused = refusal_of(window, lambda window, path: window.export_controller.save_movie(path, movie),
                         pictures / "back.png")  # fmt: skip
    assert "back_0001.png is a file of what is open" in refused


def test_a_session_is_saved_where_it_was_opened_and_no_result_replaced(qtbot, opened, refusal_of, tmp_path):
    window = opened
    path, result = tmp_path / "work.nrsfm", tmp_path / "result.npz"
    window.session_saver.save_to(path)
    for _ in range(2):  # a result that is not open is replaced
        with qtbot.waitSignal(window.export_controller.saved):
            window.export_controller.save_reconstruction(result)
        qtbot.waitUntil(lambda: not window.export_controller.busy and path.exists())
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(path)
    window.session.change_run(window.session.runs[0], title="again")
    before = path.read_bytes()
    window.session_saver.save()
    qtbot.waitUntil(lambda: path.read_bytes() != before)
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(result)
    before = result.read_bytes()
    assert "is a file of what is open" in refusal_of(window, WRITES["result .npz"], result)
    assert result.read_bytes() == before


@pytest.mark.slow
def test_a_script_refuses_its_input_as_output_at_once(run_script, source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = source.read_bytes()
    for words, sentence in (
        (("--export", str(source)), f"--export {source} is a file of what is open"),
        (("--export", "a.csv", "--export", "./a.csv"), "is another output (--export)"),
        (("--export", "a.csv", "--screenshot", "a.csv"), "is another output (--export)"),
    ):
        assert run_script(str(source), "--run", *words) == 2
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "a.csv").exists()
    assert source.read_bytes() == before


@pytest.mark.slow
def test_a_script_draws_figures_and_movies_by_the_names_of_their_files(run_script, source, tmp_path, capsys):
    core.reconstruct(read_sequence(source), QUICK).save(tmp_path / "result.npz")
    begins = {"errors.heat.pdf": b"%PDF-", "tracks.2d.gif": b"GIF89a"}
    exports = [word for name in begins for word in ("--export", str(tmp_path / name))]
    assert run_script(str(tmp_path / "result.npz"), *exports) == 0, capsys.readouterr().err
    for name, begin in begins.items():
        assert (tmp_path / name).read_bytes().startswith(begin)


@pytest.mark.slow
def test_window_and_command_line_export_the_same_upright_shape_also_after_the_session_is_opened(
    qtbot, opened, make_window, tmp_path, saved_to
):
    from core.cli import main

    window = opened
    window.scene_view.set_axis_preset("side")
    window.toolbars.actions["this_is_up"].trigger()
    window.scene_view.set_axis_preset("top")
    window.toolbars.actions["this_is_up"].trigger()
    window.toolbars.actions["this_is_front"].trigger()
    rule = window.session.settings.upright
    saved = saved_to(window, tmp_path / "said.nrsfm")
    again = make_window()
    with qtbot.waitSignal(again.sequence_opening.shown):
        again.sequence_opening.open(saved)
    assert again.session.settings.upright == rule
    for name, each in (("first", window), ("again", again)):
        for suffix in (".npz", ".ply", ".usda"):
            each.export_controller.save_result(tmp_path / f"{name}{suffix}")
        qtbot.waitUntil(lambda each=each: not each.export_controller.busy)
    assert load_result(tmp_path / "first.npz").meta["upright"] == rule
    for suffix in (".ply", ".usda"):
        told = tmp_path / f"told{suffix}"
        assert main(["export", str(tmp_path / "first.npz"), "-o", str(told)]) == 0
        expected = (tmp_path / f"first{suffix}").read_bytes()
        assert told.read_bytes() == expected and (tmp_path / f"again{suffix}").read_bytes() == expected
    plain = tmp_path / "plain.ply"
    stood = load_result(tmp_path / "first.npz")
    replace(stood, meta=stood.meta | {"upright": "up=0,-1,0"}).export(plain)
    assert plain.read_bytes() != (tmp_path / "first.ply").read_bytes()
