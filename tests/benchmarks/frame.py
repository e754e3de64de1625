"""What the scripts share: where the data is, arguments, sequences, tables, new processes, what else ran."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil

from core import CameraModel, GroundTruth, Iterate, Sequence, list_sequences, procrustes_mm, read_sequence
from core.foundation import Floats

sys.path.append(str(Path(__file__).resolve().parents[1]))  # of `rendering` and `hands`, which tests share
DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
FOLDERS = (DATA / "challenge_like", DATA / "challenge_more")
# One camera path of each object.
PATHS = (
    "dance/circle", "face/flyby", "kinect_paper/semi_circle", "pickup/zigzag", "shark/tricky",
    "back/circle", "drink/flyby", "mat/semi_circle", "stretch/zigzag",
)  # fmt: skip


def parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a script."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def sequences_parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser of what `chosen_sequences` yields."""
    made = parser(doc)
    made.add_argument("folders", nargs="*", default=FOLDERS, type=Path, help="in the Challenge's layout")
    made.add_argument("--only", nargs="+", default=(), help="those whose OBJECT/PATH has one of these words")
    made.add_argument("--one-path", action="store_true", help="one camera path of each object")
    made.add_argument("--every", type=int, default=1, help="of these only each so many")
    return made


def chosen_sequences(options: argparse.Namespace) -> Iterator[tuple[str, Sequence]]:
    """Yield OBJECT/PATH and the perspective sequence of all that the options choose."""
    entries = {
        f"{entry.object_name}/{entry.path_name}": entry
        for folder in options.folders
        for entry in list_sequences(folder)
        if entry.camera is CameraModel.PERSPECTIVE
    }
    chosen = [
        name
        for name in entries
        if not options.only or any(word in name for word in options.only)
        if not options.one_path or name in PATHS
    ]
    for name in chosen[:: options.every]:
        yield name, read_sequence(entries[name].file)


def timed(run: Iterable[Any]) -> tuple[Any, float]:
    """Return the last that something yields, and the CPU seconds until then."""
    began = time.process_time()
    (last,) = deque(run, maxlen=1)
    return last, time.process_time() - began


def timed_refinement(run: Iterable[Iterate]) -> tuple[Iterate, Iterate, float, float]:
    """Return the last iterate before the depth refinement, the last one, and the CPU seconds until each."""
    began, bilinear, between = time.process_time(), None, 0.0
    for last in run:
        if last.depth is None:
            bilinear, between = last, time.process_time()
    assert bilinear is not None
    return bilinear, last, between - began, time.process_time() - began


def error_mm(points: Floats, truth: GroundTruth | None) -> float:
    """Return the mean 3-D error after a similarity for each frame, without mirror."""
    assert truth is not None
    return float(procrustes_mm(points, truth).mean)


class Table:
    """A Markdown table that is printed row by row; a title may end in " :" and the format of its numbers."""

    def __init__(self, *titles: str) -> None:
        heads = [title.partition(" :") for title in titles]
        self._formats = [after or "" for _, _, after in heads]
        self.rows: list[tuple[Any, ...]] = []
        print("|", " | ".join(head for head, _, _ in heads), "|")
        print("|---" * len(titles) + "|", flush=True)

    def row(self, *cells: Any) -> None:
        """Print a row, and keep it for `summary`."""
        self.rows.append(cells)
        self._print(cells)

    def summary(self, name: str, reduce: Any = np.mean) -> None:
        """Print what the numbers of all rows reduce to."""
        columns = [[x for x in cells if not isinstance(x, str)] for cells in zip(*self.rows, strict=True)]
        self._print([name, *(float(reduce(column)) if column else "" for column in columns[1:])])

    def _print(self, cells: Iterable[Any]) -> None:
        pairs = zip(cells, self._formats, strict=True)
        texts = [cell if isinstance(cell, str) else format(cell, how) for cell, how in pairs]
        print("|", " | ".join(texts), "|", flush=True)


def in_process(function: Callable[..., Any], *arguments: Any, **environment: str) -> Any:
    """Return what a function returns in a new process with one thread of BLAS."""
    fresh = multiprocessing.get_context("spawn")
    with patch.dict(os.environ, {"OPENBLAS_NUM_THREADS": "1"} | environment):
        with ProcessPoolExecutor(1, fresh) as pool:
            return pool.submit(function, *arguments).result()


class Meanwhile:
    """What else the processors did since it was constructed, printed with each figure."""

    def __init__(self) -> None:
        self._before, self._own = psutil.cpu_times(), time.process_time()

    def __str__(self) -> str:
        """Return what this process, other processes and other machines of the host used."""
        spent = [now - before for now, before in zip(psutil.cpu_times(), self._before, strict=True)]
        if len(spent) < 8:
            return "what else the processors did is not known here"
        _, _, _, idle, waiting, _, _, stolen = spent[:8]  # of Linux; the time of guests is in the first, too
        total, own = max(sum(spent[:8]), 0.01), time.process_time() - self._own
        others = max(total - idle - waiting - stolen - own, 0.0)
        own, others, host = (100 * each / total for each in (own, others, stolen))
        return f"of the processors {own:.0f} % were for this, {others:.0f} % for others, {host:.1f} % stolen"
