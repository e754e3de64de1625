"""Movies of the views: what is in the files, what the views do meanwhile, and what goes wrong."""

import itertools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hands import button_of, files_of_at_most
from PyQt6.QtCore import QCoreApplication, QEvent, QPoint
from PyQt6.QtGui import QColor, QImage
from PyQt6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from core import InputError
from nrsfm_gui.export import movie_files
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.export.movie import ScenePainter, WindowPainter, fitted
from nrsfm_gui.export.movie_files import FORMATS, format_for, pixels
from nrsfm_gui.export.tasks import Task, TaskBar, TaskRow, progress_text
from nrsfm_gui.widgets.banners import Banners, MessageBar, Urgency
from nrsfm_gui.widgets.fields import filled
from nrsfm_gui.widgets.labels import ElidedLabel


@pytest.fixture
def folder(tmp_path):
    """A folder that nothing else writes to."""
    where = tmp_path / "exported"
    where.mkdir()
    return where


def bars(count, width=64, height=48):
    """Yield pictures with a bright column that moves by ten pixels each time."""
    for index in range(count):
        image = QImage(width, height, QImage.Format.Format_RGB32)
        image.fill(QColor("#203040"))
        for x, y in itertools.product(range(10 * index, 10 * index + 10), range(height)):
            image.setPixelColor(x, y, QColor("#f0c060"))
        yield image


def column(picture):
    """Return the tenth of the width in which the bright column is."""
    bright = np.asarray(picture, dtype=float)[..., 0].mean(axis=0) > 150
    return int(np.flatnonzero(bright).mean() // 10)


def frames_of(path):
    """Return the frames of a movie file and its frames per second, read by another library."""
    if path.suffix == ".gif":
        frames = []
        with pytest.importorskip("PIL.Image").open(path) as image:
            duration = image.info["duration"]
            for index in range(image.n_frames):
                image.seek(index)
                frames.append(np.asarray(image.convert("RGB")))
        return frames, 1000 / duration
    av = pytest.importorskip("av")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert stream.pix_fmt == "yuv420p"
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)], float(
            stream.average_rate
        )


def test_pixels_are_those_of_the_picture():
    image = QImage(5, 3, QImage.Format.Format_ARGB32)  # rows are padded to whole words
    image.fill(QColor(10, 20, 30))
    image.setPixelColor(4, 2, QColor(200, 100, 50))
    got = pixels(image)
    assert (
        got.shape == (3, 5, 3) and got[2, 4].tolist() == [200, 100, 50] and got[0, 0].tolist() == [10, 20, 30]
    )


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_movie_holds_the_pictures_in_their_order_and_speed(folder, suffix):
    made = FORMATS[suffix]
    if made.missing:
        pytest.skip(made.missing)
    path = folder / f"movie{suffix}"
    assert made.write(path, bars(6), 10.0) == [path]
    frames, fps = frames_of(path)
    assert len(frames) == 6 and frames[0].shape == (48, 64, 3)
    assert [column(frame) for frame in frames] == list(range(6))
    assert fps == pytest.approx(10.0)
    assert list(folder.iterdir()) == [path]
    assert made.size(961, 539) == ((962, 540) if suffix == ".mp4" else (961, 539))
    if suffix == ".gif":
        made.write(path, bars(3), 200.0)
        assert frames_of(path)[1] == pytest.approx(50.0)  # as long as players heed


def test_what_is_missing_is_named_with_its_command(monkeypatch, folder):
    monkeypatch.setattr(movie_files, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"MP4 movie needs PyAV.*pip install 'nrsfm-gui\[video\]'"):
        format_for(folder / "a.mp4")
    with pytest.raises(InputError, match="Animated GIF needs Pillow"):
        format_for(folder / "a.gif")
    assert format_for(folder / "a.PNG") is FORMATS[".png"]
    with pytest.raises(InputError, match=r"accepted for movies are \.mp4, \.gif, \.png"):
        format_for(folder / "a.avi")


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_disk_that_refuses_the_bytes_leaves_nothing(folder, suffix):
    if FORMATS[suffix].missing:
        pytest.skip(FORMATS[suffix].missing)
    with files_of_at_most(100), pytest.raises(InputError, match="cannot be written"):
        FORMATS[suffix].write(folder / f"a{suffix}", bars(6), 10.0)
    assert not list(folder.iterdir())


