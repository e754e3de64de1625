"""Videos: index i is picture i in every codec and container, whatever was read before."""

from __future__ import annotations

import os
import random
import signal
import struct
from collections import namedtuple
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest

from core import InputError
from core.foundation import Pixels
from core.tracking import Video, decoding, video
from core.tracking.decoding import PASSED, VideoDecoder

av = pytest.importorskip("av", reason="videos need PyAV")

WIDTH, HEIGHT, BITS = 64, 48, 8
COUNT = 60  # more than are kept on the way, and several groups of pictures

OPEN_GROUPS = "open-gop=1:keyint=12:min-keyint=12:bframes=3:scenecut=0"  # frames that refer to those before
KINDS = [
    ("x.avi", "libx264", {"g": "12"}),
    ("open.avi", "libx264", {"x264-params": OPEN_GROUPS}),
    ("b.avi", "mpeg4", {"bf": "2", "g": "12"}),
    ("plain.avi", "mpeg4", {}),
    ("m.avi", "mjpeg", {}),
    ("x.mp4", "libx264", {"g": "12"}),
    ("open.mp4", "libx264", {"x264-params": OPEN_GROUPS}),
    ("b.mov", "mpeg2video", {"bf": "2", "g": "12"}),
    ("open.mkv", "libx264", {"x264-params": OPEN_GROUPS}),
    ("b.mkv", "mpeg4", {"bf": "2", "g": "12"}),
    ("v.webm", "libvpx-vp9", {"g": "12"}),
    ("b.mpg", "mpeg2video", {"bf": "2", "g": "12"}),
    ("g.gif", "gif", {}),
]


