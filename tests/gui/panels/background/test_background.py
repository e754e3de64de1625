"""Pictures behind the tracks: files of known pixels, laid where the tracks are, and what goes wrong."""

import os
import shutil
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QImage

from core import InputError, simulate
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.model.background import Background
from nrsfm_gui.panels.background.background_controller import doubts
from nrsfm_gui.panels.background.image_sources import (
    AHEAD,
    BackgroundReader,
    as_image,
    image_suffixes,
    open_source,
)
from nrsfm_gui.shell.actions import with_background

WIDTH, HEIGHT = 64, 48


@pytest.fixture(scope="module")
def sequence():
    """Tracks inside a picture of 64 x 48 pixels."""
    made = simulate("paper", frames=8, points=20, noise=0, seed=2)
    low, high = made.tracks.min(axis=(0, 2)), made.tracks.max(axis=(0, 2))
    scale = 40 / (high - low).max()
    tracks = (made.tracks - low[:, None]) * scale + 4
    return replace(made, tracks=tracks, digest="a" * 64)


def gray(index):
    """Return the brightness of a frame of the pictures that are made here."""
    return 20 + 25 * index


def picture(index):
    """Return (48, 64, 3): one brightness, and a red pixel at (x, y) = (10, 20)."""
    pixels = np.full((HEIGHT, WIDTH, 3), gray(index), np.uint8)
    pixels[20, 10] = 255, 0, 0
    return pixels


