"""How a reconstruction is written down so that it can be made again: as a command, as Python, as JSON.

Only what differs from the nearest preset is printed. The command line parses what `command_for` prints.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..foundation.exceptions import InputError
from ..io.readers.samples import sample_name
from ..penalties.linear import PENALTIES, ExplicitWeights, Penalty, penalty_name
from .provenance import Recipe, Step
from .settings import DEFAULT_PRESETS, PRESETS, Settings, suited_penalty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..data.sequence import Sequence

UNSAVED = "sequence.npz"  # stands for a sequence that is in no file
UNSAVED_NOTE = f"the sequence is in no file yet: save it as {UNSAVED} first"


def nearest_preset(settings: Settings) -> str:
    """Return the preset of the problem that the fewest settings differ from; its default where equal."""
    own = [name for name, preset in PRESETS.items() if preset.problem == settings.problem]
    names = sorted(own, key=lambda name: name != DEFAULT_PRESETS[settings.problem])
    return min(names, key=lambda name: len(_changes(settings, PRESETS[name])))


def preset_name(settings: Settings) -> str | None:
    """Return the name of the preset that the settings equal, or None."""
    return next((name for name, preset in PRESETS.items() if preset == settings), None)


def command_for(sequence: Sequence, how: Settings | Recipe, output: str | Path = "result.npz") -> str:
    """Return the shell command that makes this reconstruction.

    A sequence that is in no file is named `sequence.npz`, and a comment says so.
    """
    recipe = as_recipe(how)
    words = ["nrsfm", "solve", _source(sequence)]
    for name, value in sequence.reading.items():
        words += [f"--{_dashed(name)}", str(value)]
    words += ["--start", _word(recipe.start)] if recipe.start else []
    first, *others = (step_options(step) for step in recipe.steps)
    words += first + [f"--then={shlex.join(other)}" for other in others]
    words += ["-o", str(output)]
    return shlex.join(words) + ("" if sequence.source else f"  # {UNSAVED_NOTE}")


def step_options(step: Step) -> list[str]:
    """Return the options of `nrsfm solve` that say a step; in one word, `--then` takes them too."""
    return options_for(step.settings) + ([] if step.updates is None else ["--updates", str(step.updates)])


def options_for(settings: Settings) -> list[str]:
    """Return the options of `nrsfm solve` that say these settings, none for the default ones."""
    preset, default = nearest_preset(settings), Settings()
    words = ["--problem", settings.problem] if settings.problem != default.problem else []
    if preset != DEFAULT_PRESETS[settings.problem]:
        words = ["--preset", preset]
    changes = _changes(settings, PRESETS[preset])
    if isinstance(settings.penalty, ExplicitWeights):
        changes.pop("rank", None)  # their number says it
    changes["penalty"] = settings.penalty  # that of the preset is not what every method begins with
    base = suited_penalty(settings.method, settings.problem, PRESETS[preset].penalty)
    for name, value in changes.items():
        if name == "options":
            words += [word for option, number in value for word in (f"--{_dashed(option)}", _word(number))]
        elif name == "penalty":
            words += _penalty_options(value, base)
        else:
            words += [f"--{_dashed(name)}", _word(value)]
    return words


def python_for(sequence: Sequence, how: Settings | Recipe, output: str | Path = "result.npz") -> str:
    """Return the Python program that makes this reconstruction and saves it."""
    recipe, source = as_recipe(how), _source(sequence)
    reading = {
        name: f"CameraModel({value!r})" if name == "camera" else repr(value)
        for name, value in sequence.reading.items()
    }
    opened = ", ".join([repr(source), *(f"{name}={value}" for name, value in reading.items())])
    names = {"read_sequence", "save_result"} | ({"CameraModel"} if "camera" in reading else set())
    for step in recipe.steps:
        names |= _settings_literal(step.settings)[1]
    lines = [] if sequence.source else [f"# {UNSAVED_NOTE[0].upper()}{UNSAVED_NOTE[1:]}."]
    lines += ["", f"sequence = read_sequence({opened})"]
    if recipe.plain:
        names.add("solve_sequence")
        lines += [f"settings = {_settings_literal(recipe.settings)[0]}"]
        lines += ["result = solve_sequence(sequence, settings)"]
    else:
        names |= {"Step", "solve_steps"} | ({"load_start"} if recipe.start else set())
        lines += _steps_lines(recipe)
    lines += [f"save_result(result, {str(output)!r})"]
    return "\n".join([f"from core import {', '.join(sorted(names))}", *lines]) + "\n"


def _steps_lines(recipe: Recipe) -> list[str]:
    """Return the lines that solve a recipe's steps one after the other."""
    lines, start = [], ""
    if recipe.start is not None:
        lines += [f"start = load_start({_literal(recipe.start)}, sequence)"]
        start = ", start=start"
    if len(recipe.steps) > 1:
        lines += ["# The run was steered: each step goes on from where the one before it stood."]
    lines += ["steps = ["]
    for step in recipe.steps:
        count = "" if step.updates is None else f", updates={step.updates}"
        lines += [f"    Step({_settings_literal(step.settings)[0]}{count}),"]
    return [*lines, "]", f"result = solve_steps(sequence, steps{start})"]


