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
from .known_cameras import MU, OURS, SolverCurve, ours
from .stopwatch import OutOfTime, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...foundation.types import Floats
    from .known_cameras import KnownCameraScene

STEP = 0.9  # of their ADMM, the tutorial's
SHORTER = 0.99  # of 1 / L
THERE = 1e-10  # where theirs end: they have no rule that could tell
ENDLESS = 1_000_000
REPEATS = 3  # of ours, which takes a fraction of a second; the fastest counts
TUTORIAL = "pyproximal ADMM, as in its tutorial"
ADMM = "pyproximal ADMM, frames in one call"
FISTA = "pyproximal proximal gradient (FISTA)"
METHODS = (OURS, TUTORIAL, ADMM, FISTA)


def theirs(scene: KnownCameraScene, method: str, optimum: float, seconds: float) -> SolverCurve:
    """Run pyproximal until the objective is within 1e-10 of the optimum, or to the limit.

    Raises
    ------
    InputError
        where pyproximal is not installed.
    """
    version()
    primal = import_module("pyproximal.optimization.primal")
    data, nuclear = _operators(scene, by_frame=method == TUTORIAL)
    start = np.zeros(nuclear.dim).ravel()
    watch = Stopwatch(seconds)
    count = 0

    def after(*copies: Floats) -> None:
        nonlocal count
        count += 1
        late = watch.expired
        with watch.paused():
            if late or watch.due(count):
                shaped = [copy.reshape(len(scene.tracks), 3, -1) for copy in copies]
                value = min(scene.objective(X) for X in shaped)
                watch.mark(count, value, value)
        if late or (watch.marks and watch.marks[-1].loss <= (1 + THERE) * optimum):
            raise OutOfTime

    lipschitz = float(np.linalg.norm(scene.cameras, 2, axis=(1, 2)).max()) ** 2
    try:
        with single_threaded(), watch.running():
            if method != FISTA:
                primal.ADMM(data, nuclear, tau=STEP, x0=start, niter=ENDLESS, callback=after, callbackz=True)
            else:
                primal.ProximalGradient(
                    data,
                    nuclear,
                    x0=start,
                    tau=SHORTER / lipschitz,
                    niter=ENDLESS,
                    acceleration="fista",
                    callback=after,
                )
    except OutOfTime:
        pass
    return SolverCurve(method, tuple(watch.marks))


def version() -> str:
    """Return pyproximal's version.

    Raises
    ------
    InputError
        where it is not installed.
    """
    try:
        return str(import_module("pyproximal").__version__)
    except ImportError as error:
        raise InputError(
            "pyproximal is not installed, so that there is nothing to compare with; install it with: "
            "pip install pyproximal==0.12"
        ) from error


def _operators(scene: KnownCameraScene, *, by_frame: bool) -> tuple[Any, Any]:
    """Return the data term and the nuclear norm as pyproximal takes them, on X# as one vector."""
    theirs = import_module("pyproximal")
    R, M = scene.cameras, scene.tracks
    frames, _, points = M.shape
    gram, pulled = R.transpose(0, 2, 1) @ R, R.transpose(0, 2, 1) @ M

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
                return np.asarray(np.linalg.solve(tau * gram + np.eye(3), tau * pulled + X).ravel())
            out = np.empty_like(X)
            for f, camera in enumerate(R):
                right = tau * camera.T @ M[f] + X[f]
                out[f] = np.linalg.solve(tau * camera.T @ camera + np.eye(3), right)
            return np.asarray(out.ravel())

        def grad(self, x: Floats) -> Floats:
            return np.asarray((gram @ x.reshape(frames, 3, points) - pulled).ravel())

    return DataMisfit(), theirs.Nuclear((frames, 3 * points), MU)


def compare(
    scene: KnownCameraScene, seconds: float, progress: Callable[[str], None] | None = None
) -> Iterator[SolverCurve]:
    """Yield ours, then, where pyproximal is installed, theirs.

    Raises
    ------
    InputError
        after ours, where pyproximal is not installed.
    """
    for method in METHODS:
        if progress is not None:
            progress(method)
        if method == OURS:
            courses = [ours(scene, seconds) for _ in range(REPEATS)]
            best = min(courses, key=lambda course: course.marks[-1].seconds)
            yield best
        else:
            yield theirs(scene, method, best.objective, seconds)
