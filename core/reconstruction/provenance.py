"""The provenance of a reconstruction: the steps that made it, and their forms as a command, Python and JSON.

A run whose settings were changed ends in a minimum near the point at that change, which is not always the
minimum under its last settings without a start. Every iterate therefore holds the steps that lead to it: so
many iterates under these settings, then so many under those. Runs are deterministic, so that the same steps
give the same numbers.

The written forms hold only what differs from the nearest preset. The command line parses what `command_for`
returns.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ..data.sequence import Sequence
from ..foundation.phases import Phase
from ..foundation.records import Hook, Records, check_kind, refused
from ..foundation.representation import OneLine
from ..io.readers.challenge import sample_name
from ..penalties import EXPLICIT, PENALTIES, ExplicitWeights, Penalty, SpectralPenalty, penalty_name
from .settings import DEFAULT_PRESETS, PRESETS, Settings, chosen_objective, suited_penalty

UNSAVED = "sequence.npz"  # the name for a sequence that is in no file
UNSAVED_NOTE = f"the sequence is in no file yet: save it as {UNSAVED} first"


@dataclass(frozen=True)
class SolveStep(OneLine):
    """One part of a run: iterations under the same settings.

    Parameters
    ----------
    settings
        the settings of the step.
    iterates
        the number of iterates, 1 or more; None continues until the run has ended.
    end
        which end of the depth refinement the step leads to, by its energy; 1 is the lowest.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> first = core.Settings(rank=2, starts=1, rotations="truth", objective="wnn")
    >>> steps = [core.SolveStep(first, 5), core.SolveStep(first.with_changes(eta=0.2))]
    >>> core.reconstruct(sequence, steps=steps).eta
    0.2
    """

    settings: Settings
    iterates: int | None = None
    end: int = 1


@dataclass(frozen=True)
class Provenance(OneLine):
    """The steps that make a reconstruction, each from where the one before it ended; of an `Iterate`.

    Parameters
    ----------
    steps
        one or more.
    start
        the file of the result that the first step starts from; None where it has no start.
    """

    steps: tuple[SolveStep, ...]
    start: Path | None = None

    @property
    def settings(self) -> Settings:
        """The settings of the last step."""
        return self.steps[-1].settings

    @property
    def plain(self) -> bool:
        """Whether it is one step without a start that runs to its end, so that its settings describe it."""
        return self.start is None and self.steps == (SolveStep(self.settings),)

    def with_last(self, settings: Settings, iterates: int | None = None, end: int = 1) -> Provenance:
        """Return the same with another last step."""
        return replace(self, steps=(*self.steps[:-1], SolveStep(settings, iterates, end)))


def nearest_preset(settings: Settings, differing: Callable[[Settings, Settings], Sized] | None = None) -> str:
    """Return the preset of the problem that the fewest settings differ from; its default where equal.

    `differing`: what differs between a preset and settings; None: the options that a command needs.
    """
    differing = differing or _changes
    own = [name for name, preset in PRESETS.items() if preset.problem == settings.problem]
    names = sorted(own, key=lambda name: name != DEFAULT_PRESETS[settings.problem])
    return min(names, key=lambda name: len(differing(PRESETS[name], settings)))


def preset_name(settings: Settings) -> str | None:
    """Return the name of the preset that the settings equal, or None."""
    return next((name for name, preset in PRESETS.items() if preset.shown_as(settings) == settings), None)


def command_for(sequence: Sequence, how: Settings | Provenance, output: str | Path = "result.npz") -> str:
    """Return the shell command that makes this reconstruction.

    A sequence that is in no file is named `sequence.npz`, and a comment notes it.

    Parameters
    ----------
    sequence
        the sequence of the tracks.
    how
        the settings of one step, or all steps and their start.
    output
        the file that the command writes.

    Returns
    -------
    str
        one line for a POSIX shell.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> core.command_for(sequence, core.Settings(rank=2))
    'nrsfm solve sequence.npz --preset bilinear --rank 2 -o result.npz  # ...'
    """
    command = solve_command(source_name(sequence), sequence.reading, how, output)
    return command + ("" if sequence.source else f"  # {UNSAVED_NOTE}")


def solve_command(
    source: str, reading: Mapping[str, Any], how: Settings | Provenance, output: str | Path = "result.npz"
) -> str:
    """Return the shell command that reconstructs the sequence in a file."""
    provenance = as_provenance(how)
    words = ["nrsfm", "solve", source]
    for name, value in reading.items():
        words += [f"--{_dashed(name)}", str(value)]
    words += ["--start", _word(provenance.start)] if provenance.start else []
    first, *others = (step_options(step) for step in provenance.steps)
    words += first + [f"--then={shlex.join(other)}" for other in others]
    return " ".join(map(_shell_word, [*words, "-o", str(output)]))


def _shell_word(word: str) -> str:
    """Return a word for a POSIX shell; names of files that are no text are made by its printf."""
    try:
        word.encode()
    except UnicodeEncodeError:
        codes = os.fsencode(word)
        plain = "".join(chr(b) if 32 <= b < 127 and b not in b"%'\\" else f"\\{b:03o}" for b in codes)
        return f"\"$(printf '{plain}')\""
    return shlex.quote(word)


def step_options(step: SolveStep) -> list[str]:
    """Return the options of `nrsfm solve` for a step; joined to one word they are the value of `--then`."""
    count = [] if step.iterates is None else ["--iterates", str(step.iterates)]
    return options_for(step.settings) + count + ([] if step.end == 1 else ["--end", str(step.end)])


def options_for(settings: Settings) -> list[str]:
    """Return the options of `nrsfm solve` for these settings, none for the default ones.

    The preset is named where it is not the default one, or where the options alone choose another objective.
    """
    preset, default = nearest_preset(settings), Settings()
    changes = _changes(PRESETS[preset], settings)
    words = ["--problem", settings.problem] if settings.problem != default.problem else []
    if preset != DEFAULT_PRESETS[settings.problem] or _chooses_another(settings, changes):
        words = ["--preset", preset]
    if isinstance(settings.penalty, ExplicitWeights):
        changes.pop("rank", None)  # the number of weights is the rank
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


def python_for(sequence: Sequence, how: Settings | Provenance, output: str | Path = "result.npz") -> str:
    """Return the Python program that makes this reconstruction and saves it.

    Parameters
    ----------
    sequence
        the sequence of the tracks.
    how
        the settings of one step, or all steps and their start.
    output
        the file that the program writes.

    Returns
    -------
    str
        the text of the program.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> print(core.python_for(sequence, core.Settings(isometry=1.0)))
    from core import Settings, read_sequence, reconstruct, save_result
    # The sequence is in no file yet: save it as sequence.npz first.
    <BLANKLINE>
    sequence = read_sequence('sequence.npz')
    settings = Settings(isometry=1.0)
    result = reconstruct(sequence, settings)
    save_result(result, 'result.npz')
    <BLANKLINE>
    """
    provenance, source = as_provenance(how), source_name(sequence)
    reading = {
        name: f"CameraModel({value!r})" if name == "camera" else repr(value)
        for name, value in sequence.reading.items()
    }
    opened = ", ".join([repr(source), *(f"{name}={value}" for name, value in reading.items())])
    names = {"read_sequence", "save_result"} | ({"CameraModel"} if "camera" in reading else set())
    for step in provenance.steps:
        names |= _settings_literal(step.settings)[1]
    lines = [] if sequence.source else [f"# {UNSAVED_NOTE[0].upper()}{UNSAVED_NOTE[1:]}."]
    lines += ["", f"sequence = read_sequence({opened})"]
    if provenance.plain:
        names.add("reconstruct")
        lines += [f"settings = {_settings_literal(provenance.settings)[0]}"]
        lines += ["result = reconstruct(sequence, settings)"]
    else:
        names |= {"SolveStep", "reconstruct"} | ({"load_start"} if provenance.start else set())
        lines += _steps_lines(provenance)
    lines += [f"save_result(result, {str(output)!r})"]
    return "\n".join([f"from core import {', '.join(sorted(names))}", *lines]) + "\n"


def _steps_lines(provenance: Provenance) -> list[str]:
    lines, start = [], ""
    if provenance.start is not None:
        lines += [f"start = load_start({_literal(provenance.start)}, sequence)"]
        start = ", start=start"
    if len(provenance.steps) > 1:
        lines += ["# The run was steered: each step continues from the end of the one before."]
    lines += ["steps = ["]
    for step in provenance.steps:
        count = "" if step.iterates is None else f", iterates={step.iterates}"
        count += "" if step.end == 1 else f", end={step.end}"
        lines += [f"    SolveStep({_settings_literal(step.settings)[0]}{count}),"]
    return [*lines, "]", f"result = reconstruct(sequence, steps=steps{start})"]


def _settings_literal(settings: Settings) -> tuple[str, set[str]]:
    """Return the Python expression of some settings, and the names that it uses."""
    preset = nearest_preset(settings)
    changes = {name: _literal(value) for name, value in _changes(PRESETS[preset], settings).items()}
    arguments = ", ".join(f"{name}={value}" for name, value in changes.items())
    names = {type(settings.penalty).__name__} if "penalty" in changes else set()
    if PRESETS[preset] == Settings() and not _chooses_another(settings, changes):
        return f"Settings({arguments})", names | {"Settings"}
    made = f'PRESETS["{preset}"]' + (f".with_changes({arguments})" if arguments else "")
    return made, names | {"PRESETS"}


def settings_to_dict(settings: Settings) -> dict[str, Any]:
    """Return the settings as values that JSON can hold; `settings_from_dict` is the inverse."""
    values: dict[str, Any] = RECORDS.write(settings)
    return values


def settings_from_dict(values: Mapping[str, Any]) -> Settings:
    """Rebuild settings from `meta["settings"]` of a result."""
    return RECORDS.read(Settings, values, "settings")  # type: ignore[no-any-return]


def _write_settings(settings: Settings) -> dict[str, Any]:
    values = RECORDS.write_fields(settings)
    for name in ("rotations", "intrinsics"):
        if isinstance(getattr(settings, name), Path):
            values[name] = _word(getattr(settings, name))
    return values | {"penalty": write_penalty(settings.penalty), "options": dict(settings.options)}


def _read_settings(_kind: type, value: Any, where: str) -> Settings:
    check_kind(where, value, dict, "an object")
    options = value.get("options")
    given = value | ({"options": list(options.items())} if isinstance(options, dict) else {})
    return RECORDS.read_fields(Settings, given, where)  # type: ignore[no-any-return]


def write_penalty(penalty: Penalty) -> dict[str, Any]:
    """Return a penalty as values that JSON can hold, with its kind."""
    return {"kind": penalty_name(penalty)} | RECORDS.write_fields(penalty)


def _read_penalty(_kind: type, value: Any, where: str) -> Penalty:
    try:
        numbers = dict(value)
        kind = numbers.pop("kind", None)
        made = ExplicitWeights if kind == EXPLICIT else PENALTIES[kind]
    except (KeyError, TypeError, ValueError) as error:
        raise refused(where, value, f"a penalty of the kind {', '.join(PENALTIES)} or {EXPLICIT}") from error
    return RECORDS.read_fields(made, numbers, where)  # type: ignore[no-any-return]


def _write_phase(phase: Phase) -> dict[str, Any]:
    """Return a phase without what it does not have: a history has hundreds."""
    return {name: value for name, value in RECORDS.write_fields(phase).items() if value}


_PENALTY = Hook(write_penalty, _read_penalty)
# What results, sessions and preferences hold is written and read by this one.
RECORDS: Records = Records(
    {
        Settings: Hook(_write_settings, _read_settings),
        Penalty: _PENALTY,
        SpectralPenalty: _PENALTY,
        Phase: Hook(_write_phase, lambda kind, value, where: RECORDS.read_fields(kind, value, where)),
    }
)


def as_provenance(how: Settings | Provenance) -> Provenance:
    """Return a provenance unchanged, and settings as one step without a start that runs to its end."""
    return how if isinstance(how, Provenance) else Provenance((SolveStep(how),))


def _changes(base: Settings, settings: Settings) -> dict[str, Any]:
    """Return what differs from a preset, without the objective that problem and method bring."""
    brought = base.with_changes(problem=settings.problem, method=settings.method)
    references = {entry.name: base for entry in fields(settings)} | {"objective": brought}
    return {
        name: getattr(settings, name)
        for name, reference in references.items()
        if getattr(settings, name) != getattr(reference, name)
    }


def _chooses_another(settings: Settings, changes: Collection[str]) -> bool:
    """Whether the names of what differs from the default preset choose another objective by themselves."""
    if "objective" in changes:
        return False
    given = {name: getattr(settings, name) for name in changes}
    return chosen_objective(given | {"problem": settings.problem}) != settings.objective


def _penalty_options(penalty: Penalty, base: Penalty) -> list[str]:
    """Return the options of a penalty that give it where `base` is what a command begins with."""
    if isinstance(penalty, ExplicitWeights):
        return ["--weights", _word(penalty.a)]
    name, words = penalty_name(penalty), []
    if type(base) is not type(penalty):
        words, base = ["--penalty", name], PENALTIES[name]()
    for entry in fields(PENALTIES[name]):
        value = getattr(penalty, entry.name)
        if value != getattr(base, entry.name):
            words += [f"--{entry.name}", _word(value)]
    return words


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def source_name(sequence: Sequence) -> str:
    """Return the file of a sequence as its readers accept it: samples by name, others by their full path."""
    if sequence.source is None:
        return UNSAVED
    return sample_name(sequence.source) or str(sequence.source.resolve())


def _word(value: object) -> str:
    """Return a value as the command line accepts it; numbers keep all their digits."""
    if isinstance(value, Path):
        return str(value.resolve())
    if isinstance(value, tuple):
        return ",".join(_word(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _literal(value: object) -> str:
    """Return a value as a Python expression; numbers keep all their digits."""
    if isinstance(value, Path):
        return repr(str(value.resolve()))
    if is_dataclass(value):
        numbers = ", ".join(f"{entry.name}={getattr(value, entry.name)!r}" for entry in fields(value))
        return f"{type(value).__name__}({numbers})"
    return repr(value)
