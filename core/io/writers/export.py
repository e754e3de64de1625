"""Results to files: the table of writers by suffix, each a pure function of a result and a few options.

A new format is a module here and a line in `WRITERS`: the command line and the dialog of the window read the
table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from ...foundation.outputs import check_writable
from ...foundation.representation import OneLine
from ...reconstruction.result import Result, arrays_of, save_result
from . import csv, gltf, meshes, page, usd, vtk
from .options import ExportOptions, ignore_progress

PLACED = frozenset({"coordinates", "align", "mirror"})
SHAPES = PLACED | {"frame", "frames"}
MOVING = PLACED | {"frame", "fps"}
SHOT = MOVING | {"color", "video"}
ANIMATED = SHOT | {"interpolation"}

KINDS = {
    "result": "Complete result",
    "scene": "3-D scene",
    "page": "Web page",
    "shapes": "Meshes and points",
    "table": "Table",
}
Y_UP = frozenset({"scene", "page"})  # kinds whose axes are given
MESHED = frozenset({"scene", "page", "shapes"})  # kinds that show edges or faces


@dataclass(frozen=True)
class Writer(OneLine):
    """One file format: `write` returns the files that it wrote."""

    suffix: str
    label: str  # for a file dialog
    write: Callable[[Result, Path, ExportOptions], list[Path]]
    kind: str = "result"  # a key of KINDS: what a menu lists the format under
    options: frozenset[str] = frozenset()  # names of the options of `export` that have a meaning for it
    purpose: str = ""  # what it is for, as a phrase


def _write_mat(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the same as variables of MATLAB's level 5; `meta` is JSON text for `jsondecode`.

    Frames come first: `points(f, :, :)` is 3 x P. Indices stay 0-based, and coordinates those of the solver,
    y down, whatever is up.
    """
    from scipy.io import savemat  # slow to import, and needed by this format alone

    with replacing(path) as temporary:
        savemat(temporary, arrays_of(result), appendmat=False, do_compression=True, oned_as="column")
    return [path]


_WRITERS = (
    Writer(
        ".npz", "Result of this program, NumPy arrays",
        lambda result, path, options: [save_result(result, path)],
        purpose="to open it here again, and for Python",
    ),
    Writer(".mat", "Result as MATLAB variables", _write_mat, purpose="for MATLAB and Octave"),
    Writer(
        ".usda", "USD, shape and camera moving", usd.write, "scene", SHOT,
        "for Blender, Houdini, Maya, Unreal and usdview: frames keep their numbers",
    ),
    Writer(
        ".glb", "glTF in one binary file", gltf.write, "scene", ANIMATED,
        "for Blender, Unity, Godot and viewers in web pages",
    ),
    Writer(
        ".gltf", "glTF as text", gltf.write, "scene", ANIMATED,
        "as the binary file, and can be read in an editor",
    ),
    Writer(
        ".html", "Web page that plays the shape, all inside", page.write, "page", MOVING,
        "for a browser without a network: to send, to show, for supplementary material",
    ),
    Writer(
        ".ply", "PLY points with edges or faces", meshes.write_ply, "shapes", SHAPES | {"text"},
        "for CloudCompare, MeshLab and Open3D, with errors of every point",
    ),
    Writer(
        ".obj", "Wavefront OBJ points with edges or faces", meshes.write_obj, "shapes", SHAPES,
        "for nearly every 3-D program",
    ),
    Writer(
        ".pvd", "ParaView, a VTP file for every frame", vtk.write, "shapes", PLACED | {"frame"},
        "for ParaView and PyVista: color by error through time",
    ),
    Writer(
        ".csv", "Table: shapes, tracks and reprojections", csv.write_shapes, "table", PLACED | {"frame"},
        "for spreadsheets, pandas and R",
    ),
    Writer(
        ".trajectories.csv", "Table: trajectories and errors", csv.write_trajectories, "table", PLACED,
        "for spreadsheets, pandas and R, with units in the names of the columns",
    ),
)  # fmt: skip
WRITERS = {writer.suffix: writer for writer in _WRITERS}

DRAWN = (".pdf", ".png", ".mp4", ".gif")  # by the window: figures and movies


