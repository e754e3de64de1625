"""The options that choose a sequence, and those that give every setting of a run.

`nrsfm solve`, `nrsfm guide` and `nrsfm-gui` have them. Those of the settings are made from the tables: the
fields of `Settings`, the methods with their own options, and the penalties with their numbers.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..cameras.calibration import from_four
from ..data.sequence import CameraModel, Sequence
from ..foundation import DEPTHS, InputError, Parameter, parameters_of
from ..io import readers
from ..penalties import PENALTIES, ExplicitWeights, Penalty, penalty_name
from ..problem import LOSSES
from ..reconstruction.settings import (
    DEFAULT_PRESETS,
    INTRINSICS_SOURCES,
    OBJECTIVE_OF,
    OBJECTIVES,
    PRESETS,
    ROTATION_SOURCES,
    SETTINGS,
    Settings,
    chosen_objective,
    suited_penalty,
)
from ..solvers.methods import METHODS, PROBLEMS
from .command_line import CheckedParser, declare, explained


class RefusingParser(CheckedParser):
    """A parser of options that are a part of one argument; it refuses with an InputError."""

    def __init__(self, argument: str, accepted: str) -> None:
        super().__init__(prog=argument, add_help=False, allow_abbrev=False)
        self._accepted = accepted

    def error(self, message: str) -> NoReturn:
        """Raise the InputError."""
        raise InputError(f"{self.prog}: {message}; accepted are {self._accepted}")


# Of the options below, those that --help lists; --help-all lists every one.
FREQUENT = (
    *("sequence", "path", "reading_camera", "reading_size", "reading_individual", "reading_columns"),
    *("preset", "objective", "rank", "isometry", "intrinsics", "seed", "loss", "hide", "scale"),
)

# -- options of a sequence -----------------------------------------------------------------------------------


def add_sequence_options(parser: argparse.ArgumentParser) -> None:
    """Add SEQUENCE, --path, --frame-base and the reading options."""
    declare(
        parser,
        f"""
        SEQUENCE: a file ({", ".join(readers.READERS)}), a Challenge object's folder, or sample:NAME for a
            bundled one
        --path NAME: which of an object's camera paths: circle, flyby, ...
        """,
    )
    add_frame_base(parser)
    add_reading_options(parser)


LAID_OUT = ", ".join(name for name, reader in readers.READERS.items() if "layout" in reader.options)
# Of each reading option how its value is written, a colon, and what it means.
READING_HELP = {
    "camera": ": which of an object's cameras, or the camera model of a file that does not hold it",
    "layout": (
        f" NAME: layout of arrays ({LAID_OUT}) that fit several or none; the table is in `nrsfm formats`"
    ),
    "tracks": " NAME: the array that holds the tracks",
    "visible": (
        " NAME: the array that is 1 where a point is seen; ~NAME: where it is hidden; none: no such array"
    ),
    "threshold": " T: of an array of scores: a point is seen from T on",
    "order": ": axes of the tracks: frames first (tnxy), or points first (ntxy)",
    "xy": ": coordinates of a point: x first, or y first",
    "size": " WxH: width and height of the picture in pixels",
    "individual": " NAME: one of several animals, people or videos in the file",
    "columns": " A=B,...: columns of a table: frame=..,point=..,x=..,y=.., and visible=..",
}


def add_reading_options(parser: argparse.ArgumentParser, *, without: Collection[str] = ()) -> None:
    """Add an option for every reading option of `read_sequence`."""
    models = [model.value for model in CameraModel]
    choices = {"camera": models, "order": readers.ORDERS, "xy": readers.COORDINATES}
    group = parser.add_argument_group("how the file is read (nrsfm info FILE shows how it is understood)")
    for name in [name for name in READING_HELP if name not in without]:
        kind = {"dest": f"reading_{name}", "choices": choices.get(name)}
        declare(group, f"--{name}{READING_HELP[name]}", **{name: kind})


def reading_from(args: argparse.Namespace) -> dict[str, Any]:
    """Return the reading options that were given, as `read_sequence` and `inspect_file` accept them."""
    given: dict[str, Any] = {name: getattr(args, f"reading_{name}", None) for name in READING_HELP}
    given["frame_base"] = getattr(args, "frame_base", 1)
    return readers.ReadingOptions(**given).given()


def add_frame_base(parser: argparse.ArgumentParser) -> None:
    """Add --frame-base."""
    declare(
        parser,
        "--frame-base: number of the first frame in gt_frame_N (default 1)",
        frame_base={"type": int, "choices": (0, 1), "default": 1},
    )


def chosen_sequence(args: argparse.Namespace) -> tuple[Sequence, list[Path]]:
    """Read the one sequence that the options name; return it with all files that it consists of."""
    reading, path = reading_from(args), Path(args.sequence)
    folder = readers.resolve(path)
    if folder.is_dir() and not readers.is_sequence_folder(folder):
        path = _only_one(folder, CameraModel(reading["camera"]) if "camera" in reading else None, args)
    with readers.recording_files() as files:
        sequence = readers.read_sequence(path, path_name=args.path, **reading)
    return sequence, files if sequence.video is None else [*files, sequence.video]


def _only_one(folder: Path, camera: CameraModel | None, args: argparse.Namespace) -> Path:
    """Return the file of the one sequence in a folder that the options leave; perspective unless asked."""
    found = readers.list_sequences(folder, frame_base=args.frame_base)
    left = [entry for entry in found if args.path in (None, entry.path_name)]
    if camera is None and any(entry.camera is CameraModel.PERSPECTIVE for entry in left):
        camera = CameraModel.PERSPECTIVE
    left = [entry for entry in left if camera in (None, entry.camera)]
    if len(left) == 1:
        return left[0].file
    problem = f"holds {len(left)} sequences; choose one" if left else "has no such sequence; there are"
    raise InputError(f"{folder} {problem}: {', '.join(_choices(left or list(found)))}")


def _choices(entries: list[readers.SequenceEntry]) -> list[str]:
    """Return the ways to choose: objects where there are several, else files, else camera and path."""
    objects = list(dict.fromkeys(entry.object_name for entry in entries))
    if len(objects) > 1:
        return objects
    if any(not entry.path_name for entry in entries):
        return [entry.file.name for entry in entries]
    return [
        " ".join(
            (f"--camera {entry.camera.value}" if entry.camera else "", f"--path {entry.path_name}")
        ).strip()
        for entry in entries
    ]


# -- options of the settings ---------------------------------------------------------------------------------

SOURCES = {
    "rotations": ("an npz file with R (F, 3, 3)", ROTATION_SOURCES),
    "intrinsics": ("fx,fy,cx,cy, a file", INTRINSICS_SOURCES),
}
METAVARS = {"mirror": "FRAMES", "hide": "ENTRIES", "scale": "RULE", "upright": "RULE"}  # of texts
METAVARS |= dict.fromkeys(SOURCES, "SOURCE")


def add_settings_options(parser: argparse.ArgumentParser) -> None:
    """Add --preset and an option for everything that it gives."""
    defaults = "; ".join(f"{preset} for {problem}" for problem, preset in DEFAULT_PRESETS.items())
    methods = {name: method.meaning for name, method in METHODS.items()}
    declare(
        parser,
        f"""
        --preset: default: {defaults}
        --problem: {explained(PROBLEMS)} (default nonrigid)
        --method: {explained(methods)} (default by the preset)
        """,
        preset=list(PRESETS),
        problem=list(PROBLEMS),
        method=list(METHODS),
    )
    _add_settings(parser)
    _add_penalties(parser)
    _add_method_options(parser)


def settings_from(args: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for. Raises InputError where one is refused."""
    foreign = _foreign_options(args)
    if foreign:
        raise InputError(next(iter(foreign.values())))
    problem, base = _base_from(args)
    plain = ("problem", "method", *SETTINGS)
    changes: dict[str, Any] = {name: getattr(args, name) for name in plain if getattr(args, name) is not None}
    if args.mode_weights is not None:
        changes["mode_weights"] = _weights(args.mode_weights, "--mode-weights")
    if args.intrinsics is not None:
        changes["intrinsics"] = _intrinsics(args.intrinsics)
    if args.hide is not None:
        changes["hide"] = _hidden(args.hide)
    method = changes.get("method", base.method)
    options = {name: getattr(args, f"option_{name}") for name in _method_options()}
    if given := tuple((name, value) for name, value in options.items() if value is not None):
        changes["options"] = given
    changes["penalty"] = _penalty_from(args, suited_penalty(method, problem, base.penalty))
    if isinstance(changes["penalty"], ExplicitWeights):
        count = len(changes["penalty"].a)
        if changes.setdefault("rank", count) != count:
            raise InputError(f"--rank is {args.rank}, but --weights gives {count}; one per basis shape")
    if args.preset is None:
        changes.setdefault("objective", chosen_objective(given_options(args)))
    return base.with_changes(**changes)


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that options were given for; any number of a penalty is of the penalty."""
    return {parameter: getattr(args, attribute) for attribute, parameter in _given(args)}


def _given(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the attributes that hold given options, each with the field of the settings that it is of."""
    of = {name: name for name in ("problem", "method", "mode_weights", *SETTINGS)}
    of |= dict.fromkeys(("penalty", "weights", *_penalty_numbers()), "penalty")
    of |= {f"option_{name}": "options" for name in _method_options()}
    return [(name, parameter) for name, parameter in of.items() if getattr(args, name) is not None]


