"""The reconstruction as a value, and its file: a versioned .npz of plain arrays, without pickles.

The arrays of the file are the fields of `Result`, under their names and in their shapes, the shapes S as
`points`, those of the truth, and `meta` as JSON text; `assets/help/formats.md` describes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..cameras.calibration import project, to_pixels
from ..cameras.intrinsics import IntrinsicsOrigin
from ..data.connectivity import Connectivity, connect
from ..data.sequence import (
    FRAME_RATES,
    LARGEST_COORDINATE,
    CameraModel,
    GroundTruth,
    check_rotations,
    checked_intrinsics,
)
from ..foundation.atomic import replacing
from ..foundation.exceptions import LONGEST_SENTENCE, InputError, printable_name
from ..foundation.phases import DEPTHS, WNN
from ..foundation.records import check_shapes
from ..foundation.types import Bools, Floats, Ints, read_only
from ..io.files.contents import load_arrays, parse_json, read_bytes, refusing_damage
from ..io.files.variables import describe
from ..problem.robust import RobustLoss
from .geometry import Projective, shapes_of_factors
from .orientation import UprightRule, parse_upright
from .provenance import RECORDS
from .scale import METERS, parse_scale
from .verdicts import Verdict, product_singular_values, worth_of

FORMAT = "nrsfm-result"
MOST_SHOWN = 300_000  # points in all frames that a notebook draws: 2 to 4 MB
VERSION = 1

LOW_RANK = {"cameras", "homogeneous", "norm"}  # all of them, or none
REFINED = {  # likewise
    *("bilinear_B", "bilinear_C", "bilinear_weights", "bilinear_rotations", "bilinear_translations"),
    *("energy", "energy_history"),
}
_REFINED_NEEDS = "a refined result needs the bilinear solution and the energy, all seven"
LARGEST_NUMBER = 1e50
_NUMBERED = np.s_[:, :2]  # columns of a history; its losses may be any number
# Entries of `meta` that are used as they are: paths, values of settings, and code of several lines.
EXACT = frozenset("source start video command python settings steps reading versions".split())


def log_loss(loss: float) -> float:
    """Return the logarithm to base 10 of an objective; minus infinity where it is 0."""
    return math.log10(loss) if loss > 0 else -math.inf


def shaped(*shape: str | int, dtype: type = np.float64, finite: Any = np.s_[:0]) -> dict[str, Any]:
    """Return what a file holds of a field, without NaN at `finite`; letters are sizes, as F of the frames."""
    return {"shape": shape, "dtype": dtype, "finite": finite}


@dataclass(frozen=True)
class StartReport:
    """How one starting point of the search ended, of `Iterate.starts`.

    Parameters
    ----------
    name, loss, agrees
        of the start: its name, its loss, and whether that is within a relative 1e-5 of the lowest.
    note
        "joined ..." a start of the same minimum, or "given up" above the lowest; "" of one that was ended.
    """

    name: str
    loss: float
    agrees: bool
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A reconstruction with all that is needed to evaluate, show and reproduce it; `reconstruct` returns it.

    Arrays are read-only, and lengths calibrated, of F frames and P points.

    Parameters
    ----------
    tracks, visible
        (F, 2, P), (F, P) the observations, 0 where hidden.
    rotations, translations
        (F, 3, 3), (F, 3) from the world to the camera: Y = R S + t. Of a low-rank problem these, B, C and the
        intrinsics are the view that `geometry` makes of its cameras and points.
    B, C
        (F, K), (3P, K) the factors of the shapes; rows of C are x of all points, then y, then z. Of a refined
        result the first columns are 1 and the mean shape, of weight 0, the others modes, the largest first.
    weights
        (K,) of the columns of B, or (R,) of those of `cameras`; of a concave penalty its slopes at the end.
    eta, loss
        the weight of the affine error, and the weighted nuclear norm and pOSE, not its logarithm.
    history, best_losses
        (N, 3) iteration, seconds and loss, and (N,) the lowest so far, NaN where unknown.
    intrinsics, camera, truth, edges, faces
        (3, 3) K that calibrated the tracks; the others as of the `Sequence`.
    meta
        a dict of `method`, `settings`, `preset`, `versions`, `source`, `digest`, `content`, `reading`,
        `command`, `python`, `starts`, `remarks`, `verdicts`, `status`, `seconds`, `units` and others, as
        `core.reconstruction.progress.result_metadata` writes them; also `steps` and `start` where the run had
        more than one step, or a start, and `refinement` where it was refined.
    cameras, homogeneous, norm
        (F, 3, R), (R, P), of a low-rank solution: X = cameras times points, x = norm X_12 / X_3.
    bilinear_B, bilinear_C, bilinear_weights, bilinear_rotations, bilinear_translations
        what a refinement started from, in the shapes above, of rank R.
    energy, energy_history
        of a refinement: the last energy, and (M, 3) iteration, seconds and energy.
    std, robust_weights
        (F, 3, P) standard deviations of the points along the axes of the camera, where known, and (F, P)
        weights of the observations by a robust loss, 0 to 1.

    Raises
    ------
    InputError
        where the shapes of the arrays disagree.
    """

    tracks: Floats = field(metadata=shaped("F", 2, "P"))
    visible: Bools = field(metadata=shaped("F", "P", dtype=np.bool_))
    rotations: Floats = field(metadata=shaped("F", 3, 3, finite=...))
    translations: Floats = field(metadata=shaped("F", 3, finite=...))
    B: Floats = field(metadata=shaped("F", "K", finite=...))
    C: Floats = field(metadata=shaped("3P", "K", finite=...))
    weights: Floats = field(metadata=shaped("K", finite=...))
    eta: float = field(metadata=shaped(finite=...))
    loss: float = field(metadata=shaped(finite=...))
    history: Floats = field(metadata=shaped("N", 3, finite=_NUMBERED))
    intrinsics: Floats = field(metadata=shaped(3, 3, finite=...))
    camera: CameraModel
    truth: GroundTruth | None = None
    edges: Ints | None = field(default=None, metadata=shaped("E", 2, dtype=np.int64))
    faces: Ints | None = field(default=None, metadata=shaped("T", 3, dtype=np.int64))
    meta: dict[str, Any] = field(default_factory=dict)
    cameras: Floats | None = field(default=None, metadata=shaped("F", 3, "R", finite=...))
    homogeneous: Floats | None = field(default=None, metadata=shaped("R", "P", finite=...))
    norm: float | None = field(default=None, metadata=shaped(finite=...))
    bilinear_B: Floats | None = field(default=None, metadata=shaped("F", "R", finite=...))
    bilinear_C: Floats | None = field(default=None, metadata=shaped("3P", "R", finite=...))
    bilinear_weights: Floats | None = field(default=None, metadata=shaped("R", finite=...))
    bilinear_rotations: Floats | None = field(default=None, metadata=shaped("F", 3, 3, finite=...))
    bilinear_translations: Floats | None = field(default=None, metadata=shaped("F", 3, finite=...))
    energy: float | None = field(default=None, metadata=shaped(finite=...))
    energy_history: Floats | None = field(default=None, metadata=shaped("M", 3, finite=_NUMBERED))
    std: Floats | None = field(default=None, metadata=shaped("F", 3, "P"))
    best_losses: Floats | None = field(default=None, metadata=shaped("N"))
    robust_weights: Floats | None = field(default=None, metadata=shaped("F", "P"))

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in _ARRAYS if getattr(self, name) is not None}
        _check_shapes("result", arrays)
        if self.truth is not None and self.truth.frames.max() >= len(self.B):
            raise InputError(
                f"the ground truth is of frame {self.truth.frames.max()} (0-based); there are {len(self.B)}"
            )
        for name, value in arrays.items():
            held = _ARRAYS[name].metadata
            array = read_only(value, held["dtype"]) if held["shape"] else float(value)
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        size = f"{self.frame_count} frames, {self.point_count} points, rank {self.rank}"
        kinds = [str(verdict["kind"]) for verdict in self.meta.get("verdicts", ())]
        doubt = f"; {worth_of(kinds)}" if kinds else ""
        return (
            f"Result({self.meta.get('name', '')!r}: {size}, log10 loss {self.log_loss:.2f}, "
            f"{self.meta.get('status', 'status unknown')}{doubt})"
        )

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What may be wrong with the result, a sentence each; none where nothing is known to be."""
        return tuple(str(verdict["sentence"]) for verdict in self.meta.get("verdicts", ()))

    def _repr_html_(self) -> str:
        """Return the moving shape for a notebook; one line where there is too much of it."""
        from .. import shape_page

        if self.frame_count * self.point_count > MOST_SHOWN:
            return f'<pre>{escape(repr(self))}</pre><p>result.export("shape.html") writes a page of it.</p>'
        page = escape(shape_page(self))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="the shape" '
            'style="width: 100%; height: 560px; border: 1px solid #8884; border-radius: 8px"></iframe>'
        )

    # Errors and formats are defined in packages above this one; these methods call their public names.

    def errors(self) -> dict[str, float]:
        """Return the errors of the result, by name, see `core.evaluation.errors_of`."""
        from .. import errors_of

        return errors_of(self)

    def save(self, path: str | Path) -> Path:
        """Write the result file atomically and return its path; `load_result` reads it."""
        return save_result(self, path)

    def export(self, path: str | Path, **options: Any) -> list[Path]:
        """Write the result in the format that the suffix names; `core.export` has the options."""
        from .. import export

        return export(self, path, **options)

    def figure(self, frames: int | Collection[int] = 5) -> Any:
        """Return the shape at some frames as a Matplotlib figure, see `core.shapes_figure`."""
        from .. import shapes_figure

        return shapes_figure(self, frames)

    @property
    def points(self) -> Floats:
        """(F, 3, P) shapes S in the object frame, calibrated units."""
        return shapes_of_factors(self.B, self.C)

    @property
    def camera_points(self) -> Floats:
        """(F, 3, P) shapes in the camera frame, Y = R S + t, calibrated units."""
        return self.rotations @ self.points + self.translations[:, :, None]

    @property
    def frame_count(self) -> int:
        """F, the number of frames."""
        return len(self.B)

    @property
    def point_count(self) -> int:
        """P, the number of points."""
        return int(self.visible.shape[1])

    @property
    def rank(self) -> int:
        """The rank of the weighted nuclear norm that was minimized, or that the refinement started from."""
        return int(self.wnn_weights.size)

    @property
    def objective(self) -> str:
        """The key of `OBJECTIVES` that says what was minimized."""
        return WNN if self.energy is None else DEPTHS

    @property
    def wnn_weights(self) -> Floats:
        """(R,) weights of the nuclear norm that the loss is of."""
        return self.weights if self.bilinear_weights is None else self.bilinear_weights

    @property
    def scale(self) -> tuple[float, str]:
        """Units of length per calibrated unit, and their name; 1 and "" where no length is known."""
        held = self.meta.get("scale")
        return (float(held["factor"]), str(held["unit"])) if isinstance(held, dict) else (1.0, "")

    def size_in(self, unit: str) -> float | None:
        """Return one calibrated unit in a unit of length, None where no length is known or it is none."""
        factor, own = self.scale
        return factor * METERS[own] / METERS[unit] if own and unit in METERS else None

    def with_scale(self, rule: str) -> Result:
        """Return the result in the units that a length gives it: "3-17=85mm" or "size=200mm"."""
        known = parse_scale(rule)
        if not self.metric:
            raise InputError(f"scale is {rule!r}, but the result has no metric view, whose lengths compare")
        factor = known.factor(self.points)
        scale = {"rule": str(known), "factor": factor, "unit": known.unit}
        return replace(self, meta=self.meta | {"scale": scale})

    @property
    def upright(self) -> UprightRule | None:
        """What was said about how it stands, None where nothing was."""
        rule = self.meta.get("upright")
        return None if rule is None else parse_upright(rule)

    def with_upright(self, rule: str) -> Result:
        """Return the result standing as a rule has it: "up=0,-0.8,0.6 front=0.5,0,-1 floor=12:3-5-9"."""
        known = parse_upright(rule)
        known.check(self.frame_count, self.point_count)
        return replace(self, meta=self.meta | {"upright": str(known)})

    def with_mesh(self) -> Result:
        """Return the result with what connects its points, where it has neither edges nor faces."""
        if self.edges is not None or self.faces is not None or not self.metric:
            return self
        found = _connectivity(self)
        return replace(self, edges=found.edges, faces=found.faces)

    @property
    def metric(self) -> bool:
        """Whether its lengths compare, which those of a low-rank result without a metric view do not."""
        return bool((self.meta.get("low_rank") or {}).get("metric", True))

    @property
    def low_rank(self) -> bool:
        """Whether this is a solution of the low-rank problem."""
        return self.cameras is not None

    @property
    def projective(self) -> Projective | None:
        """The solution of the low-rank problem, None of the other one."""
        if self.cameras is None or self.homogeneous is None or self.norm is None:
            return None
        return Projective(self.cameras, self.homogeneous, self.norm)

    @property
    def refined(self) -> bool:
        """Whether its points are those of a refinement, which the loss is not of."""
        return self.bilinear_B is not None

    @property
    def robust_loss(self) -> RobustLoss | None:
        """The robust loss that its loss is of; None with least squares."""
        values = self.meta.get("robust")
        return None if values is None else RobustLoss(**values)

    @property
    def bilinear(self) -> tuple[Floats, Floats, Floats, Floats]:
        """B (F, K), C (3P, K), rotations (F, 3, 3) and translations (F, 3) that the loss is of."""
        B, C = self.bilinear_B, self.bilinear_C
        R, t = self.bilinear_rotations, self.bilinear_translations
        if B is None or C is None or R is None or t is None:
            return self.B, self.C, self.rotations, self.translations
        return B, C, R, t

    @property
    def log_loss(self) -> float:
        """The logarithm to base 10 of the objective; minus infinity where it is 0."""
        return log_loss(self.loss)

    @property
    def singular_values(self) -> Floats:
        """(R,) singular values of the X# = BC' that the loss is of, or of a low-rank X; descending."""
        left, right, _, _ = self.bilinear
        solved = self.projective
        if solved is not None:
            left, right = solved.cameras.reshape(-1, self.rank), solved.homogeneous.T
        return product_singular_values(left, right)

    @property
    def iterations(self) -> int:
        """The number of iterations, through all phases."""
        return int(self.history[-1, 0]) if len(self.history) else 0

    @property
    def seconds(self) -> float:
        """Seconds spent computing."""
        return float(self.history[-1, 1]) if len(self.history) else 0.0

    def observations(self) -> Floats:
        """Return the measured tracks in the units of the sequence, (F, 2, P), NaN where hidden."""
        measured = np.where(self.visible[:, None, :], self.tracks, np.nan)
        return to_pixels(measured, self.intrinsics)

    def reprojections(self) -> Floats:
        """Return where the reconstruction projects to, (F, 2, P), in the units of the sequence's tracks.

        Perspective cameras divide by depth, and a point at depth 0 is NaN; orthogonal ones drop it, and so
        does eta = 1, where the affine term is all that was solved and nothing measures depth. A low-rank
        solution without a metric view projects by its projective cameras.
        """
        solved = self.projective
        if solved is not None and not (self.meta.get("low_rank") or {}).get("metric"):
            return solved.reprojections()
        model = CameraModel.ORTHOGONAL if self.eta == 1 else self.camera
        return project(self.camera_points, self.intrinsics, model)