def test_shots_are_the_frames_in_order_and_one_turn_ends_where_it_began():
    assert MovieOptions(first=2, last=4).shots() == [(2, 0.0), (3, 0.0), (4, 0.0)]
    assert MovieOptions(last=3, one_turn=True).shots() == [(0, 0.0), (1, 90.0), (2, 180.0), (3, 270.0)]
    assert MovieOptions(last=2, fps=10, turn=-30).shots() == [(0, 0.0), (1, -3.0), (2, -6.0)]
    still = MovieOptions(first=5, last=5, seconds=2, fps=4, one_turn=True).shots()
    assert [frame for frame, _turned in still] == [5] * 8
    assert np.allclose([turned for _frame, turned in still], 45.0 * np.arange(8))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"view": "4d"}, "view is '4d'; accepted are 3d, 2d, window"),
        ({"width": 10}, "width is 10; accepted are 64 to 7680 pixels"),
        ({"fps": 0}, "fps is 0"),
        ({"first": 3, "last": 2}, "frames 4 to 3 are none"),
        ({"seconds": float("nan")}, "seconds are nan"),
    ],
)
def test_options_outside_their_range_are_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        MovieOptions(**options)


def test_the_three_d_view_is_filmed_while_the_window_stays_at_its_frame(qtbot, solved, folder, near):
    solved.session.set_frame(3)
    orbit = solved.scene_view.camera.orbit.turned(20.0, 5.0)
    solved.scene_view.camera.set_orbit(orbit)  # moved by hand, it fits itself to no message that comes
    shown = []
    solved.session.frame_changed.connect(shown.append)
    with qtbot.waitSignal(solved.export_controller.saved) as saved:
        solved.export_controller.save_movie(
            folder / "a.png", MovieOptions(width=320, height=200, last=5, one_turn=True)
        )
    assert saved.args == [f"Saved {folder / 'a_0001.png'} and 5 more: 6 pictures, 320 × 200"]
    assert solved.session.frame == 3 and not shown and solved.scene_view.camera.orbit == orbit
    images = [QImage(str(folder / f"a_{k:04d}.png")) for k in range(1, 7)]
    assert all((image.width(), image.height()) == (320, 200) for image in images)
    theme = solved.session.theme
    assert all(
        near(image, theme.estimate).sum() > 20 and near(image, theme.truth_shape).sum() > 20
        for image in images
    )
    assert all((pixels(one) != pixels(other)).any() for one, other in itertools.pairwise(images))
    painter = ScenePainter(solved.export_controller.views, MovieOptions(width=320, height=200))
    assert (pixels(painter.picture(4, 240.0)) == pixels(images[4])).all()
    view, orbit = solved.scene_view, solved.scene_view.orbit_for(320, 200)
    for turned in (0.0, 90.0):
        drawn = view.render_image(320, 200, orbit.turned(turned, 0.0))
        assert (pixels(drawn) == pixels(painter.picture(3, turned))).mean() > 0.98
    painter.close()


def test_a_full_turn_from_the_top_keeps_the_object_and_a_movie_what_was_shown_when_it_was_asked_for(
    solved, near
):
    asked = ScenePainter(solved.export_controller.views, MovieOptions(width=320, height=200))
    before = pixels(asked.picture(4, 0.0))
    solved.session.set_appearance(solved.session.appearance.changed(layers=frozenset({"truth"})))
    solved.scene_view.set_axis_preset("top")
    painter = ScenePainter(solved.export_controller.views, MovieOptions(width=480, height=200, one_turn=True))
    counts = []
    for turned in (0.0, 45.0, 90.0, 135.0):
        seen = near(painter.picture(0, turned), solved.session.theme.truth_shape, tolerance=30)
        border = np.ones_like(seen)
        border[4:-4, 4:-4] = False
        assert not (seen & border).any()
        counts.append(seen.sum())
    assert min(counts) > 100
    painter.close()
    solved.session.set_hidden(range(10))
    solved.session.set_selection((12, 13))
    solved.session.set_shown(None)
    solved.display.refresh()
    assert (pixels(asked.picture(4, 0.0)) == before).all()
    asked.close()


def test_the_two_d_view_is_filmed_with_the_part_that_is_seen(qtbot, solved, folder, near):
    options = MovieOptions(view="2d", width=320, height=240, last=1)
    with qtbot.waitSignal(solved.export_controller.saved):
        solved.export_controller.save_movie(folder / "whole.png", options)
    part = solved.tracks_view.range_shown
    part.setWidth(part.width() / 3)
    part.setHeight(part.height() / 3)
    solved.tracks_view.show_range(part)
    with qtbot.waitSignal(solved.export_controller.saved):
        solved.export_controller.save_movie(folder / "part.png", options)
    counts = [
        int(near(QImage(str(folder / f"{name}_0001.png")), solved.session.theme.reprojected).sum())
        for name in ("whole", "part")
    ]
    assert counts[0] > 50 and counts[1] < counts[0]


