"""The one dialog for all exports: what it offers, refuses and asks for, and that it gets written."""

from dataclasses import replace
from pathlib import Path

import pytest
from hands import choose

from core import WRITERS, Alignment, CameraModel, load_result, simulate
from core.evaluation import Kind
from core.io.writers import KINDS as WRITER_KINDS
from nrsfm_gui.export import export_controller
from nrsfm_gui.export.export_dialog import ExportDialog
from nrsfm_gui.export.export_request import KINDS, ExportContext, context_of
from nrsfm_gui.export.movie_files import FORMATS


@pytest.fixture
def context(tmp_path):
    return ExportContext(
        name="paper-circle",
        folder=str(tmp_path),
        frame=2,
        frames=(1, 4),
        frame_count=6,
        truth=True,
        video=True,
        align="truth",
        reconstruction=True,
    )


@pytest.fixture
def dialog(qtbot, context):
    dialog = ExportDialog()
    qtbot.addWidget(dialog)
    dialog.set_context(context)
    dialog.show()
    return dialog


def rows(dialog):
    return {name for name in dialog.form.names if not dialog.findChild(object, name).isHidden()}


def type_path(dialog, text):
    dialog.form.path.line.setText(text)
    dialog.form.path.line.textEdited.emit(text)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_shows_its_rows_and_proposes_a_file(dialog, context, kind):
    dialog.choose(kind)
    assert {"what", "format", "path"} <= rows(dialog) <= {"what", "format", "path", *KINDS[kind].rows}
    path = dialog.request().path
    assert path.parent == Path(context.folder) and path.name.startswith("paper-circle")
    for suffix in KINDS[kind].formats:
        choose(dialog.form.format, suffix)
        assert dialog.request().path.name.endswith(suffix)
    assert dialog._export.isEnabled() or dialog.form.note("format")


def test_rows_are_options_that_the_formats_heed(dialog):
    for key, kind in KINDS.items():
        dialog.choose(key)
        for suffix in kind.formats:
            if suffix in WRITERS:
                choose(dialog.form.format, suffix)
                shown = rows(dialog) - {"what", "format", "path"}
                heeded = WRITERS[suffix].options
                assert shown <= heeded and set(dialog.request().options) <= heeded, suffix
                known = set(kind.rows) & heeded - ({"mirror"} if dialog.form.align.key == "none" else set())
                assert shown == known, suffix


def test_every_editor_has_a_tip_and_a_name(dialog):
    for name in dialog.form.names:
        editor = dialog.findChild(object, name)
        assert editor.toolTip() and editor.accessibleName(), name


def test_shapes_are_asked_for_with_their_options(dialog):
    dialog.choose("shapes")
    options = dialog.request().options
    assert options.pop("align") == "truth" and options.pop("coordinates") == "upright"
    assert options == {"mirror": False, "frames": "numbered", "frame": None, "text": False}
    dialog.form.frames.set_key("one")
    assert dialog.request().options["frame"] == 2
    dialog.form.frames.set_key("stacked")
    choose(dialog.form.format, ".obj")
    assert dialog.request().options["frames"] == "numbered"  # OBJ cannot tell frames apart
    assert dialog.request().options["frame"] is None


def test_a_movie_uses_the_loop_range_and_a_turntable(dialog):
    dialog.choose("movie")
    choose(dialog.form.turning, "once")
    movie = dialog.request().movie
    assert (movie.first, movie.last, movie.one_turn, movie.turn) == (1, 4, True, 0.0)
    choose(dialog.form.turning, "speed")
    dialog.form.speed.setText("-45")
    assert dialog.request().movie.turn == -45.0 and "speed" in rows(dialog)
    choose(dialog.form.view, "2d")
    assert dialog.request().movie.turn == 0.0 and not {"speed", "turning"} & rows(dialog)
    dialog.form.range.set_values((3, 3))
    assert "seconds" in rows(dialog) and dialog.request().movie.count == 90


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("fps", "0", "Fps must be above 0."),
        ("fps", "fast", "'fast' is not a number"),
        ("fps", "900", "Fps is 900; accepted are numbers above 0, up to 240."),
    ],
)
def test_what_is_refused_is_reported_below_its_field(dialog, field, text, sentence):
    dialog.choose("movie")
    choose(dialog.form.format, ".png")
    dialog.form.fps.setText(text)
    assert sentence in dialog.form.note(field) and not dialog._export.isEnabled()
    dialog.form.fps.setText("25")
    assert not dialog.form.note(field) and dialog._export.isEnabled()


