"""Results and sessions that commit a4c4b43 saved open with the numbers that they were saved with.

`tests/fixtures/a4c4b43` holds them, with the script that made them and what that commit read in them.
"""

from __future__ import annotations

import ast
import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core import command_for, finish, iterate, load_result, load_start, python_for, read_sequence
from core.cli import parser, steps_from
from core.evaluation import errors_of
from core.reconstruction import settings_from_dict, settings_to_dict, steps_from_list
from nrsfm_gui.sessions.opening import is_result, read_opened_result
from nrsfm_gui.sessions.session_file import read_session, write_session

FOLDER = Path(__file__).parents[2] / "fixtures" / "a4c4b43"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
SAME = 1e-12  # relative
LATER_METRIC = "reprojection_px_metric"  # earlier programs did not measure it
LATER = {
    **{"refine": "none", "noise": None, "isometry": 0.3, "neighbors": 8, "mirror": None},
    **{"hide": None, "camera_model": "auto", "scale": None},
    **{"loss": "squared", "loss_scale": None},
}


def assert_same(found, expected, where=""):
    """Compare values as JSON holds them: numbers to twelve digits, lists of numbers by their largest."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name, value in expected.items():
            assert_same(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list) and expected and all(isinstance(value, float) for value in expected):
        assert np.shape(found) == np.shape(expected), where
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=SAME * max(map(abs, expected)), err_msg=where
        )
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for index, value in enumerate(expected):
            assert_same(found[index], value, f"{where}[{index}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=SAME), where
    else:
        assert found == expected, where


def moments(array):
    """Return the norm of an array, and a sum in which every place has a weight of its own."""
    flat = np.asarray(array, dtype=float).ravel()
    return [float(np.linalg.norm(flat)), float(flat @ np.cos(np.arange(flat.size)))]


def numbers_of(result):
    return {
        "loss": result.loss,
        "errors": {name: value for name, value in errors_of(result).items() if name != LATER_METRIC},
        "eta": result.eta,
        "weights": result.weights.tolist(),
        "singular_values": result.singular_values.tolist(),
        "iterations": result.iterations,
        "seconds": result.seconds,
        "camera": result.camera.value,
        "shape": [result.frame_count, result.point_count, result.rank],
        "points": moments(result.points),
        "rotations": moments(result.rotations),
        "translations": moments(result.translations),
        "tracks": moments(result.tracks),
        "visible": int(result.visible.sum()),
        "edges": None if result.edges is None else int(np.sum(result.edges)),
        "faces": None if result.faces is None else int(np.sum(result.faces)),
        "truth": None if result.truth is None else moments(result.truth.points),
    }


def plain(settings):
    """Return settings as JSON keeps them, without those that came later: nothing was refined then."""
    known = json.loads(json.dumps(settings_to_dict(settings)))
    assert {name: known.pop(name) for name in LATER} == LATER
    return known


def plain_recipe(recipe):
    if recipe is None:
        return None
    steps = [{"settings": plain(step.settings), "updates": step.iterates} for step in recipe.steps]
    return {"start": None if recipe.start is None else str(recipe.start), "steps": steps}


def numbers_of_run(sequence, run):
    numbers = {
        "number": run.number,
        "title": run.title,
        "note": run.note,
        "pinned": run.pinned,
        "state": run.state.value,
        "message": run.message,
        "warm_from": run.warm_from,
        "shown_before": run.shown_before,
        "settings": plain(run.settings),
        "records": len(run.records),
        "losses": [run.records[0].loss, run.records[-1].loss],
        "phases": sorted({record.phase for record in run.records}),
        "ticks": [
            [tick.first, tick.text, tick.restarts, tick.before and plain(tick.before)] for tick in run.ticks
        ],
    }
    state = run.iterate
    numbers["update"] = {
        "phase": state.phase,
        "status": state.status.value,
        "rotations": state.rotations,
        "settings": plain(state.settings),
        "current": state.current.loss,
        "starts": [start.name for start in state.starts],
        "result": numbers_of(finish(sequence, state.settings, state, run.records)),
        "recipe": plain_recipe(state.provenance and state.provenance.flatten()),
    }
    return numbers


def assert_run_is(sequence, run, expected):
    """Compare a run; its command and program are those of today, and must lead to the same steps."""
    expected = expected | {"update": dict(expected["update"])}
    steps = recorded_steps(expected["update"])
    assert unrefined(steps_of_command(expected["update"].pop("command"))) == steps
    assert steps_of_command(command_for(sequence, run.iterate.provenance.flatten())) == steps
    assert ast.parse(expected["update"].pop("python"))
    assert steps_of_program(python_for(sequence, run.iterate.provenance.flatten())) == steps
    assert_same(numbers_of_run(sequence, run), expected, f"run {run.number}")


def unrefined(steps):
    """Return steps of a command that a4c4b43 printed, whose defaults had no refinement."""
    return tuple(replace(step, settings=step.settings.with_changes(refine="none")) for step in steps)


def recorded_steps(state):
    return steps_from_list(state["recipe"]["steps"])


def steps_of_command(text):
    words = shlex.split(text, comments=True)
    return steps_from(parser().parse_args(words[1:]))


def steps_of_program(text):
    """Return the steps that a program would solve, read from its imports and settings, not run."""
    names, values = {}, {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            assert node.module == "core"
            names |= {alias.name: getattr(core, alias.name) for alias in node.names}
        elif isinstance(node, ast.Assign) and node.targets[0].id in ("settings", "steps"):
            values[node.targets[0].id] = value_of(node.value, names)
    if "steps" in values:
        return tuple(values["steps"])
    settings = values["settings"]
    return (names["SolveStep"](settings),) if "SolveStep" in names else step_of(settings)


def value_of(node, names):
    """Return the value of an expression of constants, lists, tuples and calls of imported names of core."""
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(value_of(each, names) for each in node.elts)
    if isinstance(node, ast.UnaryOp):
        assert isinstance(node.op, ast.USub)
        return -value_of(node.operand, names)
    if not isinstance(node, ast.Call):
        assert isinstance(node, ast.Constant)
        return node.value
    keywords = {each.arg: value_of(each.value, names) for each in node.keywords}
    if isinstance(node.func, ast.Attribute):  # PRESETS["paper"].with_changes(...)
        table = node.func.value
        assert (table.value.id, node.func.attr) == ("PRESETS", "with_changes")
        return names["PRESETS"][table.slice.value].with_changes(**keywords)
    return names[node.func.id](*(value_of(each, names) for each in node.args), **keywords)


def step_of(settings):
    return steps_from_list([{"settings": plain(settings), "updates": None}])


@pytest.mark.parametrize("name", EXPECTED["sequences"])
def test_a_sequence_is_known_by_the_same_hashes(name):
    sequence = read_sequence(FOLDER / name)
    expected = EXPECTED["sequences"][name]
    assert {"digest": sequence.digest, "content": sequence.content, "name": sequence.name} == expected


@pytest.mark.parametrize("name", EXPECTED["results"])
def test_a_result_holds_the_same_numbers(name):
    expected = dict(EXPECTED["results"][name])
    opened, recipe, meta = (expected.pop(key) for key in ("opened", "recipe", "meta"))
    path = FOLDER / f"{name}.npz"
    result = load_result(path)
    assert_same(numbers_of(result), expected)
    assert result.meta == meta
    assert is_result(path)
    read = read_opened_result(path)
    opened["update"]["starts"] = [start["name"] for start in meta["starts"]]  # earlier programs left them out
    assert_same(plain_recipe(read.run.iterate.provenance.flatten()), recipe)
    if recipe is None:  # a run that was stopped says no steps
        assert meta["status"] == "stopped"
        opened["update"] = {
            key: value for key, value in opened["update"].items() if key not in ("command", "python")
        }
        assert_same(numbers_of_run(read.sequence, read.run), opened)
    else:
        assert_run_is(read.sequence, read.run, opened)
    assert plain(settings_from_dict(meta["settings"])) == meta["settings"]
    assert unrefined(steps_of_command(meta["command"]))[-1].settings == settings_from_dict(meta["settings"])


@pytest.mark.parametrize("name", ["truth_and_faces", "low_rank", "steered"])
def test_a_result_can_be_continued(name):
    sequence = read_sequence(FOLDER / "balloon.npz")
    start = load_start(FOLDER / f"{name}.npz", sequence)
    first, *_, last = iterate(sequence, start.settings, start=start)
    assert first.record.loss <= start.record.loss * (1 + 1e-3)  # bases of no weight are begun anew
    assert last.best.loss <= start.best.loss * (1 + 1e-9)


@pytest.mark.parametrize("name", EXPECTED["sessions"])
def test_a_session_holds_the_same_runs(name, tmp_path):
    expected = EXPECTED["sessions"][name]
    saved = read_session(FOLDER / name)
    assert_session_is(saved, expected)
    for file in ("balloon.npz", "orthogonal.npz"):  # tracks that a session leaves out are beside it
        shutil.copy(FOLDER / file, tmp_path)
    assert_session_is(read_session(write_session(saved, tmp_path / name)), expected)


def assert_session_is(saved, expected):
    assert (saved.current, str(saved.file)) == (expected["current"], expected["file"])
    assert plain(saved.settings) == expected["settings"]
    assert_same(saved.view, expected["view"])
    assert len(saved.sequences) == len(expected["sequences"])
    for each, wanted in zip(saved.sequences, expected["sequences"], strict=True):
        sequence = each.sequence
        assert (sequence.name, each.shown) == (wanted["name"], wanted["shown"])
        assert sequence.content == wanted["content"]
        for run, numbers in zip(each.runs, wanted["runs"], strict=True):
            assert_run_is(sequence, run, numbers)


def test_a_session_keeps_its_tracks_or_finds_them_next_to_it(tmp_path):
    paths = [shutil.copy(FOLDER / name, tmp_path) for name in ("inside.nrsfm", "outside.nrsfm")]
    assert "is not there any more" in read_session(Path(paths[0])).sequences[0].change
    with pytest.raises(ValueError, match="contains no copy of the tracks"):
        read_session(Path(paths[1]))
    for file in ("balloon.npz", "orthogonal.npz"):
        shutil.copy(FOLDER / file, tmp_path)
    sources = [each.sequence.source for each in read_session(Path(paths[1])).sequences]
    assert sources == [tmp_path / "orthogonal.npz", tmp_path / "balloon.npz"]


def test_a_session_is_shown_as_it_was(qtbot, make_session_window, opened):
    expected = EXPECTED["sessions"]["inside.nrsfm"]
    view, (balloon, paper) = expected["view"], expected["sequences"]
    window = make_session_window()
    opened(qtbot, window, FOLDER / "inside.nrsfm")
    session = window.session
    assert session.sequence.name == balloon["name"]
    assert [run.number for run in session.runs] == [run["number"] for run in balloon["runs"]]
    assert [run.title for run in session.runs] == [run["title"] for run in balloon["runs"]]
    assert (session.shown.number, session.shown.pinned) == (1, True)
    assert session.frame == view["frame"]
    assert list(session.frame_range) == view["frame_range"]
    assert list(session.selection) == view["selection"] and session.point == view["point"]
    assert sorted(session.hidden) == view["hidden"]
    assert session.alignment.key == view["alignment"]
    assert session.theme.name == view["theme"]
    assert plain(session.settings) == expected["settings"]
    assert plain(window.parameters_panel.settings) == expected["settings"]
    orbit = window.scene_view.orbit
    assert orbit.azimuth == view["orbit"]["azimuth"] and orbit.orthographic
    (other,) = [runs for sequence, runs, _shown in session.everything() if sequence.name == paper["name"]]
    assert [run.last.best.loss for run in other] == pytest.approx(
        [run["update"]["result"]["loss"] for run in paper["runs"]], rel=SAME
    )


@pytest.mark.parametrize("name", ["recommended", "orthogonal_bmm", "low_rank"])
def test_a_result_is_shown_as_one_more_run(qtbot, make_session_window, opened, name):
    window = make_session_window()
    opened(qtbot, window, FOLDER / f"{name}.npz")
    (run,) = window.session.runs
    assert run.title == f"opened: {name}"
    assert run.last.best.loss == EXPECTED["results"][name]["loss"]