_ARRAYS = {entry.name: entry for entry in fields(Result) if "shape" in entry.metadata}
_TRUTH: dict[str, tuple[str | int, ...]] = {
    "truth_points": ("G", 3, "P"), "truth_frames": ("G",), "truth_reference": ()
}  # fmt: skip
SHAPES = (
    {name: entry.metadata["shape"] for name, entry in _ARRAYS.items()} | {"points": ("F", 3, "P")} | _TRUTH
)
OPTIONAL = {name for name, entry in _ARRAYS.items() if entry.default is None} | _TRUTH.keys()
_WHOLE = {name for name, entry in _ARRAYS.items() if entry.metadata["dtype"] is np.int64} | {"truth_frames"}


def _check_shapes(where: str, arrays: Mapping[str, Any]) -> None:
    """Compare every array with SHAPES; the first array that uses a letter fixes its size."""
    for group, needed in ((LOW_RANK, "a low-rank solution needs all three"), (REFINED, _REFINED_NEEDS)):
        given = group & set(arrays)
        if given and given != group:
            missing, held = sorted(group - given), ", ".join(sorted(given))
            raise InputError(f"{where} has {held}, but lacks {missing[0]!r}; {needed}")
    view = not (LOW_RANK | REFINED).isdisjoint(arrays)  # B and C are then not what was solved for
    shapes = SHAPES | ({"weights": ("R",)} if "cameras" in arrays else {})
    if not view:  # R is K
        shapes = {name: tuple("K" if each == "R" else each for each in shapes[name]) for name in shapes}
    check_shapes(shapes, arrays, {}, where)