def test_the_window_is_filmed_frame_by_frame_and_is_left_at_its_own(solved):
    solved.session.set_frame(2)
    painter = WindowPainter(
        solved.export_controller.views, MovieOptions(view="window", width=640, height=400, last=5)
    )
    first, last, again = (painter.picture(frame, 0.0) for frame in (0, 5, 0))
    painter.close()
    assert solved.session.frame == 2 and solved.display.scene.frame == 2
    assert (first.width(), first.height()) == (640, 400)
    assert (pixels(first) != pixels(last)).any()
    assert (pixels(first) == pixels(again)).mean() > 0.999  # but for the clock and the memory


def test_a_picture_of_another_shape_is_centered(near):
    image = QImage(100, 100, QImage.Format.Format_RGB32)
    image.fill(QColor("#ff0000"))
    page = fitted(image, 300, 100, "#0000ff")
    assert (page.width(), page.height()) == (300, 100)
    red = near(page, "#ff0000")
    assert red[:, 102:198].all() and not red[:, :98].any() and not red[:, 202:].any()


def test_a_cancelled_movie_leaves_nothing_and_shows_its_progress_outside_a_recorded_window(
    qtbot, parts, folder
):
    exporting = parts.export_controller
    strips = {"2d": exporting.strip, "window": exporting._floating}
    for view, strip in strips.items():
        options = MovieOptions(view=view, width=160, height=120, last=0, seconds=600, fps=60)
        exporting.save_movie(folder / "a.png", options)
        qtbot.waitUntil(strip.isVisible)
        assert [each.isVisible() for each in strips.values()].count(True) == 1
        assert strip.isWindow() == (view == "window")
        (hidden,) = folder.iterdir()  # until it is whole
        assert hidden.is_dir()
        with qtbot.waitSignal(exporting.saved) as reported:
            button_of(strip, "Cancel").click()
        assert reported.args == [f"Cancelled: {folder / 'a.png'} is not written"]
        qtbot.waitUntil(lambda: not exporting.busy)
        assert not list(folder.iterdir()) and not strip.isVisible()