def objective_sentence(args: argparse.Namespace, settings: Settings) -> str:
    """Return what is minimized, which options chose it, and which given ones are not of it."""
    of: dict[str, list[str]] = {objective: [] for objective in OBJECTIVES}
    for attribute, parameter in _given(args):
        if parameter in OBJECTIVE_OF:
            of[OBJECTIVE_OF[parameter]].append(option_flag(attribute.removeprefix("option_")))
    own = of.pop(settings.objective)
    chosen = "--objective" if args.objective else f"--preset {args.preset}" if args.preset else ", ".join(own)
    sentence = f"{objective_phrase(settings)} ({chosen or 'the default'})"
    (others,) = of.values()
    if others:
        effect = "for its start" if settings.objective == DEPTHS else "without effect on it"
        sentence += f"; {', '.join(others)}: {effect}"
    return sentence


def objective_phrase(settings: Settings) -> str:
    """Return "minimizes" and the objective."""
    return f"minimizes {OBJECTIVES[settings.objective].partition(',')[0]}"


def _base_from(args: argparse.Namespace) -> tuple[str, Settings]:
    """Return the problem, and the preset that the options change."""
    problem = args.problem or (PRESETS[args.preset].problem if args.preset else Settings().problem)
    return problem, PRESETS[args.preset or DEFAULT_PRESETS[problem]]