def _settings_literal(settings: Settings) -> tuple[str, set[str]]:
    """Return the Python expression of some settings, and the names that it uses."""
    preset = nearest_preset(settings)
    changes = {name: _literal(value) for name, value in _changes(settings, PRESETS[preset]).items()}
    arguments = ", ".join(f"{name}={value}" for name, value in changes.items())
    names = {type(settings.penalty).__name__} if "penalty" in changes else set()
    if PRESETS[preset] == Settings():
        return f"Settings({arguments})", names | {"Settings"}
    made = f'PRESETS["{preset}"]' + (f".with_changes({arguments})" if arguments else "")
    return made, names | {"PRESETS"}


def settings_to_dict(settings: Settings) -> dict[str, Any]:
    """Return the settings as values that JSON can hold; `settings_from_dict` is the inverse."""
    values = {entry.name: getattr(settings, entry.name) for entry in fields(settings)}
    values["penalty"] = penalty_to_dict(settings.penalty)
    values["options"] = dict(settings.options)
    for name in ("rotations", "intrinsics"):
        if isinstance(values[name], Path):
            values[name] = _word(values[name])
    return values


def settings_from_dict(values: Mapping[str, Any]) -> Settings:
    """Rebuild settings from `meta["settings"]` of a result.

    Raises
    ------
    InputError
        where a name is unknown or a value is outside its range.
    """
    changes = dict(values)
    unknown = sorted(set(changes) - {entry.name for entry in fields(Settings)})
    if unknown:
        raise InputError(f"settings hold {unknown[0]!r}, which is not a setting of this version")
    if "penalty" in changes:
        changes["penalty"] = penalty_from_dict(changes["penalty"])
    if isinstance(changes.get("options"), dict):
        changes["options"] = tuple(changes["options"].items())
    if isinstance(changes.get("intrinsics"), list):
        changes["intrinsics"] = tuple(changes["intrinsics"])
    return Settings(**changes)


def penalty_to_dict(penalty: Penalty) -> dict[str, Any]:
    """Return a penalty as values that JSON can hold; `penalty_from_dict` is the inverse."""
    numbers: dict[str, Any] = asdict(penalty)  # type: ignore[call-overload]
    return {"kind": penalty_name(penalty)} | numbers


def penalty_from_dict(values: Mapping[str, Any]) -> Penalty:
    """Rebuild a penalty.

    Raises
    ------
    InputError
        where its kind is unknown, or a number is not its own or out of its range.
    """
    numbers = dict(values)
    kind = numbers.pop("kind", None)
    try:
        penalty: Penalty = (
            ExplicitWeights(tuple(numbers["a"])) if kind == "weights" else PENALTIES[kind](**numbers)
        )
    except (KeyError, TypeError) as error:
        raise InputError(
            f"settings hold the penalty {values!r}; accepted kinds are {', '.join(PENALTIES)} and weights, "
            "each with its own numbers"
        ) from error
    return penalty


def steps_to_list(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Return steps as values that JSON can hold; `steps_from_list` is the inverse."""
    return [{"settings": settings_to_dict(step.settings), "updates": step.updates} for step in steps]


def steps_from_list(values: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Rebuild steps.

    Raises
    ------
    InputError
        where one lacks its settings, they are refused, or its number of updates is not one.
    """
    steps = []
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict) or not isinstance(value.get("settings"), dict):
            raise InputError(f"step {number} holds no settings; accepted are settings and updates")
        count = value.get("updates")
        if count is not None and (type(count) is not int or count < 1):
            raise InputError(f"step {number} has {count!r} updates; accepted is at least 1, or null")
        steps.append(Step(settings_from_dict(value["settings"]), count))
    return tuple(steps)


def as_recipe(how: Settings | Recipe) -> Recipe:
    """Return a recipe as it is, and settings as one step from nothing to its end."""
    return how if isinstance(how, Recipe) else Recipe((Step(how),))


def _changes(settings: Settings, base: Settings) -> dict[str, Any]:
    return {
        entry.name: getattr(settings, entry.name)
        for entry in fields(settings)
        if getattr(settings, entry.name) != getattr(base, entry.name)
    }


def _penalty_options(penalty: Penalty, base: Penalty) -> list[str]:
    if isinstance(penalty, ExplicitWeights):
        return ["--weights", _word(penalty.a)]
    name = penalty_name(penalty)
    words = [] if type(base) is type(penalty) else ["--penalty", name]
    reference = base if type(base) is type(penalty) else PENALTIES[name]()
    for entry in fields(PENALTIES[name]):
        value = getattr(penalty, entry.name)
        if value != getattr(reference, entry.name):
            words += [f"--{entry.name}", _word(value)]
    return words


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _source(sequence: Sequence) -> str:
    """Return the file of a sequence as its readers take it: samples by name, others from the root."""
    if sequence.source is None:
        return UNSAVED
    return sample_name(sequence.source) or str(sequence.source.resolve())


def _word(value: object) -> str:
    """Return a value as the command line takes it; numbers keep all their digits."""
    if isinstance(value, Path):
        return str(value.resolve())
    if isinstance(value, tuple):
        return ",".join(_word(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _literal(value: object) -> str:
    return repr(str(value.resolve())) if isinstance(value, Path) else repr(value)
