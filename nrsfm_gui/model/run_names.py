"""Names of runs, methods and penalties where there is little space: pure functions, no Qt."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING

from core import METHODS, ExplicitWeights, Settings
from core.foundation import DEPTHS
from core.reconstruction import preset_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from core import Penalty
    from nrsfm_gui.model.run import Run

# A line of the list of runs has space for about twenty letters.
SHORT_METHODS = {name: method.title for name, method in METHODS.items()} | {
    "bilinear": "bilinear",
    "lm": "LM",
    "paper": "Algorithm 1",
    "admm+bilinear": "ADMM+bilinear",
}


def run_name(settings: Settings) -> str:
    """Return a preset's name, or the method with its own numbers, the penalty, and an unusual problem.

    First of all frames that were mirrored before the refinement; last a robust loss and hidden observations.
    """
    if settings.mirror is not None:
        return f"{settings.mirror} mirrored, {run_name(settings.with_changes(mirror=None))}"
    special = [settings.loss.capitalize()] if settings.loss != "squared" else []
    special += ["hidden tracks"] if settings.hide is not None else []
    if special:
        plain = settings.with_changes(loss="squared", loss_scale=None, hide=None)
        return ", ".join([run_name(plain), *special])
    words = [_method_text(settings), settings.penalty.short]
    if settings.problem == "lowrank":
        words.append("low rank")  # last: a narrow list cuts what is the same for all runs of a comparison
    return preset_name(settings) or ", ".join(words)


def _method_text(settings: Settings) -> str:
    name = SHORT_METHODS[settings.method]
    if settings.objective == DEPTHS:
        name = "depths" if settings.method == "bilinear" else f"{name}, depths"
    return " ".join([name, *option_texts(settings)])


def distinction(settings: Settings, runs: Collection[Settings]) -> str:
    """Return what distinguishes settings from those of other runs, the rarest first: "rank 8, xi 0.3".

    What all have is left out. Where they have the same it is what the recommended preset lacks, or the name.
    """
    count = Counter(part for each in runs for part in _parts(each).items())
    keys = Counter(key for key, _text in count)  # in how many variants
    other = [part for part in _parts(settings).items() if keys[part[0]] > 1 and part[1]]
    if not other and preset_name(settings) is None and Settings() not in runs:
        return distinction(settings, (settings, Settings()))
    return ", ".join(text for _key, text in sorted(other, key=count.__getitem__)) or run_name(settings)


def _parts(settings: Settings) -> dict[str, str]:
    """Return the settings that runs are distinguished by, each in a word or two, "" where it is usual."""
    penalty = settings.penalty
    parts = {"rank": f"rank {settings.rank}", "eta": f"eta {settings.eta:g}"}
    if isinstance(penalty, ExplicitWeights):
        parts["penalty"] = penalty_text(penalty)
    else:
        parts |= {"penalty": penalty.short, **_numbers_of(penalty)}
    return parts | {
        "method": _method_text(settings),
        "problem": "low rank" if settings.problem == "lowrank" else "",
        "loss": settings.loss.capitalize() if settings.loss != "squared" else "",
        "hide": "hidden tracks" if settings.hide is not None else "",
        "mirror": f"{settings.mirror} mirrored" if settings.mirror is not None else "",
    }


def penalty_text(penalty: Penalty) -> str:
    """Return a penalty with its numbers: "WNN, xi 0.5, gamma 1e-06", "weights 0, 0.1, 0.2"."""
    word = penalty.short
    if isinstance(penalty, ExplicitWeights):
        return " ".join((word, ", ".join(f"{weight:.3g}" for weight in penalty.a)))
    return ", ".join((word, *_numbers_of(penalty).values()))


def _numbers_of(penalty: Penalty) -> dict[str, str]:
    """Return the numbers of a penalty by their names: "xi 0.5"."""
    names = [entry.name for entry in fields(penalty)]  # type: ignore[arg-type]
    return {name: f"{name} {getattr(penalty, name):g}" for name in names}


def option_texts(settings: Settings) -> list[str]:
    """Return "rho 0.1", ... of the options that are not the method's defaults."""
    return [f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in settings.options]


def settings_text(settings: Settings) -> str:
    """Return the settings of a run, in a line: "recommended, rank 6, eta 0.05, WNN, xi 0.5"."""
    numbers = f"rank {settings.rank}, eta {settings.eta:g}, {penalty_text(settings.penalty)}"
    return f"{preset_name(settings) or METHODS[settings.method].title}, {numbers}"


def run_title(run: Run) -> str:
    """Return the name that the user gave a run, or else one from its settings."""
    return run.title or run_name(run.settings)


def numbered_title(run: Run, solution: str = "refined", runs: Collection[Run] = ()) -> str:
    """Return the number of a run and its name: "3: recommended", or "3: bilinear" of one of its solutions.

    Where it has no title it is named by what distinguishes it from other `runs`: "3: rank 8".
    """
    if run.last is not None and solution in run.last.alternatives:
        return f"{run.number}: {solution}"
    return f"{run.number}: {run.title or distinction(run.settings, [each.settings for each in runs])}"
