"""Signals, at any moment between the first line of the program and the end of what a script does; kill -9."""

import signal
import subprocess
import sys
import time

import pytest
from patience import PATIENCE
from programs import environment_of, run_python

from core import load_result, simulate, write_npz
from nrsfm_gui.sessions.session_file import read_session

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


def offscreen(folder, **variables):
    return environment_of(folder, QT_QPA_PLATFORM="offscreen", **variables)


STARTED = """
import os, sys
from nrsfm_gui.__main__ import run

place, number = os.environ["PLACE"], int(os.environ["NUMBER"])

class Signaling:
    def find_spec(self, name, path, target=None):
        if name == place:
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Signaling())
sys.exit(run())
"""


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("nrsfm_gui.app", signal.SIGTERM),
        ("nrsfm_gui.main_window", signal.SIGINT),
        pytest.param("PyQt6.QtWidgets", signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param("nrsfm_gui.widgets.plots.plot_export", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_signal_while_the_application_starts_ends_it_without_a_traceback(tmp_path, place, number):
    variables = offscreen(tmp_path, PLACE=place, NUMBER=str(int(number)))
    done = run_python("-c", STARTED, "sample:stretch/circle", env=variables)
    assert done.returncode == 128 + number, done.stderr
    assert "Traceback" not in done.stderr


WITHOUT_LOOP = """
import os, signal, sys
from nrsfm_gui.main_window import MainWindow
begin = MainWindow.begin
def signaled(window, arguments):
    begin(window, arguments)
    os.kill(os.getpid(), signal.SIGTERM)
MainWindow.begin = signaled
from nrsfm_gui.__main__ import run
sys.exit(run())
"""


@pytest.mark.slow
def test_a_signal_before_the_first_event_closes_the_window(tmp_path):
    done = run_python("-c", WITHOUT_LOOP, env=offscreen(tmp_path))
    assert (done.returncode, done.stderr) == (143, "")


ENDLESS = (
    "--run", "--renderer", "software", "--method", "irnn", "--margin", "100", "--max-iterations", "1000000",
    "--rotations", "truth",
)  # fmt: skip
STOPPED = """
import os, sys
from nrsfm_gui.engine.run_control import RunControl
apply = RunControl._apply
def applied(control, run, content):
    apply(control, run, content)
    if len(run.history) > 20 and run.state.alive and not hasattr(control, "signaled"):
        control.signaled = True
        if os.path.isdir("gone"):
            os.rmdir("gone")
        os.kill(os.getpid(), int(os.environ["NUMBER"]))
RunControl._apply = applied
from nrsfm_gui.__main__ import run
sys.exit(run())
"""


def run_stopped(folder, number, *words):
    """Run a script whose run does not end, and send it a signal after twenty iterations."""
    tracks = folder / "tracks.npz"
    write_npz(simulate("balloon", frames=14, points=16, seed=3), tracks)
    (folder / "temporary").mkdir()
    variables = offscreen(folder, NUMBER=str(int(number)), TMPDIR=str(folder / "temporary"))
    return run_python("-c", STOPPED, tracks, *ENDLESS, *words, cwd=folder, env=variables)


@pytest.mark.slow
def test_a_signal_exports_the_best_so_far_of_a_script(tmp_path):
    result, table, number = tmp_path / "result.npz", tmp_path / "table.csv", signal.SIGINT
    done = run_stopped(tmp_path, number, "--export", str(result), "--export", str(table), "--exit")
    assert done.returncode == 128 + number
    assert done.stderr == (f"nrsfm-gui: stopped by {number.name}; the best so far is in {result}, {table}\n")
    assert load_result(result).iterations >= 20
    assert table.read_text().count("\n") == 1 + 14 * 16


@pytest.mark.slow
def test_what_a_script_cannot_export_is_in_the_temporary_folder(tmp_path):
    (tmp_path / "gone").mkdir()
    result = tmp_path / "result.npz"
    exports = "--export", str(result), "--export", "gone/table.csv"
    done = run_stopped(tmp_path, signal.SIGTERM, *exports, "--exit")
    assert done.returncode == 143
    (copy,) = (tmp_path / "temporary").glob("*.nrsfm")
    assert done.stderr == (
        "nrsfm-gui: gone/table.csv cannot be written: the folder gone does not exist. "
        f"The session is saved in {copy}\nnrsfm-gui: stopped by SIGTERM; the best so far is in {result}\n"
    )
    assert read_session(copy).sequences[0].runs[0].history.records


READING = """
import sys, time
from core.io.files import sandbox
pool = sandbox._processes()
call = pool.call
pool.call = lambda *_, **__: call(time.sleep, 600, timeout=600)
from nrsfm_gui.__main__ import run
sys.exit(run())
"""


@pytest.mark.slow
def test_the_processes_of_a_window_end_when_it_is_killed(tmp_path):
    psutil = pytest.importorskip("psutil")
    pytest.importorskip("h5py")
    slow = tmp_path / "slow.mat"
    slow.write_bytes(bytes(512) + b"\x89HDF\r\n\x1a\n")
    window = subprocess.Popen([sys.executable, "-c", READING, str(slow)], env=offscreen(tmp_path))
    try:
        own = psutil.Process(window.pid)
        children = []
        while not any("spawn_main" in str(each.cmdline()) for each in children):
            assert window.poll() is None
            time.sleep(0.05)
            children = own.children(recursive=True)
    finally:
        window.kill()
        window.wait()
    _ended, left = psutil.wait_procs(children, timeout=PATIENCE)
    for each in left:
        each.kill()
    assert children and not left
