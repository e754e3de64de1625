"""pyproximal on the problem of its own tutorial, see `core.experiments.benchmark.known_cameras`.

The tutorial's ADMM, its step 0.9 from zero, its data step one 3 x 3 system after the other in a loop over
frames; the same with all frames in one call; and their accelerated proximal gradient method (FISTA) with a
step just below 1 / L, which the tutorial does not use.  Of their two copies of X the better one counts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.exceptions import InputError
from ...solvers.solver import single_threaded
from ..report import Paragraph, ReportTable, write_csv_table
from .known_cameras import BILINEAR_TITLE, TUTORIAL_MU, SolverCurve, solve_bilinear
from .measurement import UNLIMITED, Stopwatch, TimeLimitReached
from .results import compared, known_text, power_of_ten, seconds_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

    from ...foundation.types import Floats
    from ..report import ReportBlock
    from .known_cameras import KnownCamerasScene

ADMM_STEP = 0.9  # of their ADMM, the tutorial's
FISTA_STEP = 0.99  # of 1 / L
OPTIMUM_TOLERANCE = 1e-10  # above the optimum, where theirs end: they have no stopping rule
BILINEAR_REPEATS = 3  # of ours, which needs a fraction of a second; the fastest counts
TUTORIAL_ADMM = "pyproximal ADMM, as in its tutorial"
BATCHED_ADMM = "pyproximal ADMM, frames in one call"
FISTA = "pyproximal proximal gradient (FISTA)"
PYPROXIMAL_METHODS = (BILINEAR_TITLE, TUTORIAL_ADMM, BATCHED_ADMM, FISTA)
PYPROXIMAL_TOLERANCES = (1e-6, 1e-8)  # relative, above the optimum


def solve_pyproximal(scene: KnownCamerasScene, method: str, optimum: float, seconds: float) -> SolverCurve:
    """Run pyproximal until the objective is within 1e-10 of the optimum, or to the limit.

    Raises InputError where pyproximal is not installed.
    """
    pyproximal_version()
    primal = import_module("pyproximal.optimization.primal")
    data, nuclear = _operators(scene, by_frame=method == TUTORIAL_ADMM)
    start = np.zeros(nuclear.dim).ravel()
    watch = Stopwatch(seconds)
    count = 0

    def after(*copies: Floats) -> None:
        nonlocal count
        count += 1
        expired = watch.expired
        with watch.paused():
            if expired or watch.due(count):
                shaped = [copy.reshape(len(scene.tracks), 3, -1) for copy in copies]
                value = min(scene.objective(X) for X in shaped)
                watch.mark(count, value, value)
        if expired or (watch.curve and watch.curve[-1].loss <= (1 + OPTIMUM_TOLERANCE) * optimum):
            raise TimeLimitReached

    lipschitz = float(np.linalg.norm(scene.cameras, 2, axis=(1, 2)).max()) ** 2
    try:
        with single_threaded(), watch.running():
            if method != FISTA:
                primal.ADMM(
                    data, nuclear, tau=ADMM_STEP, x0=start, niter=UNLIMITED, callback=after, callbackz=True
                )
            else:
                primal.ProximalGradient(
                    data,
                    nuclear,
                    x0=start,
                    tau=FISTA_STEP / lipschitz,
                    niter=UNLIMITED,
                    acceleration="fista",
                    callback=after,
                )
    except TimeLimitReached:
        pass
    return SolverCurve(method, tuple(watch.curve))


def pyproximal_version() -> str:
    """Return pyproximal's version. Raises InputError where it is not installed."""
    try:
        return str(import_module("pyproximal").__version__)
    except ImportError as error:
        raise InputError(
            "pyproximal is not installed, so that there is nothing to compare with; install it with: "
            "pip install pyproximal==0.12"
        ) from error


