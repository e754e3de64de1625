"""What runs, the ground truth of a sequence and its points are called. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from functools import lru_cache
from itertools import groupby

from core import METHODS, PRESETS, ExplicitWeights, Penalty, Sequence, Settings
from core.data import GROUND_TRUTH
from core.foundation import WNN
from core.reconstruction import nearest_preset, preset_name
from nrsfm_gui.model.changes import Difference, differences
from nrsfm_gui.model.run import Run

ERROR = "3-D error"


def truth_phrase(name: str) -> str:
    """Return "the ground truth", or the name of the program whose reconstruction takes its place."""
    return f"the {name}" if name == GROUND_TRUTH else name


def error_name(truth: str) -> str:
    """Return what a distance to the truth of a sequence is called: no error, where it is no ground truth."""
    return ERROR if truth == GROUND_TRUTH else f"distance to {truth}"


def truth_name(sequence: Sequence | None) -> str:
    """Return what the truth of a sequence is, "ground truth" where there is no sequence."""
    return GROUND_TRUTH if sequence is None else sequence.truth_name


def point_label(point: int, names: Collection[str] | None) -> str:
    """Return "point 3", or "point 3, nose" where points have names; `point` is 0-based."""
    name = "" if names is None else f", {tuple(names)[point]}"
    return f"point {point + 1}{name}"


# A line of the list of runs has space for about twenty letters.
SHORT_METHODS = {name: method.title for name, method in METHODS.items()} | {
    "bilinear": "bilinear",
    "lm": "LM",
    "paper": "Algorithm 1",
    "admm+bilinear": "ADMM+bilinear",
}
MOST_PARTS = 4  # of a name
MOST_WEIGHTS = 4  # in a name


@lru_cache(maxsize=256)  # every panel asks for it at every update
def run_name(settings: Settings) -> str:
    """Return the nearest preset and what differs from it: "bilinear, rank 8"."""
    preset = nearest_preset(settings)
    base = PRESETS[preset].with_changes(method=settings.method)  # with the refinement that it brings
    parts = [] if base.method == PRESETS[preset].method else [SHORT_METHODS[base.method]]
    parts += dict.fromkeys(_part(each, settings) for each in differences(base, settings))
    if not parts or PRESETS[preset] != Settings():
        parts.insert(0, preset)
    more = len(parts) - MOST_PARTS
    return ", ".join(parts if more < 2 else [*parts[:MOST_PARTS], f"{more} more"])


def _part(difference: Difference, settings: Settings) -> str:
    """Return what differs from a preset in a word or two."""
    explicit = settings.penalty.a if isinstance(settings.penalty, ExplicitWeights) else ()
    weights = {"weights": explicit, "mode_weights": settings.mode_weights}.get(difference.key)
    if weights:
        alike = groupby(f"{weight:.3g}" for weight in weights)
        groups = [_alike(weight, len(tuple(equal))) for weight, equal in alike]
        more = ["…"] if len(groups) > MOST_WEIGHTS else []
        return f"weights {', '.join(groups[:MOST_WEIGHTS] + more)}"
    texts = {
        "penalty": penalty_text(settings.penalty),
        "hide": "held out",
        "intrinsics": "given K" if isinstance(settings.intrinsics, tuple) else difference.after,
        "mirror": f"{settings.mirror} mirrored",
        "loss": settings.loss.capitalize(),
    }
    return texts.get(difference.key, f"{difference.name} {difference.after}")


def _alike(weight: str, count: int) -> str:
    """Return a weight that stands a number of times in a row: "1", "1, 1", "9 × 1"."""
    return f"{count} × {weight}" if count > 2 else ", ".join([weight] * count)


def penalty_text(penalty: Penalty) -> str:
    """Return a penalty with its numbers: "WNN, xi 0.5, gamma 1e-06", "weights 0, 0.1, 0.2"."""
    word = penalty.short
    if isinstance(penalty, ExplicitWeights):
        return " ".join((word, ", ".join(f"{weight:.3g}" for weight in penalty.a)))
    names = [entry.name for entry in fields(penalty)]  # type: ignore[arg-type]
    return ", ".join((word, *(f"{name} {getattr(penalty, name):g}" for name in names)))


def option_texts(settings: Settings) -> list[str]:
    """Return "rho 0.1", ... of the options that are not the method's defaults."""
    return [f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in settings.options]


def settings_text(settings: Settings) -> str:
    """Return the settings of a run, in a line: "bilinear, rank 6, eta 0.05, WNN, xi 0.5"."""
    return f"{preset_name(settings) or METHODS[settings.method].title}, {parameters_text(settings)}"


def parameters_text(settings: Settings) -> str:
    """Return the parameters of what a run minimizes, and then those of its start where it has one."""
    numbers = f"rank {settings.rank}, eta {settings.eta:g}, {penalty_text(settings.penalty)}"
    if settings.objective == WNN:
        return numbers
    depths = f"isometry {settings.isometry:g}, smallest movement {settings.smallest_movement:g}"
    return f"{depths}, {settings.neighbors} neighbors; start: {numbers}"


def run_title(run: Run) -> str:
    """Return the name that the user gave a run, or else one from its settings."""
    return run.title or run_name(run.settings)


def numbered_title(run: Run, solution: str = "") -> str:
    """Return the number of a run and its name: "3 rank 8"; of a solution that it holds "3 rank 8: end 2"."""
    name = f"{run.number} {run_title(run)}"
    return f"{name}: {solution}" if run.last is not None and solution in run.last.alternatives else name


def sentence_name(run: Run) -> str:
    """Return the number of a run and its name after the word "run" in a sentence: "3 (rank 8)"."""
    return f"{run.number} ({run_title(run)})"