def arrays_of(result: Result) -> dict[str, Any]:
    """Return the result as the arrays that its file holds, under their names; `meta` is JSON text."""
    values: dict[str, Any] = {
        name: getattr(result, name) for name in _ARRAYS if getattr(result, name) is not None
    }
    values["points"] = result.points
    if result.truth is not None:
        values |= {f"truth_{name}": np.asarray(value) for name, value in vars(result.truth).items()}
    meta = {"format": FORMAT, "version": VERSION, "camera": result.camera.value} | result.meta
    text = json.dumps(meta, ensure_ascii=False, sort_keys=True)
    values["meta"] = text.encode(errors="backslashreplace").decode()  # as JSON escapes names that are no text
    return values


def save_result(result: Result, path: str | Path) -> Path:
    """Write a result file, whose arrays are those of a `Result`, atomically and return its path.

    Parameters
    ----------
    result
        a reconstruction.
    path
        the file, which is replaced where it exists.

    Returns
    -------
    Path
        the same path.

    Raises
    ------
    InputError
        where the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     core.save_result(result, pathlib.Path(folder, "result.npz")).name
    'result.npz'
    """
    path = Path(path)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays_of(result))
    return path


def load_result(path: str | Path) -> Result:
    """Read a result file.

    Parameters
    ----------
    path
        an .npz file that `save_result` wrote.

    Returns
    -------
    Result
        with the same arrays, bit for bit.

    Raises
    ------
    InputError
        where the file is absent, is not a result, is of another version, lacks an array, or holds a number
        that is not finite where it has to be or far too large, or an entry of `meta` of another kind than the
        program writes.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = core.load_result(core.save_result(result, pathlib.Path(folder, "result.npz")))
    >>> loaded.loss == result.loss
    True
    """
    path = Path(path)
    with refusing_damage(path):
        return _result_of(path, load_arrays(read_bytes(path), path))