def drop_foreign_options(args: argparse.Namespace, names: Collection[str]) -> argparse.Namespace:
    """Return options without those that their penalty or method does not have."""
    return argparse.Namespace(**vars(args) | dict.fromkeys(_foreign_options(args).keys() & set(names)))


def _foreign_options(args: argparse.Namespace) -> dict[str, str]:
    """Return given options that their method or penalty does not have, with the sentences of refusal."""
    problem, base = _base_from(args)
    method = args.method or base.method
    penalty = args.penalty or penalty_name(suited_penalty(method, problem, base.penalty))
    takes = parameters_of(PENALTIES[penalty])
    found = {}
    for name, tables in _method_options().items():
        if method not in tables and getattr(args, f"option_{name}") is not None:
            whose = f"the method {method!r}; it is for {', '.join(tables)}"
            found[f"option_{name}"] = f"{option_flag(name)} does not belong to {whose}"
    for name in _penalty_numbers() if args.weights is None else ():
        if name not in takes and getattr(args, name) is not None:
            whose = f"the penalty {penalty!r}, which takes {', '.join(map(option_flag, takes))}"
            found[name] = f"{option_flag(name)} does not belong to {whose}"
    return found


def is_whole_option(name: str) -> bool:
    """Return whether an option of settings is a whole number."""
    tables = [SETTINGS, *(parameters_of(kind) for kind in PENALTIES.values())]
    described = [table[name] for table in tables if name in table]
    described += _method_options().get(name, {}).values()
    return any(one.integer for one in described)


