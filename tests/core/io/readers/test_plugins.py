"""Readers of other packages: distributions on the path, with entry points in the group `nrsfm.readers`."""

import sys

import numpy as np
import pytest

from core import InputError, list_sequences, read_sequence, simulate
from core.cli import main
from core.io.readers import READERS, Reader, installed_plugins, installed_readers

GOOD = '''
import numpy as np

from core import Sequence
from core.io.readers import Reader
from core.io.files.variables import LoadedFile


def load(file, options):
    """Return the tracks (F, 2, P) behind the first line; a file of "crash" is not foreseen."""
    if b"crash" in file.content:
        raise ZeroDivisionError("a defect\\nof the package")
    tracks = np.frombuffer(file.content[8:]).reshape(-1, 2, int(file.content[6:8]))
    return Sequence(tracks, source=file.path, name="of a package")


def check(path, content):
    """Return what a file holds, before its tracks; a file of "exit" ends the program."""
    if b"exit" in content:
        raise SystemExit("no license")
    return LoadedFile(path, content, {})


READER = Reader(
    ".vic", "Tracks of Vic", load, check, recognizes=lambda content: content.startswith(b"VIC ")
)


def make():
    return READER
'''


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package of one module whose entry points are given, and forget it afterwards."""
    before = dict(READERS)
    number = 0

    def write(code, **entries):
        nonlocal number
        number += 1
        module = f"nrsfm_vic_{number}"
        site = tmp_path / f"site{number}"
        info = site / f"{module}-1.2.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: nrsfm-vic-{number}\nVersion: 1.2\n")
        lines = [f"{name} = {module}:{value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[nrsfm.readers]", *lines]) + "\n")
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, module, raising=False)  # that of another test
        installed_plugins.cache_clear()

    yield write
    READERS.clear()
    READERS.update(before)
    installed_plugins.cache_clear()


def vic_file(path):
    sequence = simulate("paper", frames=4, points=16, seed=1)
    path.write_bytes(b"VIC 1 16" + sequence.tracks.tobytes())
    return sequence


@pytest.mark.parametrize("value", ["READER", "make"])
def test_a_reader_of_an_installed_package_is_used_by_suffix_by_content_in_folders(value, install, tmp_path):
    install(GOOD, vic=value)
    (tmp_path / "data").mkdir()
    for name in ("walk.vic", "walk.dat"):
        sequence = vic_file(tmp_path / "data" / name)
        np.testing.assert_array_equal(read_sequence(tmp_path / "data" / name).tracks, sequence.tracks)
    (entry,) = list_sequences(tmp_path / "data")
    assert entry.file.name == "walk.vic"
    assert installed_readers()[".vic"].label == "Tracks of Vic"


def test_a_package_that_fails_is_named_and_disables_only_itself(install, tmp_path, capsys):
    install("raise RuntimeError('needs\\na license')", broken="READER")
    install("READER = 7", wrong="READER")
    install(GOOD.replace(".vic", ".csv"), greedy="READER")
    install(GOOD, absent="NOTHING", leaving="READER")
    install("import sys; sys.exit('no license')", exits="READER")
    install(GOOD, vic="READER")
    assert main(["formats"]) == 0
    page = capsys.readouterr().out.split("## Readers of installed packages\n\n")[1].splitlines()
    assert page == [
        "- absent (nrsfm-vic-4 1.2) is left out: "
        "AttributeError: module 'nrsfm_vic_4' has no attribute 'NOTHING'",
        "- broken (nrsfm-vic-1 1.2) is left out: RuntimeError: needs a license",
        "- exits (nrsfm-vic-5 1.2) is left out: SystemExit: no license",
        "- greedy (nrsfm-vic-3 1.2) is left out: files .csv have a reader",
        "- leaving (nrsfm-vic-4 1.2) reads .vic, Tracks of Vic",
        "- vic (nrsfm-vic-6 1.2) is left out: files .vic have a reader",
        "- wrong (nrsfm-vic-2 1.2) is left out: "
        "nrsfm_vic_2:READER is int; accepted is core.io.readers.Reader",
    ]
    sequence = vic_file(tmp_path / "a.vic")
    np.testing.assert_array_equal(read_sequence(tmp_path / "a.vic").tracks, sequence.tracks)


def test_an_error_of_a_package_while_reading_is_a_sentence_and_of_its_files_alone(install, tmp_path):
    install(GOOD.replace('content.startswith(b"VIC ")', "1 / 0"), vic="READER")
    (tmp_path / "bad.vic").write_bytes(b"VIC crash")
    read = r"bad\.vic: cannot be read as Tracks of Vic by the reader vic of another package"
    with pytest.raises(InputError, match=rf"{read} \(a defect of the package\)"):
        read_sequence(tmp_path / "bad.vic")
    (tmp_path / "bad.vic").write_bytes(b"VIC exit")
    with pytest.raises(InputError, match=rf"{read} \(no license\)"):
        read_sequence(tmp_path / "bad.vic")
    lines = ["frame,point,x,y", *(f"{frame},{point},1,2" for frame in (0, 1) for point in range(4))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert read_sequence(tmp_path / "t.csv").frame_count == 2
    assert isinstance(READERS[".vic"], Reader)


@pytest.mark.parametrize(
    ("answer", "why"), [("np.arange(3) > 1", "The truth value of an array"), ("1 / 0", "division by zero")]
)
def test_a_reader_that_fails_to_recognize_a_file_is_named_where_no_other_does(answer, why, install, tmp_path):
    install(GOOD.replace('content.startswith(b"VIC ")', answer), vic="READER")
    sequence = vic_file(tmp_path / "walk.vic")
    np.testing.assert_array_equal(read_sequence(tmp_path / "walk.vic").tracks, sequence.tracks)
    vic_file(tmp_path / "walk.dat")
    with pytest.raises(InputError, match=rf"; the reader vic .* failed to recognize it \({why}.*\)$"):
        read_sequence(tmp_path / "walk.dat")