def _result_of(path: Path, arrays: dict[str, Any]) -> Result:
    meta = _read_meta(path, arrays)
    missing = [name for name in SHAPES if name not in arrays and name not in OPTIONAL]
    if missing:
        raise InputError(f"{path} lacks the array {missing[0]!r}; it holds {describe(arrays)}")
    _check_shapes(str(path), arrays)
    for name, value in arrays.items():
        if name in SHAPES and value.dtype.kind not in "fiub":
            raise InputError(f"{path}: {name} has type {value.dtype}; accepted are numbers")
        if name in _WHOLE and value.dtype.kind not in "iu":
            raise InputError(f"{path}: {name} holds {value.dtype}; accepted are whole numbers")
    if not arrays["visible"].any():
        raise InputError(f"{path}: visible marks no point as seen; a result is of points that are")
    if "norm" in arrays and not arrays["norm"] > 0:
        raise InputError(f"{path}: norm is {arrays['norm']}; accepted is a positive number")
    for name, entry in _ARRAYS.items():
        held = arrays.get(name, np.zeros((0, 0)))[entry.metadata["finite"]]
        bad = ~(np.abs(held) <= LARGEST_NUMBER)
        if bad.any():
            raise InputError(f"{path}: {name} holds {held[bad][0]}; accepted are finite numbers")
    seen = arrays["tracks"].transpose(0, 2, 1)[arrays["visible"].astype(bool)]
    bad = ~(np.abs(seen) <= LARGEST_COORDINATE)
    if bad.any():
        raise InputError(
            f"{path}: tracks hold {seen[bad][0]} where visible marks a point as seen; "
            f"accepted are numbers up to {LARGEST_COORDINATE:g}"
        )
    for name in ("tracks", "truth_points", "std"):
        if name in arrays and (np.abs(arrays[name]) > LARGEST_NUMBER).any():
            raise InputError(
                f"{path}: {name} holds numbers above {LARGEST_NUMBER:g}, which are no coordinates"
            )
    truth = None
    if "truth_points" in arrays:
        frames = arrays.get("truth_frames", np.arange(len(arrays["truth_points"])))
        reference = arrays.get("truth_reference", frames[0])
        if frames.dtype.kind not in "iu" or reference.dtype.kind not in "iuf" or reference not in frames:
            raise InputError(f"{path}: truth_reference is {reference}; accepted is one of truth_frames")
        truth = GroundTruth(frames, arrays["truth_points"], int(reference))
    try:
        camera = CameraModel(meta.pop("camera"))
    except (KeyError, ValueError) as error:
        known = ", ".join(model.value for model in CameraModel)
        raise InputError(f"{path}: meta names no camera model; accepted are {known}") from error
    del meta["format"], meta["version"]
    own = {name: arrays[name] for name in _ARRAYS if name in arrays}
    if LOW_RANK.isdisjoint(own):  # their view may be no metric one
        checked_intrinsics(own["intrinsics"], f"{path}: intrinsics")
        for name in own.keys() & {"rotations", "bilinear_rotations"}:
            check_rotations(own[name].astype(np.float64), f"{path}: {name}")
    return Result(**own, camera=camera, truth=truth, meta=checked_meta(meta))


