import pytest

from core import write_challenge
from core.cli import main


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """An object's folder in the Challenge's layout: two paths, both cameras."""
    root = tmp_path_factory.mktemp("challenge")
    return write_challenge(root, "paper", paths=("circle", "line"), frames=14, points=24, seed=3)


@pytest.fixture(scope="session")
def tracks(folder):
    return str(folder / "sequence" / "perspective" / "circle.txt")


@pytest.fixture(scope="session")
def solved(tracks, tmp_path_factory):
    """A result file that the command line wrote."""
    path = tmp_path_factory.mktemp("solved") / "result.npz"
    words = ["--rank", "2", "--rotations", "truth", "--objective", "wnn", "--quiet"]
    assert main(["solve", tracks, *words, "-o", str(path)]) == 0
    return path