@pytest.fixture
def folder(tmp_path):
    """Eight numbered pictures, without leading zeros beyond the ninth."""
    where = tmp_path / "pictures"
    where.mkdir()
    for index in range(8):
        assert as_image(picture(index)).save(str(where / f"img_{index + 4}.png"))
    (where / "notes.txt").write_text("not a picture")
    return where


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """A video of 40 frames with key frames apart, and frames that refer to later ones."""
    av = pytest.importorskip("av")
    path = tmp_path_factory.mktemp("video") / "clip.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options={"g": "12", "bf": "2", "crf": "10"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for index in range(40):
            pixels = np.full((HEIGHT, WIDTH, 3), 10 + 6 * index, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def brightness(image):
    return image.pixelColor(40, 40).green()


def test_a_pattern_or_one_of_numbered_pictures_means_those_of_one_folder_and_is_abandoned(tmp_path, folder):
    whole = ("img_*.png", "img_%d.png", "img_%04d.png", "img_9.png", "i*_*.png")
    for name, count in (*((name, 8) for name in whole), ("img_?.png", 6)):
        source = open_source(folder / name)
        assert source.count == count and brightness(source.read(count - 1)) == gray(count - 1), name
    for pattern in ("*/img_*.png", "**/*.png", "p*/img_4.png"):
        with pytest.raises(InputError, match="does not exist"):
            open_source(tmp_path / pattern)
    for path in (folder, folder / "*.png", folder / "img_4.png"):
        with pytest.raises(InputError, match="is not opened: it was removed meanwhile"):
            open_source(path, lambda: True)
    (folder / "img_4.png").rename(folder / "still.png")
    assert open_source(folder / "still.png").count == 1


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>'


def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    for name, content in (("bad", b"\x89PNG nonsense"), ("svg", SVG), ("gif", b"GIF89a")):
        (tmp_path / f"{name}.png").write_bytes(content)
    other = r"\.png cannot be .*: its content is of none of \.png"  # whatever its name: SVG reads other files
    for name, sentence in (
        ("absent", "does not exist; give a folder, a pattern, an image or a video"),
        ("absent*.png", "does not exist"),
        ("empty", r"holds no pictures; accepted are \.png"),
        ("bad.png", "cannot be read as a picture"),
        ("svg.png", other),
        ("gif.png", other),
        ("pipe.png", r"pipe\.png: is a pipe; accepted is a file"),
    ):
        with pytest.raises(InputError, match=sentence):
            open_source(tmp_path / name)
    source = open_source(folder)
    (folder / "img_6.png").unlink()
    with pytest.raises(InputError, match=r"img_6\.png: there is no such file"):
        source.read(2)


def test_pictures_of_all_formats_are_read_whatever_their_names(tmp_path):
    for suffix in image_suffixes():
        path = tmp_path / f"picture{suffix}"
        assert as_image(picture(3)).save(str(path))
        renamed = path.rename(tmp_path / "picture.png")
        assert open_source(renamed).size == QSize(WIDTH, HEIGHT), suffix


def test_a_folder_of_too_many_files_or_one_that_cannot_be_listed_is_refused(monkeypatch, folder):
    monkeypatch.setattr("core.tracking.decoding.MOST_FILES", 8)
    with pytest.raises(InputError, match="holds too many files; accepted are up to 8"):
        open_source(folder)

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    for path in (folder, folder / "img_4.png"):
        with pytest.raises(InputError, match="pictures: Permission denied"):
            open_source(path)


def test_a_video_that_a_sequence_names_is_opened_where_it_is_a_file_here(sequence, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "a.mp4").touch()
    monkeypatch.chdir(tmp_path)
    for name in ("/dev/zero", "pipe.mp4", "a" * 300, "nul\0"):
        assert Background.of_sequence(replace(sequence, video=Path(name))) is None
    assert Background.of_sequence(replace(sequence, video=Path("a.mp4"))) == Background(Path("a.mp4"))


def test_only_the_newest_request_is_served(qtbot, folder):
    reader = BackgroundReader(folder)
    served = []
    reader.read.connect(lambda index, _image: served.append(index))
    for index in range(8):  # before it has begun
        reader.request(index)
    with qtbot.waitSignal(reader.read):
        reader.start()
    qtbot.waitUntil(lambda: reader.pictures.kept(7) is not None)
    assert served == [7]
    reader.request(2)
    qtbot.waitUntil(lambda: served == [7, 2])
    qtbot.waitUntil(lambda: reader.pictures.kept(0) is not None)  # read ahead, the way it went
    reader.cancel()
    assert reader.wait(60_000)


def seen_at(view, x, y):
    """Return the color of the 2-D view at a place in track coordinates."""
    place = view.plot_widget.mapFromScene(view._box.mapViewToScene(QPointF(x, y)))
    return view.plot_widget.grab().toImage().pixelColor(place)


@pytest.fixture
def opened(qtbot, session, background, sequence):
    """Put pictures behind the tracks, and wait until the file is open."""
    session.set_sequence(sequence)

    def put(path, **options):
        background.open(path, **options)
        qtbot.waitUntil(lambda: not background.busy)

    return put


@pytest.fixture
def shown(tracks_view):
    """Return the picture behind the tracks."""
    return tracks_view._background


def test_pixel_centers_are_track_coordinates(qtbot, folder, tracks_view, opened, shown):
    opened(folder, opacity=1.0)
    qtbot.waitUntil(lambda: shown.isVisible())
    assert shown.mapRectToParent(shown.boundingRect()) == QRectF(-0.5, -0.5, WIDTH, HEIGHT)
    tracks_view.show_range(QRectF(7, 17, 6, 6))  # one pixel of the picture is many of the screen
    qtbot.wait(20)
    red = seen_at(tracks_view, 10.0, 20.0)
    assert red.red() > 200 and red.green() < 60
    for x, y in ((8.6, 20.0), (11.4, 20.0), (10.0, 18.6), (10.0, 21.4)):  # y points down, as in the picture
        assert abs(seen_at(tracks_view, x, y).red() - gray(0)) < 40, (x, y)


def test_the_picture_follows_the_frame_and_the_offset(qtbot, folder, session, background, opened, shown):
    opened(folder, opacity=1.0)

    def level():
        pixmap = shown.pixmap().toImage()
        return brightness(pixmap) if shown.isVisible() and not pixmap.isNull() else None

    qtbot.waitUntil(lambda: level() == gray(0))
    for frame in (5, 2, 7):
        session.set_frame(frame)
        qtbot.waitUntil(lambda frame=frame: level() == gray(frame))
    background.bar.offset.setValue(-3)
    qtbot.waitUntil(lambda: level() == gray(4))
    session.set_frame(1)  # there is no picture before the first
    qtbot.waitUntil(lambda: level() is None)


def test_opacity_offset_and_removal_from_the_bar(qtbot, folder, session, background, opened, shown):
    opened(folder)
    qtbot.waitUntil(lambda: shown.isVisible())
    bar = background.bar
    assert bar.isVisible() and "8 pictures, 64 × 48 px" in bar._name.full_text
    assert with_background.holds(session)
    bar.opacity.setValue(30)
    bar.offset.setValue(2)
    assert shown.opacity() == pytest.approx(0.3)
    assert session.background == Background(folder, 0.3, 2)
    offset = bar.offset.lineEdit()
    offset.selectAll()
    qtbot.keyClicks(offset, "1")
    session.set_frame(3)  # as in playback
    qtbot.keyClicks(offset, "4")
    qtbot.keyClick(offset, Qt.Key.Key_Return)
    assert session.background.offset == 14
    bar.remove.click()
    assert not bar.isVisible() and not shown.isVisible() and session.background is None
    assert not with_background.holds(session)


def test_a_refused_background_shows_why_and_leaves_none(qtbot, tmp_path, session, background):
    with qtbot.waitSignal(session.notifier.failed) as reported:
        background.open(tmp_path / "absent.mp4")
    assert "does not exist" in reported.args[0]
    assert session.background is None and not background.bar.isVisible()


def test_a_picture_that_is_deleted_meanwhile_is_reported_once(qtbot, folder, session, opened, shown):
    opened(folder)
    qtbot.waitUntil(lambda: shown.isVisible())
    shutil.rmtree(folder)
    reported = []
    session.notifier.failed.connect(reported.append)
    session.set_frame(7)
    qtbot.waitUntil(lambda: bool(reported))
    session.set_frame(6)
    qtbot.wait(20)
    assert len(reported) == 1 and "there is no such file" in reported[0]
    assert not shown.isVisible()


def test_every_sequence_has_its_own_background(qtbot, sequence, folder, session, background, opened):
    opened(folder, offset=1)
    other = replace(sequence, digest="b" * 64)
    session.set_sequence(other)
    assert session.background is None
    session.set_sequence(sequence)
    qtbot.waitUntil(lambda: background._images is not None)
    assert session.background.offset == 1


def test_a_doubtful_background_is_reported(sequence):
    assert doubts(sequence, QSize(WIDTH, HEIGHT)) == ""
    assert "lie outside the background of 10 × 10 px" in doubts(sequence, QSize(10, 10))
    assert "The tracks are in mm" in doubts(replace(sequence, units="mm"), QSize(WIDTH, HEIGHT))


def test_a_movie_of_the_two_d_view_has_the_background(qtbot, folder, tmp_path, opened, make_exporting):
    exporting = make_exporting()
    opened(folder, opacity=1.0)
    options = MovieOptions(view="2d", width=320, height=240, first=2, last=3)
    with qtbot.waitSignal(exporting.saved):
        exporting.save_movie(tmp_path / "m.png", options)
    for index in (2, 3):
        image = QImage(str(tmp_path / f"m_{index - 1:04d}.png"))
        colors = [image.pixelColor(x, y) for x in range(0, 320, 4) for y in range(0, 240, 4)]
        assert colors.count(QColor(*3 * [gray(index)])) > 500


def remove(session):
    session.set_background(None)


def change_sequence(session):
    session.set_sequence(replace(session.sequence, digest="b" * 64))


@pytest.mark.slow
@pytest.mark.parametrize("lose", [remove, change_sequence])
def test_a_movie_keeps_the_background_that_the_window_loses(
    qtbot, video, tmp_path, lose, session, background, opened, make_exporting
):
    exporting = make_exporting()
    options = MovieOptions(view="2d", width=320, height=240, first=0, last=7)

    def made(name, meanwhile):
        with qtbot.waitSignal(exporting.saved):
            exporting.save_movie(tmp_path / f"{name}.png", options)
            meanwhile()
        return [file.read_bytes() for file in sorted(tmp_path.glob(f"{name}_*.png"))]

    bare = made("bare", lambda: None)
    opened(video, offset=20)
    whole = made("whole", lambda: None)
    opened(video, offset=20)  # anew, with nothing in memory
    reader = background._reader
    users = reader.pictures

    def meanwhile():
        lose(session)
        assert reader.wait(60_000)  # it has let go of the video

    assert made("kept", meanwhile) == whole and len(set(whole) - set(bare)) == 8
    qtbot.waitUntil(lambda: users._users == 0)
    assert session.background is None


@pytest.mark.slow
def test_the_video_that_a_sequence_names_lies_behind_it_also_when_its_decoder_has_ended(
    qtbot, session, background, shown, sequence, video
):
    named, before = replace(sequence, video=video, video_frames=10 + 3 * np.arange(8)), set(active_children())
    session.set_sequence(replace(named, digest="b" * 64))
    assert session.background == Background(video)

    def shows(index):
        pixmap = shown.pixmap().toImage()
        return not pixmap.isNull() and abs(brightness(pixmap) - (10 + 6 * index)) <= 2

    for frame in (0, 5):
        session.set_frame(frame)
        qtbot.waitUntil(lambda frame=frame: shows(10 + 3 * frame))
    qtbot.waitUntil(lambda: background._reader.pictures.kept(25 + AHEAD) is not None)
    (decoder,) = set(active_children()) - before
    decoder.kill()  # as FFmpeg ends at a damaged file
    decoder.join()
    with qtbot.waitSignal(session.notifier.failed) as failed:
        session.set_frame(7)
    assert "clip.mp4: frame 32 cannot be read: its library ends with code -9" in failed.args[0]
    session.set_frame(5)
    background.bar.offset.setValue(-1)
    qtbot.waitUntil(lambda: shows(24))
    session.set_sequence(replace(sequence, video=video.with_name("gone.mp4"), digest="c" * 64))
    assert session.background is None