def _read_meta(path: Path, arrays: dict[str, Any]) -> dict[str, Any]:
    try:
        meta = parse_json(str(arrays.pop("meta")[()]))
    except KeyError as error:
        raise InputError(
            f"{path} lacks 'meta', so it is not a result; it holds {describe(arrays)}"
        ) from error
    except InputError as error:
        raise InputError(f"{path}: meta is not JSON text ({error})") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise InputError(f"{path} is not a result: its meta does not name the format {FORMAT!r}")
    if meta.get("version") != VERSION:
        raise InputError(
            f"{path} is a result of version {meta.get('version')!r}; this program reads version {VERSION}"
        )
    return meta


# Entries of `meta` that the program writes, with their kinds; those with other names are free.
META: dict[str, Any] = {
    **dict.fromkeys("name method status rotations command python start upright provenance".split(), str),
    **dict.fromkeys("digest content units truth_units truth_name".split(), str),
    **dict.fromkeys(("preset", "source", "video"), str | None),
    **dict.fromkeys(("settings", "phase", "versions", "reading"), dict[str, Any]),
    **dict.fromkeys(("image_size", "video_frames"), list[int] | None),
    "seconds": float,
    "iterations": int,
    "frame_rate": float | None,
    "point_names": list[str] | None,
    "remarks": list[str],
    "phases": list[tuple[int, dict[str, Any]]],
    "starts": list[StartReport],
    "verdicts": list[Verdict],
    "steps": list[dict[str, Any]],
    "robust": RobustLoss,
    "intrinsics": IntrinsicsOrigin | None,
    "low_rank": {
        "metric": bool,
        **dict.fromkeys(("metric_rms", "projective_rms"), float | None),
        "reason": str,
    },
    "refinement": {
        **dict.fromkeys(("noise_px", "length_share"), float),
        "lengths": {"edge_eps": float, "share": float, "rigid": float | None},
    },
    "scale": {"rule": str, "factor": float, "unit": str},
}