def _operators(scene: KnownCamerasScene, *, by_frame: bool) -> tuple[Any, Any]:
    """Return the data term and the nuclear norm as operators of pyproximal, on X# as one vector."""
    theirs = import_module("pyproximal")
    R, M = scene.cameras, scene.tracks
    frames, _, points = M.shape
    gram, back_projected = R.transpose(0, 2, 1) @ R, R.transpose(0, 2, 1) @ M

    class DataMisfit(theirs.ProxOperator):  # type: ignore[name-defined, misc]
        """1/2 |R X - M|^2."""

        def __init__(self) -> None:
            super().__init__(None, True)

        def __call__(self, x: Floats) -> float:
            misfit = R @ x.reshape(frames, 3, points) - M
            return 0.5 * float(np.vdot(misfit, misfit))

        def prox(self, x: Floats, tau: float, **_: object) -> Floats:
            X = x.reshape(frames, 3, points)
            if not by_frame:
                return np.asarray(np.linalg.solve(tau * gram + np.eye(3), tau * back_projected + X).ravel())
            out = np.empty_like(X)
            for f, camera in enumerate(R):
                right = tau * camera.T @ M[f] + X[f]
                out[f] = np.linalg.solve(tau * camera.T @ camera + np.eye(3), right)
            return np.asarray(out.ravel())

        def grad(self, x: Floats) -> Floats:
            return np.asarray((gram @ x.reshape(frames, 3, points) - back_projected).ravel())

    return DataMisfit(), theirs.Nuclear((frames, 3 * points), TUTORIAL_MU)


def compare_with_pyproximal(
    scene: KnownCamerasScene, seconds: float, progress: Callable[[str], None] | None = None
) -> Iterator[SolverCurve]:
    """Yield ours, then, where pyproximal is installed, theirs.

    Raises InputError after ours, where pyproximal is not installed.
    """
    for method in PYPROXIMAL_METHODS:
        if progress is not None:
            progress(method)
        if method == BILINEAR_TITLE:
            curves = [solve_bilinear(scene, seconds) for _ in range(BILINEAR_REPEATS)]
            best = min(curves, key=lambda solver: solver.curve[-1].seconds)
            yield best
        else:
            yield solve_pyproximal(scene, method, best.loss, seconds)


def pyproximal_table(curves: list[SolverCurve]) -> pd.DataFrame:
    """Compare the solvers with the best of them and with ours, which is the first; a row each."""
    table = compared(curves, PYPROXIMAL_TOLERANCES).rename(columns={"loss": "objective"})
    for tolerance in PYPROXIMAL_TOLERANCES:
        there = table[seconds_column(tolerance)]
        table[f"times_ours_to_{power_of_ten(tolerance)}"] = there / there.iat[0]
    table["rank"] = [solver.rank for solver in curves]
    table["lower_bound"] = [solver.bound for solver in curves]
    return table


def pyproximal_blocks(curves: list[SolverCurve], caption: str) -> list[ReportBlock]:
    """Return the table, and what was proved about the optimum."""
    table = pyproximal_table(curves)
    titles = {"method": "method", "iterations": "iterations", "seconds": "CPU s"}
    for kind, title in (("seconds_to", "s to"), ("times_ours_to", "times ours to")):
        powers = map(power_of_ten, PYPROXIMAL_TOLERANCES)
        titles |= {f"{kind}_{power}": f"{title} {power}" for power in powers}
    texts = table[[*titles]].astype(object)
    texts[[*titles][2:]] = texts[[*titles][2:]].map(known_text)
    texts["objective"] = table["objective"].map("{:.6f}".format)
    texts["excess"] = table["excess"].map("{:.1e}".format)
    lines = texts.astype(str).itertuples(index=False)
    blocks: list[ReportBlock] = [
        ReportTable.of_texts(caption, [titles.get(name, name) for name in texts], lines)
    ]
    for solver in curves:
        if solver.bound is not None:
            gap = max(1 - solver.bound / solver.loss, 0.0)
            proof = f"optimum {solver.loss:.6f}, proved to a relative {gap:.1e}; K = {solver.rank}"
            blocks.append(Paragraph(proof))
    return blocks


def write_pyproximal_curves(path: Path, curves: list[SolverCurve]) -> None:
    """Write one line per point of every curve. Raises InputError where the file cannot be written."""
    lines = [
        [solver.method, point.iteration, point.seconds, point.loss]
        for solver in curves
        for point in solver.curve
    ]
    write_csv_table(path, ["method", "iteration", "seconds", "objective"], lines)
