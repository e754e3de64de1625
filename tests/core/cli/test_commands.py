import os
import re
import subprocess
import sys

import pytest
from programs import run_python

from core.cli import COMMANDS, main
from core.cli.options import option_flag
from core.reconstruction.settings import SETTINGS


def test_the_help_has_one_line_for_every_command(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", printed, flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_a_description(command, capsys):
    assert main([command, "--help"]) == 0
    usage, description, *_ = capsys.readouterr().out.split("\n\n")
    assert usage.startswith(f"usage: nrsfm {command} ") and len(description) > 20


@pytest.mark.parametrize("command", ["solve", "guide", "sweep"])
def test_the_help_is_short_and_the_complete_one_lists_every_option(command, capsys):
    assert main([command, "--help"]) == 0
    short = listed_options(capsys.readouterr().out)
    assert main([command, "--help-all"]) == 0
    printed = capsys.readouterr().out
    complete = listed_options(printed)
    assert 18 <= len(short) <= 26 and {"--help-all", "--preset", "--rank"} < short < complete
    assert complete > {option_flag(name) for name in SETTINGS} and len(complete) > 60
    assert f"usage: nrsfm {command} " in printed


def listed_options(text):
    return set(re.findall(r"^  (?:-\w(?: [A-Z]+)?, )?(--[\w-]+)", text, flags=re.MULTILINE))


def test_only_the_command_that_is_asked_for_is_imported():
    code = "import sys; from core.cli import main; main(['info', '--help']); print(*sys.modules, sep='\\n')"
    done = run_python("-c", code, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in COMMANDS if f"core.cli.{name}" in loaded} == {"info"}
    assert not any(name.startswith("core.experiments") for name in loaded)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the words are asked for through a file descriptor")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nrsfm so", {"solve"}),
        ("nrsfm solve --preset ", {"recommended", "bilinear", "paper", "lowrank"}),
        ("nrsfm guide x --ov", {"--over"}),
    ],
)
def test_a_shell_completes_commands_options_and_their_values(line, words, tmp_path):
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": " ", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    where = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    found = tmp_path / "words"
    program = f"{sys.executable} -m core 8>{found} 9>/dev/null"
    done = subprocess.run(program, shell=True, env=os.environ | asked | where, check=False)
    assert (done.returncode, set(found.read_text().split())) == (0, words)


@pytest.mark.parametrize(("word", "hint"), [("--pionts", "; the nearest is --points"), ("--zzzzzz", "")])
def test_an_option_that_does_not_exist_is_refused_by_its_command(word, hint, capsys):
    assert main(["track", "a.mp4", "-o", "a.npz", word, "4"]) == 2
    found = capsys.readouterr().err
    assert found == f"nrsfm track: unrecognized arguments: {word} 4{hint} (see nrsfm track --help)\n"