def _check_kinds(values: dict[str, Any], kinds: dict[str, Any], where: str) -> None:
    """Raise InputError where an entry is of another kind; those of an object are given by its entries."""
    for name, kind in kinds.items():
        if name not in values:
            continue
        place = f"{where}.{name}"
        nested = isinstance(kind, dict)
        read = RECORDS.read(dict[str, Any] | None if nested else kind, values[name], place)
        if nested and read is not None:
            _check_kinds(read, kind, place)


def checked_meta(values: dict[str, Any]) -> dict[str, Any]:
    """Return the entries with texts that can be printed: names, units and sentences of a file."""
    _check_kinds(values, META, "meta")
    any_number, of_lengths = (0.0, LARGEST_NUMBER), (1e-6, 1e6)
    scale, refinement = (values.get(name) or {} for name in ("scale", "refinement"))
    ranges: list[tuple[str, Any, tuple[float, float]]] = [
        ("frame_rate", values.get("frame_rate"), FRAME_RATES),
        ("scale.factor", scale.get("factor"), (1 / LARGEST_NUMBER, LARGEST_NUMBER)),
        ("refinement.noise_px", refinement.get("noise_px"), any_number),
        ("refinement.length_share", refinement.get("length_share"), of_lengths),
        ("seconds", values.get("seconds"), any_number),
        ("iterations", values.get("iterations"), any_number),
    ]
    lengths = refinement.get("lengths") or {}
    for name in META["refinement"]["lengths"]:  # others are free
        ranges.append((f"refinement.lengths.{name}", lengths.get(name), of_lengths))
    for name in ("image_size", "video_frames"):
        ranges += [(f"{name}[{i}]", each, any_number) for i, each in enumerate(values.get(name) or ())]
    for name, value, (least, most) in ranges:
        if value is not None and not least <= value <= most:
            raise InputError(f"meta.{name} is {value}; accepted are {least:g} to {most:g}")
    return {name: value if name in EXACT else _printable(value) for name, value in values.items()}


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _printable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    return printable_name(value, LONGEST_SENTENCE) if isinstance(value, str) else value


@lru_cache(maxsize=2)
def _connectivity(result: Result) -> Connectivity:
    return connect(result.points)