def option_flag(name: str) -> str:
    """Return the option of a parameter on the command line."""
    return "--" + name.replace("_", "-")


# -- settings -----------------------------------------------------------------------------------------------


def _add_settings(parser: argparse.ArgumentParser) -> None:
    groups: dict[str, argparse._ActionsContainer] = {}
    for name, described in SETTINGS.items():
        section = described.section
        if section not in groups:
            groups[section] = parser.add_argument_group(section.lower())
        tip = described.tip
        if name in SOURCES:
            accepted, known = SOURCES[name]
            tip += f" Accepted: {accepted}, or {explained(known)}."
        elif name == "objective":
            tip += f" {explained(OBJECTIVES)}."
        elif name == "loss":
            tip += f" {explained(LOSSES)}."
        elif name == "hide":
            tip += " Or a file of such entries."
        defaults = {preset: getattr(settings, name) for preset, settings in PRESETS.items()}
        _add_option(groups[section], described, f"{tip} {_defaults(defaults, described.absent)}")
    declare(
        groups["Depths"],
        """
        --mode-weights W1,W2,...: Weights of the singular values of the deviations from the mean shape,
            non-decreasing, the last one of all that follow. Default 1.
        """,
    )


def _add_option(
    group: argparse._ActionsContainer, described: Parameter, text: str, *, method: bool = False
) -> None:
    """Add the option of a parameter; what is an option of a `method` stays a text, which the method reads."""
    plain = method or described.text or bool(described.choices)
    kind = str if plain else int if described.integer else float
    metavar = METAVARS.get(described.name, "N" if kind is int else "X")
    group.add_argument(
        option_flag(described.name),
        dest=f"option_{described.name}" if method else described.name,
        type=kind,
        choices=described.choices or None,
        metavar=None if described.choices else metavar,
        help=text,
    )


def _intrinsics(text: str) -> str | tuple[float, ...]:
    if text in INTRINSICS_SOURCES or Path(text).is_file():
        return text
    four = _numbers(text)
    if len(four) != 4:
        raise InputError(
            f"--intrinsics is {text!r}; accepted are four numbers fx,fy,cx,cy, an existing file, "
            f"{', '.join(INTRINSICS_SOURCES)}"
        )
    from_four(np.array(four), f"--intrinsics {text}")
    return four


def _hidden(text: str) -> str:
    """Return entries of hidden observations, read from a file where the text is the path of one."""
    if not os.path.isfile(text):  # False, unlike that of a Path, for a text that is too long for a path
        return text
    try:
        return readers.read_bytes(Path(text)).decode("utf-8")
    except ValueError as error:  # InputError is one, too
        raise InputError(f"--hide is {text!r}, a file that cannot be read as text ({error})") from error


# -- the penalty --------------------------------------------------------------------------------------------


def _add_penalties(parser: argparse.ArgumentParser) -> None:
    """Add --penalty, one option for every number of any penalty, and --weights."""
    group = parser.add_argument_group("penalty on the singular values")
    titles = explained({name: f"{kind.title}, {kind.formula}" for name, kind in PENALTIES.items()})
    text = f"--penalty: {titles} (default by the preset, or by a method that accepts no other)"
    declare(group, text, penalty=list(PENALTIES))
    for name, tables in _penalty_numbers().items():
        text = f"{_meanings(tables)} {_defaults(_penalty_defaults(name, list(tables)))}"
        _add_option(group, next(iter(tables.values())), text)
    declare(group, "--weights A1,A2,...: the weights themselves, non-decreasing; sets K", weights=str)


