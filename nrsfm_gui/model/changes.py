"""Changes of parameters as text, "mu 0.01 → 0.3", and which of them belong to one gesture."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from core import METHODS, ExplicitWeights, Penalty, Settings
from core.foundation import WNN
from core.penalties import extend_last
from core.reconstruction import LIVE, SETTINGS
from nrsfm_gui.model.numbers import format_number

NAMES = {"hide": "held-out observations"}  # of settings whose names are no nouns
LONGEST = 24  # letters of a value that is given as it is
GESTURE = 0.8  # seconds without a change that end a gesture
MOST_WEIGHTS = 2  # that are named one by one


@dataclass(frozen=True)
class Difference:
    """One parameter whose value has changed."""

    key: str  # the same for all differences of one parameter
    name: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.name} {self.before} → {self.after}"


def differences(old: Settings, new: Settings) -> tuple[Difference, ...]:
    """Return what differs between two settings, in the order in which the panel has it."""
    found: list[Difference] = []
    for entry in fields(new):
        before, after = getattr(old, entry.name), getattr(new, entry.name)
        if before == after:
            continue
        if entry.name == "options":
            found += _options(old, new)
        elif entry.name == "penalty":
            found += _penalties(before, after)
        elif entry.name == "mode_weights":
            count = max(len(before), len(after))
            pair = (tuple(map(float, extend_last(np.array(each), count))) for each in (before, after))
            found += _weights(*pair, symbol="w", key=entry.name)
        else:
            words = NAMES.get(entry.name) or entry.name.replace("_", " ")
            texts = (_format_value(entry.name, value) for value in (before, after))
            found.append(Difference(entry.name, words, *texts))
    return tuple(found)


def named(old: Settings, new: Settings) -> str:
    """Return what differs between two settings, for a label: "rank 3 → 4, mu 0.01 → 0.3"."""
    return ", ".join(str(difference) for difference in differences(old, new)) or "settings"


def parameters(old: Settings, new: Settings) -> frozenset[str]:
    """Return which parameters differ; changes of the same ones in quick succession are one gesture."""
    return frozenset(difference.key for difference in differences(old, new))


def one_gesture(last: frozenset[str], now: frozenset[str], seconds: float) -> bool:
    """Return whether two changes, so many seconds apart, belong to one gesture."""
    return seconds < GESTURE and bool(last & now)


def live_settings(run: Settings, requested: Settings) -> Settings:
    """Return the settings of a run with those of the requested settings that can change while it runs.

    Under another problem or objective nothing can change while it runs, nor under another method of the
    weighted nuclear norm. What goes on under changed settings mirrors no frames: they were mirrored before.
    """
    if (run.problem, run.objective) != (requested.problem, requested.objective):
        return run
    if run.objective == WNN and run.method != requested.method:
        return run
    changed = run.with_changes(**{name: getattr(requested, name) for name in LIVE[run.objective]})
    return run if changed == run else changed.with_changes(mirror=None)


def unapplied(run: Settings, requested: Settings) -> tuple[str, ...]:
    """Return the names of the requested settings that a run was not made with."""
    run = run.shown_as(requested)
    if requested.mirror is None:
        run = run.with_changes(mirror=None)
    return tuple(dict.fromkeys(difference.name for difference in differences(run, requested)))


def waiting_sentence(run: Settings, requested: Settings, *, searches: bool = False) -> str:
    """Return a sentence about requested settings that wait for a new run or the end of a search, or ""."""
    followed = live_settings(run, requested)
    if searches and (names := unapplied(run, followed)):
        return f"Applied after the search: {', '.join(names)}"
    names = unapplied(followed, requested)
    return f"Press Run (Ctrl+R) to apply: {', '.join(names)}" if names else ""


def _penalties(old: Penalty, new: Penalty) -> list[Difference]:
    if isinstance(old, ExplicitWeights) and isinstance(new, ExplicitWeights):
        # Another number of weights comes with another rank, which is a difference of its own.
        return _weights(old.a, new.a) if len(old.a) == len(new.a) else []
    if type(old) is not type(new):
        key = "weights" if isinstance(new, ExplicitWeights) else "penalty"
        return [Difference(key, "penalty", old.short, new.short)]
    names = [entry.name for entry in fields(new)]  # type: ignore[arg-type]  # every penalty is a dataclass
    pairs = ((name, getattr(old, name), getattr(new, name)) for name in names)
    return [
        Difference(f"penalty {name}", name, format_number(before), format_number(after))
        for name, before, after in pairs
        if before != after
    ]


def _weights(
    old: tuple[float, ...], new: tuple[float, ...], *, symbol: str = "a", key: str = "weights"
) -> list[Difference]:
    """Name the first of the weights that changed; the neighbors that changed with it are counted."""
    changed = [k for k, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    shown = changed if len(changed) <= MOST_WEIGHTS else changed[:1]
    rest = len(changed) - len(shown)
    names = [f"{symbol}{k + 1}" for k in shown]
    if rest:
        names[-1] = f"{symbol}{changed[0] + 1} and {rest} more"
    pairs = zip(names, shown, strict=True)
    return [Difference(key, name, format_number(old[k]), format_number(new[k])) for name, k in pairs]


def _options(old: Settings, new: Settings) -> list[Difference]:
    """Name the options of the method that are others now; of another method, those off its defaults."""
    method, after = METHODS[new.method], dict(new.options)
    before = dict(old.options) if old.method == new.method else {}
    return [
        Difference(f"option {name}", name, _format_value(name, old_value), _format_value(name, new_value))
        for name in sorted(before.keys() | after.keys())
        if (old_value := before.get(name, method.default(name)))
        != (new_value := after.get(name, method.default(name)))
    ]


def _format_value(name: str, value: object) -> str:
    if name == "method":
        return METHODS[str(value)].title
    if value is None:
        return SETTINGS[name].absent.partition(",")[0]
    if name == "hide" and len(str(value)) > LONGEST:
        return f"of {1 + str(value).count(';')} points"
    if isinstance(value, Path):
        return value.name
    if isinstance(value, tuple):
        return "(" + ", ".join(format_number(number) for number in value) + ")"
    return format_number(value) if isinstance(value, float) else str(value)