def test_frames_and_sizes_outside_are_refused(dialog):
    dialog.choose("movie")
    dialog.form.range.set_values((2, 9))
    assert "There are frames 1 to 6" in dialog.form.note("range")
    dialog.form.range.set_values((2, 6))
    dialog.form.size_field.set_values((20, 400))
    assert "Width is 20; accepted are 64 to 7680 pixels" in dialog.form.note("size")


def test_a_file_is_checked_before_it_is_written(dialog, tmp_path):
    dialog.choose("result")
    type_path(dialog, "")
    assert dialog.form.note("path") == "Give a file."
    type_path(dialog, str(tmp_path / "gone" / "a.npz"))
    assert "There is no folder" in dialog.form.note("path") and not dialog._export.isEnabled()
    type_path(dialog, str(tmp_path / ("long" * 100) / "a.npz"))  # the system refuses to look for it
    assert "There is no folder" in dialog.form.note("path")
    (tmp_path / "b.npz").write_text("x")
    type_path(dialog, str(tmp_path / "b.npz"))
    assert "is replaced" in dialog._note.text() and dialog._export.isEnabled()


def test_a_typed_name_keeps_its_stem_when_the_format_changes(dialog, tmp_path):
    dialog.choose("table")
    type_path(dialog, str(tmp_path / "mine.trajectories.csv"))
    choose(dialog.form.format, ".csv")
    assert dialog.request().path == tmp_path / "mine.csv"


def test_what_is_not_there_is_grayed_out(dialog, context):
    missing = {".mp4": "MP4 movie needs PyAV"}
    dialog.set_context(replace(context, truth=False, reconstruction=False, missing=missing))
    assert dialog.form.what.key == "movie" and dialog.form.align.key == "none"
    model = dialog.form.what.model()
    possible = {key: model.item(dialog.form.what.findData(key)).isEnabled() for key in KINDS}
    assert {key for key, enabled in possible.items() if enabled} == {"movie", "picture", "figure"}
    assert dialog.form.note("format") == missing[".mp4"] and not dialog._export.isEnabled()


def test_shapes_are_laid_over_the_truth_as_in_the_views(parts):
    session, exporting = parts.session, parts.export_controller
    session.set_sequence(simulate("paper", frames=6, points=20, seed=2, camera=CameraModel.ORTHOGONAL))
    assert context_of(session, Path()).mirror  # tracks of orthogonal cameras tell no depth from its mirror
    session.set_alignment(Alignment(Kind.SEQUENCE))
    context = context_of(session, Path())
    assert (context.align, context.mirror) == ("sequence", False)
    session.set_alignment(Alignment(Kind.NONE))
    assert context_of(session, Path()).align == "none"
    exporting.ask()
    exporting._dialog.choose("scene")
    assert exporting._dialog.request().options["align"] == "none"


def test_the_dialog_says_that_an_earlier_iteration_is_exported(solved):
    session, exporting = solved.session, solved.export_controller
    newest = session.shown.last.iteration
    exporting.ask()
    assert "which is shown" not in exporting._dialog._note.text()
    session.set_moment(0)
    exporting.ask()
    earlier = f"Of iteration {session.seen.iteration} of {newest}, which is shown"
    assert earlier in exporting._dialog._note.text()
    assert session.seen.iteration < newest


def test_every_kind_of_format_has_a_line_in_the_menu(solved, press_action):
    for kind in (*WRITER_KINDS, "movie", "report"):
        press_action(solved, f"export_{kind}")
        dialog = solved.export_controller._dialog
        assert dialog.isVisible() and dialog.form.what.key == kind
        if kind in WRITER_KINDS:
            listed = {dialog.form.format.itemData(index) for index in range(dialog.form.format.count())}
            assert listed == {suffix for suffix, writer in WRITERS.items() if writer.kind == kind}
        dialog.close()


