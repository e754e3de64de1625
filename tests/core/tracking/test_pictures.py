"""Pictures in files of their own are read as videos; pictures that are stored turned are upright."""

import struct

import numpy as np
import pytest
from rendering import write_video

from core import InputError
from core.tracking import Video

pytest.importorskip("av", reason="videos need PyAV")
cv2 = pytest.importorskip("cv2", reason="following points needs OpenCV")

WIDTH, HEIGHT = 64, 48
FIXED = 1 << 16  # one, in the numbers of a matrix of MP4


def corner_picture():
    """Return a picture that is bright in its upper left corner, and gray along its upper side."""
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[:12], image[:12, :16] = 100, 220
    return image


def turned_video(path, matrix):
    """Write a video of the picture with a display matrix a, b, c, d."""
    content = bytearray(write_video(path, 4 * [corner_picture()], crf="5").read_bytes())
    place = content.index(b"tkhd") + 44
    a, b, c, d = (FIXED * entry for entry in matrix)
    content[place : place + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("matrix", "upright"),
    [
        ((0, 1, -1, 0), lambda image: np.rot90(image, -1)),
        ((0, -1, 1, 0), np.rot90),
        ((-1, 0, 0, 1), np.fliplr),
    ],
    ids=["right", "left", "mirrored"],
)
def test_a_video_that_is_stored_turned_is_read_upright(tmp_path, matrix, upright):
    wanted = upright(corner_picture())
    video = Video(turned_video(tmp_path / "phone.mp4", matrix))
    found = video.read(2)
    video.close()
    assert video.size == (wanted.shape[1], wanted.shape[0]) and found.flags.c_contiguous
    assert np.abs(found.astype(int) - wanted).mean() < 6


def test_a_photograph_is_turned_by_its_exif_data(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    photograph = image_module.fromarray(corner_picture())
    exif = photograph.getexif()
    exif[0x112] = 6  # to be turned to the right
    photograph.save(tmp_path / "photograph.jpg", exif=exif, quality=95)
    video = Video(tmp_path / "photograph.jpg")
    assert np.abs(video.read(0).astype(int) - np.rot90(corner_picture(), -1)).mean() < 6
    video.close()


@pytest.fixture
def folder(tmp_path):
    """A folder of img_1.png to img_12.png, as bright as 10 times their number, and others, of 120."""
    (tmp_path / "pictures").mkdir()
    for number in range(1, 13):
        image = np.full((HEIGHT, WIDTH, 3), 10 * number, np.uint8)
        cv2.imwrite(str(tmp_path / "pictures" / f"img_{number}.png"), image)
    (tmp_path / "pictures" / "notes.txt").write_text("no picture\n")
    for name in (".hidden.png", "img_1_mask.png"):
        cv2.imwrite(str(tmp_path / "pictures" / name), image)
    return tmp_path / "pictures"


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("img_%04d.png", range(1, 13)),  # a number stands for digits only
        ("img_*.png", [1, 12, *range(2, 13)]),
        ("", [1, 12, *range(2, 13)]),
    ],
)
def test_pictures_are_read_in_the_order_of_their_numbers(folder, pattern, numbers):
    video = Video(folder / pattern)
    assert (video.size, video.frame_rate) == ((WIDTH, HEIGHT), None)
    assert [int(video.read(index)[0, 0, 0]) for index in range(video.count)] == [
        10 * each for each in numbers
    ]
    video.close()


def test_what_is_no_folder_of_pictures_is_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, why in (("empty", "is a folder without pictures"), ("*.jpg", "there is no such picture")):
        with pytest.raises(InputError, match=rf": {why}; accepted are \.png, \.jpg"):
            Video(tmp_path / name)
    with pytest.raises(InputError, match="absent"):
        Video(tmp_path / "absent" / "img_%d.png")
    (folder / "img_5.png").write_bytes(100 * b"no picture\n")
    video = Video(folder)
    with pytest.raises(InputError, match=r"img_5\.png is no picture; accepted are \.png"):
        video.read(5)
    assert int(video.read(6)[0, 0, 0]) == 60
    video.close()
