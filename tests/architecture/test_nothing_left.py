"""What a test leaves behind fails it: each kind is planted, and caught under its name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
BREACHES = """
import locale, os, signal, subprocess, sys, threading
from pathlib import Path
import numpy as np, pytest

ends, shown = [], []

@pytest.fixture(scope="session", autouse=True)
def ended():
    yield
    for end in ends:
        end()

@pytest.fixture(scope="session")
def application():
    from PyQt6.QtWidgets import QApplication
    made = QApplication([])
    yield made

def test_child():
    process = subprocess.Popen(["sleep", "600"])
    ends.extend([process.kill, process.wait])

def test_orphan():
    shell = subprocess.run(["sh", "-c", "sleep 599 >/dev/null & echo $!"], stdout=subprocess.PIPE, check=True)
    ends.append(lambda: os.kill(int(shell.stdout), signal.SIGKILL))

def test_thread():
    event = threading.Event()
    threading.Thread(target=event.wait).start()
    ends.append(event.set)

def test_window(application):
    from PyQt6.QtWidgets import QWidget
    shown.append(QWidget())
    shown[-1].show()

def test_timer(application):
    from PyQt6.QtCore import QTimer
    QTimer(application).start(1000)

def test_environment():
    os.environ["HOME"] = "/"

def test_folder(tmp_path):
    os.chdir(tmp_path)

def test_locale():
    locale.setlocale(locale.LC_ALL, "C")
    locale.setlocale(locale.LC_NUMERIC, "C.UTF-8")

def test_errstate():
    np.seterr(all="ignore")

def test_printing():
    np.set_printoptions(precision=2)

def test_signals():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

def test_path():
    sys.path.append("/nowhere")

def test_settings(settings_folder):
    (settings_folder / "window.json").write_text("{}")

def test_nothing(tmp_path):
    subprocess.run(["true"], check=True)
    thread = threading.Thread(target=tuple)
    thread.start()
    thread.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
def test_what_a_test_leaves_behind_fails_it(tmp_path):
    (tmp_path / "test_breaches.py").write_text(BREACHES)
    words = ["-q", "-rE", "--tb=no", "-p", "conftest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    variables = {"PYTHONPATH": str(TESTS), "QT_QPA_PLATFORM": "offscreen", "NRSFM_TEST_PATIENCE": "0.02"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-c", os.devnull, "test_breaches.py"],
        cwd=tmp_path, capture_output=True, text=True, env=os.environ | variables | {"COLUMNS": "300"},
    )  # fmt: skip
    lines = [line.split(" - ") for line in done.stdout.splitlines() if line.startswith("ERROR ")]
    assert {place.split("::test_")[1]: reason.split("the test leaves ")[1] for place, reason in lines} == {
        "child": "behind: process sleep 600",
        "orphan": "behind: process sleep 599",
        "thread": "behind: thread Thread-1 (wait)",
        "window": "behind: window QWidget",
        "timer": "behind: timer of QApplication",
        "environment": "changed: $HOME",
        "folder": "changed: current folder",
        "locale": "changed: locale",
        "errstate": "changed: errstate of NumPy",
        "printing": "changed: printing of NumPy",
        "signals": "changed: signal handlers",
        "path": "changed: sys.path",
        "settings": "changed: settings of the application",
    }, done.stdout
    assert "14 passed, 13 errors" in done.stdout, done.stdout