def test_colors_and_the_frame_rate_are_those_that_the_sequence_has(dialog, context):
    dialog.choose("scene")
    model = dialog.form.color.model()

    def possible():
        keys = ("plain", "std", "error")
        return {key for key in keys if model.item(dialog.form.color.findData(key)).isEnabled()}

    assert possible() == {"plain", "error"}
    dialog.form.color.set_key("error")
    assert dialog.request().options["color"] == "error" and dialog.request().options["fps"] == 15.0
    dialog.set_context(replace(context, name="other", truth=False, std=True, fps=29.97))
    assert possible() == {"plain", "std"} and dialog.request().options["color"] == "plain"
    assert dialog.request().options["fps"] == 29.97


def test_what_was_written_can_be_opened(qtbot, solved, tmp_path, monkeypatch):
    opened, works = [], [True]
    monkeypatch.setattr(
        export_controller.QDesktopServices,
        "openUrl",
        lambda url: opened.append(Path(url.toLocalFile())) or works[0],
    )
    exporting = solved.export_controller
    for name, buttons in (("a.usda", ["Open folder"]), ("a.html", ["Open page", "Open folder"])):
        with qtbot.waitSignal(exporting.reported) as reported:
            exporting.save_result(tmp_path / name)
        sentence, actions = reported.args
        assert sentence == f"Saved {tmp_path / name}" and [text for text, _open in actions] == buttons
        for _text, callback in actions:
            callback()
    assert opened == [tmp_path, tmp_path / "a.html", tmp_path]
    works[0] = False
    with qtbot.waitSignal(exporting.failed) as failed:
        actions[-1][1]()
    assert failed.args == [f"No program was found that opens {tmp_path}", ""]
    with qtbot.waitSignal(exporting.reported) as reported:
        exporting.copy_command()
    assert reported.args[1] == ()


def test_choices_last_while_the_application_runs(parts, press_action):
    press_action(parts, "export")
    dialog = parts.export_controller._dialog
    assert dialog.isVisible() and not dialog.isModal()
    dialog.choose("picture")
    dialog.close()
    press_action(parts, "export")
    assert parts.export_controller._dialog is dialog and dialog.form.what.key == "picture"


def test_every_kind_is_written(qtbot, solved, press_action, tmp_path):
    press_action(solved, "export")
    dialog = solved.export_controller._dialog
    folder = tmp_path / "all"
    folder.mkdir()
    for kind in KINDS:
        for suffix in KINDS[kind].formats:
            if suffix in FORMATS and FORMATS[suffix].missing:
                continue
            dialog.choose(kind)
            choose(dialog.form.format, suffix)
            dialog.form.size_field.set_values((200, 120))
            dialog.form.frames.set_key("one")
            type_path(dialog, str(folder / f"{kind}{suffix}"))
            assert dialog._export.isEnabled(), dialog.form.note("path")
            with qtbot.waitSignal(solved.export_controller.saved):
                dialog._export.click()
            written = folder / (
                f"{kind}_0001.png" if (kind, suffix) == ("movie", ".png") else f"{kind}{suffix}"
            )
            assert written.stat().st_size > 200
    assert load_result(folder / "result.npz").loss == solved.session.shown.last.best.loss


def test_buttons_stay_where_they_are_whatever_is_chosen(qtbot, dialog):
    dialog.resize(dialog.minimumSizeHint())
    places = set()
    for kind in KINDS:
        dialog.choose(kind)
        qtbot.wait(5)
        places.add((dialog.size().height(), dialog._export.mapTo(dialog, dialog._export.pos()).y()))
    assert len(places) == 1


def test_fields_of_a_movie_end_below_each_other(qtbot, dialog):
    dialog.choose("movie")
    qtbot.wait(5)
    form = dialog.form
    ends = {
        part.mapTo(form, part.rect().topRight()).x()
        for part in (form.what, form.range.second, form.size_field.second, form.fps)
    }
    assert len(ends) == 1