def writer_for(path: str | Path) -> Writer:
    """Return the writer that the end of a path's name chooses, the longest where several fit."""
    name = Path(path).name.lower()
    fitting = [suffix for suffix in WRITERS if name.endswith(suffix) and name != suffix]
    if not fitting:
        suffix = Path(path).suffix.lower()
        found = f"the suffix {suffix!r}" if suffix else "no suffix"
        drawn = "; figures and movies are drawn by nrsfm-gui RESULT --export FILE" if suffix in DRAWN else ""
        raise InputError(f"{path} has {found}; accepted are {', '.join(WRITERS)}{drawn}")
    return WRITERS[max(fitting, key=len)]


def export(
    result: Result,
    path: str | Path,
    *,
    frame: int | None = None,
    frames: str = "one",
    coordinates: str = "upright",
    align: str = "none",
    mirror: bool = False,
    text: bool = False,
    fps: float | None = None,
    interpolation: str = "linear",
    color: str = "plain",
    video: bool = False,
    progress: Callable[[int, int], None] = ignore_progress,
) -> list[Path]:
    """Write a result in the format that the suffix of `path` names, and return the files written.

    `.npz` and `.mat` hold all of the result, in the coordinates of the solver; all others stand upright.
    `.csv` is a table of shapes, tracks and reprojections, `.trajectories.csv` one of trajectories with their
    errors; `.ply` and `.obj` hold shapes, `.usda`, `.gltf` and `.glb` the deformation and the cameras as an
    animation, and `.html` is a page that plays it. `.pvd` is a list of `.vtp` files, one for every frame.

    Scenes, pages and shapes have the edges and faces of the result; where it has none, those that are found
    in its shapes (`core.data.connectivity`), as the window shows them.

    Parameters
    ----------
    result, path
        what is written, and where; each file, or numbered series, is written completely or not at all.
    frame
        0-based frame to write; None is the first one for ply and obj, and all frames for the others.
    frames
        "one"; "numbered", a file for every frame, counted from 1 as the window does (`name_0001.ply`); or
        "stacked", all frames in one ply file with a property `frame`.
    coordinates
        "upright", standing on a floor at y = 0, y up and z towards the side that the first camera sees
        (`core.reconstruction.orientation`); "object", the S of the solver, or in the coordinates of the truth
        that they are aligned with; or "camera", Y = R S + t. Scenes and pages turn the last two so that y is
        up.
    align
        "none", calibrated units; "scale", multiplied by the one factor that fits the sizes of the ground
        truth; "truth", every frame that has a ground truth moved onto it by a similarity (trajectories and
        glTF hold all frames: the others take the similarity of the nearest that has one); or "sequence", all
        frames moved by one similarity.
    mirror
        whether the mirror image replaces the shape where that is nearer to the truth, in all frames.
    text
        whether a ply file is text and not binary.
    fps
        frames per second of an animation; None is the frame rate of the sequence, 15 where it is unknown.
    interpolation
        "linear" or "step": what a glTF animation shows between two frames.
    color
        "plain"; "std", points of USD and glTF are colored by their standard deviation; or "error", by their
        distance to the ground truth. USD colors every frame, glTF by the root mean square of all frames.
    video
        whether the pictures of the video stand behind the camera of a scene: as numbered JPEG files beside
        USD, in every frame; inside glTF, which knows no videos, that of the first frame.
    progress
        called with (done, total) while it works; what it raises ends the export, and nothing is written.

    Returns
    -------
    list[Path]
        the files that were written.

    Raises
    ------
    InputError
        where an option is out of range, the ground truth or the standard deviations that it needs are
        absent, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = core.export(result, pathlib.Path(folder, "shape.ply"), frame=3)
    >>> files[0].name
    'shape.ply'
    """
    path = Path(path)
    writer = writer_for(path)
    check_writable(path)
    options = ExportOptions(
        frame=frame,
        frames=frames,
        coordinates=coordinates,
        align=align,
        mirror=mirror,
        text=text,
        fps=fps,
        interpolation=interpolation,
        color=color,
        video=video,
        progress=progress,
        y_up=writer.kind in Y_UP,
    )
    progress(0, 1)
    return writer.write(result.with_mesh() if writer.kind in MESHED else result, path, options)