def bars(number: int):
    """Return (48, 64, 3): the bits of a number as bright and dark columns."""
    bits = np.repeat([number >> bit & 1 for bit in range(BITS)], WIDTH // BITS)
    return np.broadcast_to((40 + 170 * bits)[None, :, None], (HEIGHT, WIDTH, 3)).astype(np.uint8)


def number_in(image: Pixels) -> int:
    """Return the number that `bars` painted."""
    step = WIDTH // BITS
    return sum((int(image[HEIGHT // 2, step * bit + step // 2, 1] > 125)) << bit for bit in range(BITS))


def write(path, codec, options, *, title="", start=0):
    """Write a video of numbered pictures; skip where this PyAV has no such encoder."""
    if codec not in av.codecs_available:
        pytest.skip(f"this PyAV has no encoder {codec}")
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25, options=options)
        stream.width, stream.height, stream.bit_rate = WIDTH, HEIGHT, 4_000_000
        stream.pix_fmt = {"mjpeg": "yuvj420p", "gif": "rgb8"}.get(codec, "yuv420p")
        container.metadata["title"] = title
        for number in range(COUNT):
            frame = av.VideoFrame.from_ndarray(bars(number), format="rgb24").reformat(format=stream.pix_fmt)
            frame.pts, frame.time_base = number + start, 1 / stream.average_rate
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def read_all(path, indices):
    """Return the numbers of the pictures of indices, read in that order from a source of their own."""
    source = VideoDecoder(path)
    numbers = {index: number_in(source.read(index)) for index in indices}
    source.close()
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize(("name", "codec", "options"), KINDS, ids=[f"{k[1]}-{k[0]}" for k in KINDS])
def test_an_index_gives_the_same_picture_forwards_backwards_and_at_random(tmp_path, name, codec, options):
    path = write(tmp_path / name, codec, options)
    forwards = range(COUNT)
    shuffled = random.Random(1).sample(forwards, COUNT)
    assert COUNT > PASSED and VideoDecoder(path).count == COUNT
    for order in (forwards, reversed(forwards), shuffled):
        assert read_all(path, order) == {index: index for index in forwards}


def test_pictures_that_are_cut_off_at_the_start_are_not_counted(tmp_path):
    path = write(tmp_path / "cut.mp4", "libx264", {"g": "12"}, start=-5)
    assert VideoDecoder(path).count == COUNT - 5
    shown = {index: index + 5 for index in range(COUNT - 5)}
    assert read_all(path, shown) == read_all(path, reversed(shown)) == shown


def test_pictures_that_are_never_shown_are_not_counted(tmp_path):
    path = write(tmp_path / "all.webm", "libvpx", {})
    with av.open(str(path)) as read, av.open(str(tmp_path / "hidden.webm"), "w") as written:
        stream = written.add_stream("libvpx", rate=25)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number, packet in enumerate(read.demux(read.streams.video[0])):
            if packet.size:
                data = bytearray(bytes(packet))
                data[0] &= 0xFF if number != 5 else ~0x10  # the bit that says whether a VP8 frame is shown
                copy = av.Packet(bytes(data))
                copy.pts, copy.dts, copy.time_base = packet.pts, packet.dts, packet.time_base
                copy.is_keyframe, copy.stream = packet.is_keyframe, stream
                written.mux(copy)
    shown = {index: index + (index >= 5) for index in range(COUNT - 1)}
    assert read_all(tmp_path / "hidden.webm", shown) == shown


def test_a_damaged_frame_is_refused_and_the_others_stay_themselves(tmp_path):
    path = write(tmp_path / "m.avi", "mjpeg", {})
    with av.open(str(path)) as container:
        place, size = [(each.pos, each.size) for each in container.demux(video=0)][7]
    data = bytearray(path.read_bytes())
    data[place : place + size] = bytes(size)
    path.write_bytes(data)
    source = VideoDecoder(path)
    for _ in range(2):
        with pytest.raises(InputError, match=r"m\.avi: frame 8 cannot be read: it is damaged"):
            source.read(7)
    assert [number_in(source.read(index)) for index in (8, 6, 59, 0)] == [8, 6, 59, 0]


def test_what_leads_to_other_files_is_no_video(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "own.ts", "mpeg2video", {})
    (tmp_path / "list.m3u8").write_text(
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nown.ts\n#EXT-X-ENDLIST\n"
    )
    (tmp_path / "list.mp4").write_text("ffconcat version 1.0\nfile own.ts\n")
    (tmp_path / "notes.txt").write_text(100 * "no film\n")
    for name in ("list.m3u8", "list.mp4", "notes.txt"):
        with pytest.raises(InputError, match=f"{name} is no video; accepted are MP4"):
            VideoDecoder(Path(name))
    (tmp_path / "concat:own.ts").write_bytes(b"no film")
    with pytest.raises(InputError, match=r"concat:own\.ts"):
        VideoDecoder(Path("concat:own.ts"))
    assert VideoDecoder(Path("own.ts")).count == COUNT


def test_pictures_and_packets_are_bounded_by_what_a_file_may_need(tmp_path, monkeypatch):
    path = write(tmp_path / "x.mp4", "libx264", {"g": "12"})
    monkeypatch.setattr(decoding, "OF_PACKET", 2_000_000)
    with pytest.raises(InputError, match=r"x\.mp4: needs .* MB of memory; accepted of a file of this size"):
        VideoDecoder(path)
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.0001")
    with pytest.raises(
        InputError, match=r"x\.mp4 has pictures of 64 x 48; accepted are up to 0\.00208 million"
    ):
        VideoDecoder(path)


@pytest.mark.slow
def test_pictures_that_grow_on_the_way_are_not_decoded(tmp_path, monkeypatch):
    path = tmp_path / "x.h264"
    content = write(path, "libx264", {"g": "12"}).read_bytes()
    monkeypatch.setattr(f"{__name__}.WIDTH", 10 * WIDTH)
    monkeypatch.setattr(f"{__name__}.HEIGHT", 10 * HEIGHT)
    path.write_bytes(content + write(path, "libx264", {"g": "12"}).read_bytes())
    assert Video(path).read(COUNT + 20).shape == (HEIGHT, WIDTH, 3)
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.005")
    source = Video(path)
    assert source.read(3).shape == (HEIGHT // 10, WIDTH // 10, 3)
    with pytest.raises(InputError, match=r"x\.h264: frame 81 cannot be read"):
        source.read(COUNT + 20)
    source.close()


@pytest.fixture
def opened(tmp_path):
    """A video, and a function that returns the number of the process that decodes it."""
    path, before = write(tmp_path / "x.mp4", "libx264", {"g": "12"}), set(active_children())
    source = Video(path)
    yield source, lambda: next(child.pid for child in set(active_children()) - before)
    source.close()
    assert set(active_children()) <= before


def test_the_process_gives_the_pictures_of_the_decoder(opened):
    source, _ = opened
    decoder = VideoDecoder(source.path)
    assert (source.count, source.size, source.frame_rate) == (COUNT, (WIDTH, HEIGHT), 25.0)
    for index in (0, 1, 40, 7):
        assert np.array_equal(source.read(index), decoder.read(index))
        assert number_in(source.read(index)) == index
    source.close()
    assert (source.count, source.size, source.frame_rate) == (COUNT, (WIDTH, HEIGHT), 25.0)
    with pytest.raises(InputError, match="removed meanwhile"):
        Video(source.path, lambda: True)


def test_a_decoder_that_crashes_is_a_sentence_and_the_next_picture_is_read(opened, monkeypatch):
    source, process = opened
    monkeypatch.setattr(video, "MOST_DEATHS", 1)
    assert number_in(source.read(3)) == 3
    os.kill(process(), signal.SIGSEGV)
    with pytest.raises(InputError, match=r"x\.mp4: frame 5 cannot be read: its library ends with code -11"):
        source.read(4)
    assert number_in(source.read(4)) == 4
    os.kill(process(), signal.SIGKILL)
    for why in ("its library ends with code -9", "the decoder has ended 2 times"):
        with pytest.raises(InputError, match=f"frame 6 cannot be read: {why}"):
            source.read(5)


@pytest.mark.slow
def test_a_decoder_that_hangs_is_ended_and_a_file_that_has_changed_is_refused(opened, monkeypatch):
    source, process = opened
    monkeypatch.setattr(video, "MOST_SECONDS", 0.6)
    os.kill(process(), signal.SIGSTOP)
    with pytest.raises(InputError, match=r"frame 1 cannot be read: no sign of progress in 0\.6 s"):
        source.read(0)
    write(source.path, "mpeg4", {}, start=-5)
    monkeypatch.undo()
    with pytest.raises(InputError, match="frame 1 cannot be read: the file has changed"):
        source.read(0)


def test_the_begin_of_a_process_may_take_long_on_a_machine_with_much_to_do(tmp_path, monkeypatch):
    class SlowProcess(video.WorkerProcess):
        def call(self, function, *arguments, **options):
            for _ in range(100 if function is decoding.VideoServer else 0):
                options["receive"](None)
            return super().call(function, *arguments, **options)

    monkeypatch.setattr(video, "WorkerProcess", SlowProcess)
    source = Video(write(tmp_path / "x.mp4", "libx264", {}))
    source.close()
    assert source.count == COUNT


def test_a_header_of_a_huge_picture_takes_no_memory(tmp_path):
    path = write(tmp_path / "m.avi", "mjpeg", {})
    size = struct.pack(">HH", HEIGHT, WIDTH)
    content = path.read_bytes()
    assert b"\x08" + size in content
    huge = struct.pack(">HH", 30000, 30000)
    content = content.replace(b"\x08" + size, b"\x08" + huge)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"m\.avi: frame 1 cannot be read"):
        VideoDecoder(path).read(0)
    old, new = struct.pack("<II", WIDTH, HEIGHT), struct.pack("<II", 30000, 30000)
    path.write_bytes(content.replace(old, new))
    with pytest.raises(
        InputError, match=r"m\.avi cannot be read as a video: its pictures are damaged, or too"
    ):
        VideoDecoder(path)
    header = b"YUV4MPEG2 W30000 H30000 F25:1 Ip A1:1 C420jpeg\nFRAME\n"
    (tmp_path / "m.y4m").write_bytes(header + bytes(1000))
    with pytest.raises(InputError, match=r"m\.y4m (has pictures of 30000 x 30000|cannot be read as a video)"):
        VideoDecoder(tmp_path / "m.y4m")


def test_a_picture_for_which_no_memory_can_be_shared_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "x.mp4", "libx264", {})
    usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(video, "SHARED", tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: usage(4096, 0, 4096))
    with pytest.raises(InputError, match=rf"x\.mp4 cannot be .*a picture has \d+ bytes; {tmp_path} has 4096"):
        Video(path)


def test_files_without_pictures_are_refused(tmp_path):
    with av.open(str(tmp_path / "sound.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(InputError, match=r"sound\.mp4 holds no video"):
        VideoDecoder(tmp_path / "sound.mp4")
    content = write(tmp_path / "m.avi", "mjpeg", {}).read_bytes()
    (tmp_path / "m.avi").write_bytes(content[: content.index(b"movi") + 4])
    with pytest.raises(InputError, match=r"m\.avi holds no frames"):
        VideoDecoder(tmp_path / "m.avi")


def test_a_title_that_is_no_utf_8_is_no_matter_and_an_unknown_codec_is_refused(tmp_path):
    path = write(tmp_path / "m.avi", "mjpeg", {}, title="Z#rich")
    path.write_bytes(path.read_bytes().replace(b"Z#rich", "Zürich".encode("latin-1")))
    assert read_all(path, (3, 0)) == {3: 3, 0: 0}
    path = write(tmp_path / "p.avi", "mpeg4", {})
    path.write_bytes(path.read_bytes().replace(b"FMP4", b"ZZQZ"))
    with pytest.raises(InputError, match=r"p\.avi cannot be read as a video: PyAV has no decoder for it"):
        VideoDecoder(path)
