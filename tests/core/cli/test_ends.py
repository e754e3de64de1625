import os
import signal
import subprocess
import sys
import tempfile
from contextlib import nullcontext, suppress

import pytest
from programs import run_python

from core import load_result, read_sequence
from core.cli import main
from core.cli.console import ProgressLine
from core.stop_signals import STOP_SIGNALS

QUICK = ["--rank", "2", "--rotations", "truth", "--objective", "wnn"]
TRACKING = ["track", "sample:sheet", "--points", "20", "--end", "5"]


@pytest.mark.parametrize(
    ("number", "lost"), [*((each, nullcontext) for each in STOP_SIGNALS), (signal.SIGTERM, suppress)]
)
def test_a_signal_writes_the_best_so_far_also_where_a_library_loses_its_exception(
    tracks, tmp_path, monkeypatch, capsys, number, lost
):
    handlers = [signal.getsignal(each) for each in STOP_SIGNALS]
    shown = []

    def stop(_line, _iterate):
        shown.append(None)
        if len(shown) == 2:
            with lost(KeyboardInterrupt):
                os.kill(os.getpid(), number)

    monkeypatch.setattr(ProgressLine, "show", stop)
    path = tmp_path / "a.npz"
    assert main(["solve", tracks, *QUICK, "-o", str(path)]) == 128 + number
    assert "stopped; the best so far is in" in capsys.readouterr().err
    assert load_result(path).iterations < 5
    assert [signal.getsignal(each) for each in STOP_SIGNALS] == handlers


def test_what_was_stopped_before_its_depths_says_so(tracks, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ProgressLine, "show", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    path = tmp_path / "a.npz"
    assert main(["solve", tracks, "--starts", "1", "-o", str(path)]) == 143
    assert capsys.readouterr().err.endswith(f"is in {path}, from before the depths were refined\n")


def test_an_end_that_is_not_there_is_refused_and_the_lowest_one_is_written(solved, tracks, tmp_path, capsys):
    path = tmp_path / "a.npz"
    assert main(["solve", tracks, *QUICK, "--end", "500", "-o", str(path)]) == 2
    said = f"the refinement has no end 500; accepted are 1 to 1; the best so far is in {path}\n"
    assert capsys.readouterr().err.endswith(said)
    kept = load_result(path)
    assert kept.loss == load_result(solved).loss and kept.meta["status"] == "converged"


def test_a_signal_while_the_end_is_being_written_loses_nothing(tracks, tmp_path, monkeypatch, capsys):
    replace, sent = os.replace, []

    def signaled(*names):
        if not sent:
            sent.append(os.kill(os.getpid(), signal.SIGTERM))
        replace(*names)

    monkeypatch.setattr(os, "replace", signaled)
    result = tmp_path / "a.npz"
    assert main(["solve", tracks, *QUICK, "-o", str(result)]) == 143
    assert f"stopped; the best so far is in {result}" in capsys.readouterr().err
    assert load_result(result).meta["status"] == "converged"


def test_what_cannot_be_written_in_the_end_is_written_elsewhere(tracks, tmp_path, monkeypatch, capsys):
    elsewhere, gone = tmp_path / "elsewhere", tmp_path / "gone"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    clear = ProgressLine.clear

    def removing(line):  # at the end of what is computed
        gone.rmdir()
        clear(line)

    monkeypatch.setattr(ProgressLine, "clear", removing)
    solving = ["solve", tracks, *QUICK]
    for words, what, read in ((solving, "result", load_result), (TRACKING, "sequence", read_sequence)):
        gone.mkdir()
        assert main([*words, "-o", str(gone / "a.npz")]) == 2
        (path,) = elsewhere.iterdir()
        sentence = f"the folder {gone} does not exist. The {what} is saved in {path}\n"
        assert capsys.readouterr().err.endswith(sentence)
        assert read(path).frame_count > 1 and path.stat().st_mode & 0o777 == 0o600
        path.unlink()


def nrsfm(words, redirection="", **options):
    """Run a command in a shell; return its exit code, what it printed, and its errors."""
    line = f'exec "$0" -m core "$@" {redirection}'
    words = ["sh", "-c", line, sys.executable, *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_output_is_a_sentence(tracks):
    code, _printed, errors = nrsfm(["info", tracks], ">/dev/full")
    assert (code, errors) == (2, "nrsfm info: standard output: No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", ["--help", "solve --help", "formats", "info sample:"])
def test_a_reader_that_goes_ends_the_command_in_silence(words, tmp_path):
    said = tmp_path / "said"
    with said.open("wb") as errors:
        command = [sys.executable, "-m", "core", *words.split()]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        process.stdout.close()
        code = process.wait()
    assert (code, said.read_bytes()) == (141, b"")


@pytest.mark.slow
def test_a_closed_output_is_a_sentence_and_closed_errors_change_nothing(tracks, tmp_path):
    path = tmp_path / "a.npz"
    words = ["solve", tracks, *QUICK, "-o", str(path)]
    code, _printed, errors = nrsfm([*words, "--json", "--quiet"], ">&-")
    assert (code, errors) == (2, "nrsfm solve: standard output: Bad file descriptor\n")
    whole = load_result(path)
    code, printed, _errors = nrsfm(words, "2>&- <&-")
    assert code == 0 and printed.endswith(f"wrote {path}\n")
    assert load_result(path).loss == whole.loss


def test_a_signal_during_the_start_leaves_no_traceback():
    code = (
        "import os, signal, sys, builtins\n"
        "from core.__main__ import run\n"
        "real = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name == 'numpy':\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = stop\n"
        "sys.exit(run())\n"
    )
    done = run_python("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "", "")


def test_a_signal_while_code_of_a_string_runs_ends_with_its_code(tmp_path):
    (tmp_path / "stopped.py").write_text(
        "import os, signal, sys\n"
        "from dataclasses import make_dataclass\n"
        "from core.cli import main\n"
        "import core.cli.formats\n"
        "def stop(frame, event, value):\n"
        "    if frame.f_code.co_filename == '<string>':  # of which a dataclass makes its methods\n"
        "        sys.settrace(None)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "def run(args):\n"
        "    sys.settrace(stop)\n"
        "    make_dataclass('Late', ['value'])\n"
        "core.cli.formats.run = run\n"
        "sys.exit(main(['formats']))\n"
    )
    done = run_python("-m", "stopped", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "nrsfm formats: stopped\n")
