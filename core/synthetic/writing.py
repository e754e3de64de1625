"""Simulated sequences in the NRSfM Challenge's folders, as `core.io.readers.challenge` describes them."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..data.sequence import CameraModel, Sequence
from ..foundation.atomic import replacing
from ..foundation.exceptions import InputError
from ..foundation.outputs import check_replaceable, make_folder
from ..io.files.contents import read_bytes
from ..io.readers.challenge import EDGES, FACES, PATHS, ChallengeFile, truth_file
from .simulation import INTRINSICS, simulate


def write_challenge(
    folder: str | os.PathLike[str],
    kind: str,
    *,
    paths: Iterable[str] = PATHS,
    camera_models: Iterable[CameraModel] = tuple(CameraModel),
    frames: int = 60,
    points: int = 120,
    noise: float = 0.3,
    occlusion: float = 0.5,
    seed: int = 0,
    decimals: int = 6,
) -> Path:
    """Write sequences of one object and return its folder, `<folder>/<kind>`.

    Parameters
    ----------
    folder
        where to put the object's folder; made where it is absent.
    kind, frames, points, noise, occlusion, seed
        as in `simulate`.
    paths, camera_models
        which sequences to write.
    decimals
        digits after the point of the tracks (px or mm).

    Returns
    -------
    Path
        the folder of the object.

    Raises
    ------
    InputError
        where an argument is outside its range, the folder cannot be written, or it holds another object of
        that name.

    Examples
    --------
    >>> import tempfile, core
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     core.list_sequences(core.write_challenge(folder, "paper", paths=["line"], frames=5))[0].points
    120
    """
    root = Path(folder) / kind
    items = [ChallengeFile(root, model, path) for path, model in itertools.product(paths, camera_models)]
    for item in items:
        check_replaceable((item.file, item.visibility, item.truth))
    for item in items:
        sequence = simulate(
            kind,
            path=item.path_name,
            camera=item.camera,
            frames=frames,
            points=points,
            noise=noise,
            occlusion=occlusion,
            seed=seed,
        )
        _write_object(root, sequence)
        _write_text(item.file, sequence.tracks.reshape(-1, points), f"%.{decimals}f")
        _write_text(item.visibility, np.repeat(sequence.visible, 2, axis=0), "%d")
        _write_truth(item.truth, sequence)
    return root


def _write_object(root: Path, sequence: Sequence) -> None:
    """Write the files that all sequences of an object share, unless they exist already."""
    assert sequence.truth is not None
    reference = sequence.truth.reference
    shape = _text(sequence.truth.at(reference), "%.6f")  # type: ignore[arg-type]
    file = root / f"gt_frame_{reference + 1}.txt"
    present = truth_file(root) if root.is_dir() else None
    if present is not None:
        if present[0].name != file.name or read_bytes(present[0]) != shape:
            raise InputError(
                f"{root}: holds another object ({present[0].name} differs); accepted is a new folder, or the "
                "same frames and points"
            )
        return
    check_replaceable((root / EDGES, root / FACES))
    _write(file, shape)
    if sequence.edges is not None:
        _write_text(root / EDGES, sequence.edges, "%d")
    if sequence.faces is not None:
        _write_text(root / FACES, sequence.faces, "%d")


def _write_truth(file: Path, sequence: Sequence) -> None:
    """Write the true shapes of every frame in single precision, which is 1e-5 mm, and the true cameras."""
    assert sequence.truth is not None
    assert sequence.rotations is not None and sequence.translations is not None
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        allow_pickle=False,
        S=sequence.truth.points.astype(np.float32),
        R=sequence.rotations,
        t=sequence.translations,
        K=INTRINSICS,
    )
    _write(file, stream.getvalue())


def _write_text(file: Path, matrix: npt.NDArray[np.generic], number: str) -> None:
    _write(file, _text(matrix, number))


def _text(matrix: npt.NDArray[np.generic], number: str) -> bytes:
    stream = io.BytesIO()
    np.savetxt(stream, matrix, fmt=number)
    return stream.getvalue()


def _write(file: Path, content: bytes) -> None:
    make_folder(file.parent)
    with replacing(file) as temporary:
        temporary.write_bytes(content)