@pytest.mark.skipif("CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()), reason="no GNU library")
def test_memory_of_what_is_cancelled_is_returned(qtbot, parts, folder):
    used, size = [], os.sysconf("SC_PAGE_SIZE")
    kept = []  # lies behind the others, so that the library does not return them by itself

    def write(job):
        blocks = [bytearray(20_000) for _ in range(10_000)]
        kept.append(bytearray(20_000))
        used.append(len(blocks))
        while True:
            job.watch()

    def resident():
        return size * int(Path("/proc/self/statm").read_text().split()[1])

    before, task = resident(), Task("Saving a.npz", folder / "a.npz", write)
    parts.export_controller._start(task)
    qtbot.waitUntil(lambda: bool(used))
    assert resident() - before > 150e6
    task.cancel()
    qtbot.waitUntil(lambda: not parts.export_controller.busy)
    assert resident() - before < 50e6
    options = MovieOptions(view="2d", width=160, height=120, last=0, seconds=600, fps=60)
    parts.export_controller.save_movie(folder / "a.png", options)
    (movie,) = parts.export_controller._tasks
    qtbot.waitUntil(movie._queue.full)
    movie.cancel()
    qtbot.waitUntil(lambda: not parts.export_controller.busy)
    assert movie._queue.empty()


def test_a_movie_that_cannot_be_written_is_reported_and_the_next_one_works(qtbot, parts, folder):
    exporting, options = parts.export_controller, MovieOptions(view="2d", width=160, height=120, last=1)
    for name, refused, sentence in (
        ("gone/a.png", options, "gone does not exist"),
        ("a.png", MovieOptions(last=6), "there are 6 frames; frame 7 is not one"),
    ):
        with qtbot.waitSignal(parts.session.notifier.warned) as failed:
            exporting.save_movie(folder / name, refused)
        assert sentence in failed.args[0]
        qtbot.waitUntil(lambda: not exporting.busy)
    with qtbot.waitSignal(exporting.saved):
        exporting.save_movie(folder / "a.png", options)


def test_two_exports_go_on_at_once_but_not_into_one_file(qtbot, solved, folder):
    sentences, refusals = [], []
    solved.export_controller.saved.connect(sentences.append)
    solved.session.notifier.failed.connect(refusals.append)
    options = MovieOptions(view="2d", width=160, height=120, last=2)
    solved.export_controller.save_movie(folder / "a.png", options)
    solved.export_controller.save_movie(folder / "a.png", options)
    solved.export_controller.save_movie(folder / "b.png", options)
    solved.export_controller.save_result(folder / "c.glb", align="truth")
    assert [sentence.split(" is being written")[0] for sentence in refusals] == [str(folder / "a.png")]
    qtbot.waitUntil(lambda: not solved.export_controller.busy)
    assert len(sentences) == 3
    assert len(list(folder.glob("[ab]_*.png"))) == 6 and (folder / "c.glb").is_file()


def test_shutting_down_ends_a_movie_without_a_file(qtbot, folder, parts):
    options = MovieOptions(view="2d", width=160, height=120, last=0, seconds=600)
    parts.export_controller.save_movie(folder / "a.png", options)
    qtbot.waitUntil(lambda: bool(list(folder.iterdir())))
    parts.export_controller.shut_down()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not list(folder.iterdir())


def test_a_picture_that_cannot_be_painted_ends_the_movie(qtbot, parts, folder, monkeypatch):
    def broken(_painter, frame, _turned):
        raise RuntimeError(f"no picture of {frame}")

    monkeypatch.setattr(ScenePainter, "picture", broken)
    with qtbot.waitSignal(parts.session.notifier.defect_found) as failed:
        parts.export_controller.save_movie(folder / "a.png", MovieOptions(width=320, height=200, last=5))
    assert "no picture of 0" in failed.args[0] and "Traceback" in failed.args[1]
    parts.export_controller.saved.connect(lambda sentence: pytest.fail(sentence))  # what is told is told once
    qtbot.waitUntil(lambda: not parts.export_controller.busy)
    assert not list(folder.iterdir())


def test_opening_another_sequence_ends_the_movie_of_the_window(qtbot, parts, sequence, folder):
    options = MovieOptions(view="window", width=160, height=120, last=0, seconds=600, fps=60)
    parts.export_controller.save_movie(folder / "a.png", options)
    qtbot.waitUntil(lambda: bool(list(folder.iterdir())))
    with qtbot.waitSignal(parts.session.notifier.warned) as failed:
        parts.session.set_sequence(replace(sequence, digest="another"))
    assert "another sequence was opened meanwhile" in failed.args[0]
    qtbot.waitUntil(lambda: not parts.export_controller.busy)
    assert not list(folder.iterdir())


def test_progress_names_the_file_and_leaves_its_button_in_place(show):
    window, view = QWidget(), QWidget()
    filled(QVBoxLayout(window), view)
    banners, strip = Banners(view, window), TaskBar()
    banners.add(strip, lambda: Urgency.PROGRESS)
    show(window, 600, 200)
    task = Task("Making dance-flyby-3d.mp4", Path("dance-flyby-3d.mp4"), str)
    row = TaskRow(task, strip)
    strip.add(row)
    row._began -= 60.0
    texts, places = [], set()
    for done in (1, 20, 88):
        task.progressed.emit(done, 88)
        QApplication.processEvents()
        corner = row.findChild(QPushButton).mapTo(window, QPoint())
        places.add((corner.x(), corner.y()))
        title, progress = row.findChild(ElidedLabel), row._progress
        assert title._shown_text() == task.title and progress.width() >= progress.sizeHint().width()
        texts.append(progress.text())
    assert texts[0].startswith("1 of 88 · about ") and texts[2] == "88 of 88" and len(places) == 1


def test_what_was_saved_is_no_longer_said_while_the_file_is_written_again(qtbot, parts, folder):
    exporting, bar = parts.export_controller, MessageBar()
    qtbot.addWidget(bar)
    bar.listen_to(parts.session.notifier)
    options = MovieOptions(width=160, height=120, last=0)
    with qtbot.waitSignal(exporting.saved):
        exporting.save_movie(folder / "a.png", options)
    assert bar.message.sentence.startswith("Saved ")
    qtbot.waitUntil(lambda: not exporting.busy)
    with qtbot.waitSignal(exporting.saved):
        exporting.save_movie(folder / "a.png", options)
        assert bar.message is None
    assert bar.message.sentence.startswith("Saved ")


def test_progress_is_shown_with_the_time_left():
    assert progress_text(2, 100, 0.5) == "2 of 100"
    assert progress_text(20, 100, 5.0) == "20 of 100 · about 20 s left"
    assert progress_text(99, 100, 50.0) == "99 of 100"