def _penalty_numbers() -> dict[str, dict[str, Parameter]]:
    return _tables_by_parameter({name: parameters_of(kind) for name, kind in PENALTIES.items()})


def _penalty_defaults(name: str, kinds: list[str]) -> dict[str, Any]:
    """Return what a number is by default in each penalty, and in the presets that have that penalty."""
    values: dict[str, Any] = {}
    for kind in kinds:
        values[kind] = getattr(PENALTIES[kind](), name)
        for preset, settings in PRESETS.items():
            if penalty_name(settings.penalty) == kind:
                values[f"{kind} in {preset}"] = getattr(settings.penalty, name)
    return values


def _penalty_from(args: argparse.Namespace, base: Penalty) -> Penalty:
    """Return the penalty that the options ask for, where `base` is the penalty without any of them."""
    given = {name: getattr(args, name) for name in _penalty_numbers() if getattr(args, name) is not None}
    if args.weights is not None:
        clash = ["penalty"] if args.penalty else list(given)
        if clash:
            raise InputError(f"--weights and --{clash[0]} are both given; the weights are all of the penalty")
        return ExplicitWeights(_weights(args.weights, "--weights"))
    name = args.penalty or penalty_name(base)
    start = base if name == penalty_name(base) else PENALTIES[name]()
    values = {entry: getattr(start, entry) for entry in parameters_of(PENALTIES[name])} | given
    penalty: Penalty = PENALTIES[name](**values)
    return penalty


def _weights(text: str, option: str) -> tuple[float, ...]:
    weights = _numbers(text)
    if not weights:
        each = "one per basis shape" if option == "--weights" else "the last one of all modes that follow"
        raise InputError(f"{option} is {text!r}; accepted are numbers A1,A2,..., {each}")
    return weights


# -- the method ---------------------------------------------------------------------------------------------


def _add_method_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of some methods")
    for name, tables in _method_options().items():
        described = next(iter(tables.values()))
        accepted = "" if described.choices else f" Accepted: {described.accepted}."
        defaults = _defaults({method: METHODS[method].default(name) for method in tables})
        text = f"{described.tip}{accepted} For {', '.join(tables)}. {defaults}"
        _add_option(group, described, text, method=True)


def _method_options() -> dict[str, dict[str, Parameter]]:
    return _tables_by_parameter(
        {key: {option.name: option for option in method.options} for key, method in METHODS.items()}
    )


# -- sentences of the help ----------------------------------------------------------------------------------


def _tables_by_parameter(tables: Mapping[str, Mapping[str, Parameter]]) -> dict[str, dict[str, Parameter]]:
    """Return every parameter of some tables by its name, with the tables that have it."""
    found: dict[str, dict[str, Parameter]] = {}
    for table, entries in tables.items():
        for name, described in entries.items():
            found.setdefault(name, {})[table] = described
    return found


def _meanings(tables: Mapping[str, Parameter]) -> str:
    """Return what a parameter means to each that has it; once where they agree."""
    by_tip: dict[str, list[str]] = {}
    for key, described in tables.items():
        by_tip.setdefault(described.tip, []).append(key)
    return " ".join(f"{', '.join(keys)}: {tip}" for tip, keys in by_tip.items())


def _defaults(values: Mapping[str, Any], absent: str = "") -> str:
    """Return the default; of each that has another one where they differ. None stands for `absent`."""
    shown = {key: absent if value is None else f"{value}" for key, value in values.items()}
    if len(set(shown.values())) == 1:
        return f"Default {next(iter(shown.values()))}."
    return f"Defaults: {', '.join(f'{key} {value}' for key, value in shown.items())}."


def _numbers(text: str) -> tuple[float, ...]:
    """Return numbers with commas between them; none where that is not what the text is."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()
