"""Names of files that are no UTF-8: every command takes them, and what it writes and prints is UTF-8."""

import os
import shutil
import sys

import numpy as np
import pytest
from rendering import render

from core import WRITERS, simulate, write_challenge, write_csv, write_npz
from core.cli import main
from core.experiments import figures
from core.experiments.report import CodeBlock, Heading, write_report

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
NAME = b"a\xff".decode("utf-8", "surrogateescape")
QUICK = "--rank 2 --rotations truth --objective wnn --quiet"
LINES = [
    "info {0}.npz --json", "info {0}",
    f"solve {{0}}.npz {QUICK} --start {{0}}result.npz -o {{0}}out.npz --history {{0}}out.csv --json",
    f"solve {{0}}.csv {QUICK} --rotations {{0}}R.npz --hide {{0}}hide.txt -o {{0}}out.mat",
    "evaluate {0}result.npz --json",
    *(f"export {{0}}result.npz -o {{0}}out{suffix}" for suffix in (".ply", ".usda", ".gltf", ".html")),
    *(
        pytest.param(f"export {{0}}result.npz -o {{0}}out{suffix}", marks=pytest.mark.slow)
        for suffix in WRITERS
        if suffix not in (".ply", ".usda", ".gltf", ".html", ".pvd")
    ),
    "simulate paper --path line --frames 5 --points 15 -o {0}out",
    *(
        pytest.param(line, marks=pytest.mark.slow)
        for line in (
            f"guide {{0}}.npz {QUICK} --folds 1 --over eta --values 0.1 --json",
            "track {0}.mp4 --points 9 -o {0}out.npz",
            "benchmark --sizes 8x15 --rank 2 --methods bilinear --seconds 0.1 -o {0}out",
            "sweep {0}.npz --set rank=2 --rotations truth --objective wnn --jobs 1 -o {0}out",
        )
    ),
]  # fmt: skip
BINARY = (".npz", ".mat", ".glb", ".ply", ".png", ".parquet", ".mp4")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with files of such names."""
    made = tmp_path_factory.mktemp("names")
    sequence = simulate("paper", frames=8, points=18)
    write_npz(sequence, made / f"{NAME}.npz")
    write_csv(sequence, made / f"{NAME}.csv")
    with (made / f"{NAME}R.npz").open("wb") as stream:
        np.savez(stream, R=sequence.rotations)
    (made / f"{NAME}hide.txt").write_text("3:2")
    render("paper", frames=5, size=(96, 72)).write(made / "video.mp4")
    (made / "video.mp4").rename(made / f"{NAME}.mp4")
    write_challenge(made / NAME, "paper", paths=("line",), frames=8, points=18)
    place = str(made / NAME)
    assert main(["solve", f"{place}.npz", *QUICK.split(), "-o", f"{place}result.npz"]) == 0
    return made


@pytest.fixture
def place(inputs, tmp_path, monkeypatch):
    """Work in a copy of the folder."""
    made = tmp_path / "place"
    shutil.copytree(inputs, made, copy_function=os.link)
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("line", LINES)
def test_every_command_takes_a_name_that_is_no_text(line, place, capsys):
    assert main(line.format(NAME).split(" ")) == 0, capsys.readouterr().err
    printed, errors = capsys.readouterr()
    for text in (printed, errors):
        text.encode("utf-8")
    for file in place.rglob("*"):
        if file.is_file() and file.suffix not in BINARY:
            file.read_bytes().decode("utf-8")


def test_a_list_of_xml_refuses_what_it_cannot_hold(place, capsys):
    for name in (f"{NAME}.pvd", "a\x1b.pvd"):
        assert main(["export", f"{NAME}result.npz", "-o", name]) == 2
        assert "is no name that XML can hold" in capsys.readouterr().err
    assert not list(place.glob("*.vtp"))


def test_reports_and_figures_hold_names_that_are_no_text_or_a_formula(place):
    page = write_report([Heading(NAME, 1), CodeBlock(f"nrsfm info {NAME}")], NAME, place)
    assert "a\\udcff" in page.read_text(encoding="utf-8")
    curve = {"a method": (np.ones(3), np.ones(3))}
    picture = place / "a.png"
    figures.draw_curves(picture, {f"{NAME} $\\frac$": curve}, ("s", "loss"))
    figures.draw_curves(picture, {"$x^$.npz": curve}, ("s", "loss"), titles={"a method": "A method"})
    assert picture.read_bytes().startswith(b"\x89PNG")
