import shlex

import pytest

from core.cli import main, parser, settings_from
from core.cli.options import objective_sentence
from core.cli.sweep import _combinations

pytestmark = pytest.mark.usefixtures("brief_search")

NORM = "weighted nuclear norm of the shapes plus the pOSE error of the tracks"
ENERGY = "energy of the depths along the observed rays"
CHOSEN = {  # the objective, its reason, and what is said of the other options
    "": ("depths", "the default", ""),
    "--starts 4 --loss cauchy": ("depths", "the default", ""),
    "--rank 2": ("wnn", "--rank", ""),
    "--rank 6": ("wnn", "--rank", ""),  # also where it is the default one
    "--eta 0.1 --rank 3": ("wnn", "--rank, --eta", ""),
    "--xi 0.1 --penalty wnn": ("wnn", "--penalty, --xi", ""),
    "--weights 0.1,0.2": ("wnn", "--weights", ""),
    "--method lm": ("wnn", "--method", ""),
    "--method admm --rho 2": ("wnn", "--method, --rho", ""),
    "--isometry 1": ("depths", "--isometry", ""),
    "--mode-weights 1,2 --smallest-movement 0.01": ("depths", "--mode-weights, --smallest-movement", ""),
    "--rank 2 --noise 0": ("depths", "--noise", "; --rank: for its start"),
    "--preset recommended --rank 2": ("depths", "--preset recommended", "; --rank: for its start"),
    "--preset bilinear --isometry 1": ("wnn", "--preset bilinear", "; --isometry: without effect on it"),
    "--objective depths --eta 0.1": ("depths", "--objective", "; --eta: for its start"),
    "--objective wnn --neighbors 3": ("wnn", "--objective", "; --neighbors: without effect on it"),
    "--preset recommended --objective wnn": ("wnn", "--objective", ""),
    "--problem lowrank --rank 5": ("wnn", "--rank", ""),
}


def parsed(words):
    return parser().parse_args(["solve", "tracks.txt", *shlex.split(words), "-o", "out.npz"])


@pytest.mark.parametrize("words", CHOSEN)
def test_options_choose_the_objective_and_a_sentence_says_which(words):
    args, (objective, reason, others) = parsed(words), CHOSEN[words]
    settings = settings_from(args)
    assert settings.objective == objective
    title = {"depths": ENERGY, "wnn": NORM}[objective]
    assert objective_sentence(args, settings) == f"minimizes the {title} ({reason}){others}"


def test_solve_says_what_each_step_minimizes_unless_it_is_quiet(tracks, tmp_path, capsys):
    path = tmp_path / "a.npz"
    words = ["solve", tracks, "--rank", "2", "--rotations", "truth", "--iterates", "3", "-o", str(path)]
    assert main([*words, "--then=--rotations truth --rank 2 --isometry 1 --iterates 2"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"nrsfm solve: minimizes the {NORM} (--rank)",
        f"nrsfm solve: then minimizes the {ENERGY} (--isometry); --rank: for its start",
    ]
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "objectives"),
    [
        ("--set rank=2,4", {"wnn"}),
        ("--set rank=2,4 --objective depths", {"depths"}),
        ("--set rank=2,4 --preset recommended", {"depths"}),
        ("--set isometry=0.1,1", {"depths"}),
        ("--set isometry=0.1,1 --rank 2", {"depths"}),
        ("--set xi=0.1,1 smallest-movement=0.01,0.1", {"depths"}),
        ("--set mode-weights=1,5", {"depths"}),
        ("--set objective=depths,wnn --rank 2", {"depths", "wnn"}),
        ("--seeds 0:2", {"depths"}),
    ],
)
def test_what_a_sweep_varies_chooses_the_objective(words, objectives):
    args = parser().parse_args(["sweep", "data", *words.split(), "-o", "out"])
    found = list(_combinations(args))
    assert len(found) > 1 and {each.objective for each in found} == objectives
