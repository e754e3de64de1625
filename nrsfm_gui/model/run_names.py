"""Names of runs, methods and penalties where there is little space: pure functions, no Qt."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING

from core import METHODS, ExplicitWeights
from core.reconstruction import preset_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from core import Penalty, Settings
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
    if settings.refine == "depth":  # what is shown of a run of the usual method is not its bilinear solution
        name = "refined" if settings.method == "bilinear" else f"{name}, refined"
    return " ".join([name, *option_texts(settings)])


def distinction(settings: Settings, runs: Collection[Settings]) -> str:
    """Return what at most half of some runs have in common with these settings: "rank 8, xi 0.3".

    Where they are the usual ones of these runs it is the rank and the name: that is cut where it is narrow.
    """
    count = Counter(part for each in runs for part in _parts(each))
    rare = [part for part in _parts(settings) if 2 * count[part] <= len(runs)]
    return ", ".join(rare or [f"rank {settings.rank}", run_name(settings)])


def _parts(settings: Settings) -> list[str]:
    """Return the settings that runs are distinguished by, each in a word or two."""
    penalty = penalty_text(settings.penalty)
    explicit = isinstance(settings.penalty, ExplicitWeights)
    parts = [f"rank {settings.rank}", f"eta {settings.eta:g}"]
    parts += [penalty] if explicit else penalty.split(", ")
    parts.append(_method_text(settings))
    parts += ["low rank"] if settings.problem == "lowrank" else []
    parts += [settings.loss.capitalize()] if settings.loss != "squared" else []
    parts += ["hidden tracks"] if settings.hide is not None else []
    return parts + ([f"{settings.mirror} mirrored"] if settings.mirror is not None else [])


def penalty_text(penalty: Penalty) -> str:
    """Return a penalty with its numbers: "WNN, xi 0.5, gamma 1e-06", "weights 0, 0.1, 0.2"."""
    word = penalty.short
    if isinstance(penalty, ExplicitWeights):
        return " ".join((word, ", ".join(f"{weight:.3g}" for weight in penalty.a)))
    numbers = ((entry.name, getattr(penalty, entry.name)) for entry in fields(penalty))  # type: ignore[arg-type]
    return ", ".join((word, *(f"{name} {value:g}" for name, value in numbers)))


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


def numbered_title(run: Run, solution: str = "refined") -> str:
    """Return the number of a run and its name: "3 recommended", or "3 bilinear" of one of its solutions."""
    other = run.last is not None and solution in run.last.alternatives
    return f"{run.number} {solution if other else run_title(run)}"
