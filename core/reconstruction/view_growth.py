r"""A start of sparse low-rank problems: views are added one at a time, the best determined ones first.

Where most points are seen in two or three views, as on a turntable, most pairs of views share no point.  The
descent from the closed form, which has zeros where nothing is seen, or from random points then ends in minima
of 6 to 50 times the lowest loss.  But with either side of X_fj = P_f u_j known the other one minimizes a
quadratic form, whose matrix is `G_fj` of `core.problem.nonrigid`, Y_fj = (m_fj, 1):

    point     (sum_f P_f' G_fj P_f) u_j = sum_f P_f' G_fj Y_fj                          (K unknowns)
    camera    (sum_j (u_j u_j') x G_fj) vec P_f = sum_j u_j x (G_fj Y_fj)               (3 K unknowns)

so that a reconstruction grows from two views: the view with the most points that are known gets its camera,
points that two views see by now are computed, and all is adjusted by a few steps of the chosen method.  A
point is known where it is seen in two of the views that are in.  Known points give each a camera three
equations; the camera of the most similar view enters as well, with a weight lambda that counts only where the
known points leave a direction free,

    (sum_j (u_j u_j') x G_fj + lambda I) vec P_f = sum_j u_j x (G_fj Y_fj) + lambda vec P_near,

and replaces it where fewer than K points are known.

**eta.**  At eta = 0.05 the term eta |X_12 - m|^2 draws all depths toward 1, which bends a chain of views by
more than the noise does: around a turntable of strong perspective the last views did not meet the first, and
the descent ended 1.4 to 2 times above the lowest loss.  At eta = 1e-3 noise alone adds up.  So views are
added at that eta, and the reconstruction is then followed at the problem's.

Growth has no penalty, and at most the rank of a rigid scene, 4; with more columns two views of a point would
leave it free.  Points that one view sees are computed at the end, those that none sees are 0.
"""

from __future__ import annotations

import numpy as np

from ..foundation.batched_linalg import matmul_batched
from ..foundation.types import Bools, Floats, Ints
from ..problem.factors import Factors
from ..problem.low_rank import LowRankProblem
from .geometry import PROJECTIVE

ETA = 1e-3  # that views are added at, at most
SPARSE = 0.5  # share of the entries that are seen, below which a problem is sparse
LEAST_VIEWS = 2  # that a point has to be seen in to be known
INTERVAL = 0.05  # share by which the views increase until all is adjusted again
PRIOR = 1e-6  # weight of the most similar view's camera, relative to the points'


def shared_points(visible: Bools) -> Ints:
    """Return how many points each pair of views shares, (F, F), with 0 on the diagonal."""
    seen = visible.astype(float)
    shared: Ints = (seen @ seen.T).astype(np.int64)
    np.fill_diagonal(shared, 0)
    return shared


def first_views(problem: LowRankProblem, rng: np.random.Generator) -> Ints:
    """Return views that a reconstruction can grow from, in random order.

    They share at least as many points with another view as half of the views do, and at least K. There are
    none where half of the entries or more are seen.
    """
    if problem.visible.mean() >= SPARSE:
        return np.zeros(0, dtype=np.int64)
    most = shared_points(problem.visible).max(axis=1)
    least = max(float(np.median(most)), min(problem.rank, PROJECTIVE))
    return rng.permutation(np.flatnonzero(most >= least))


class ViewGrowth:
    """A reconstruction that grows view by view: the views that are in, their cameras and their points."""

    def __init__(self, problem: LowRankProblem, first: int) -> None:
        eta = min(problem.eta, ETA)
        self._problem = LowRankProblem(problem.tracks, problem.visible, eta, np.zeros(1))
        self._rank = min(problem.rank, PROJECTIVE)
        self._shared = shared_points(problem.visible)
        self._views = [first, int(np.argmax(self._shared[first]))]
        points, views = problem.shape
        self._B = np.zeros((points, self._rank))
        self._C = np.zeros((self._rank, 3, views))
        self._known = self._seen_enough()

    @property
    def view_count(self) -> int:
        """The number of views that are in."""
        return len(self._views)

    @property
    def complete(self) -> bool:
        """Whether all views are in."""
        return len(self._views) == len(self._problem.visible)

    def count_rounds(self) -> int:
        """Return how often all is adjusted until the growth is complete."""
        rounds, views = 1, self.view_count
        while views < len(self._problem.visible):
            views += self._round_length(views)
            rounds += 1
        return rounds

    def part(self) -> tuple[LowRankProblem, Factors]:
        """Return the problem of the views and points that are known, and their point."""
        points = np.flatnonzero(self._known)
        bare = self._problem.restrict(np.array(self._views), points)
        problem = bare.with_weights(np.zeros(self._rank))
        if not self._C.any():
            return problem, problem.closed_form()
        C = np.ascontiguousarray(self._C[:, :, self._views])
        return problem, Factors(self._B[points], C, np.zeros((len(points), 3)))

    def update(self, factors: Factors) -> None:
        """Replace the cameras and points that are known by those of an adjusted `part`."""
        self._B[self._known] = factors.B
        self._C[:, :, self._views] = factors.C

    def add_views(self) -> None:
        """Add views up to the next adjustment, each with the points that become known by it."""
        for _ in range(self._round_length(self.view_count)):
            if self.complete:
                return
            self._add_view()

    def factors(self) -> Factors:
        """Return all cameras, and the best points for them."""
        B = self._problem.best_points(self._C, np.zeros(self._rank))
        B[self._known] = self._B[self._known]
        return Factors(B, self._C, np.zeros((len(B), 3)))

    def _round_length(self, views: int) -> int:
        return min(max(1, int(INTERVAL * views)), len(self._problem.visible) - views)

    def _seen_enough(self) -> Bools:
        seen: Bools = self._problem.visible[self._views].sum(axis=0) >= LEAST_VIEWS
        return seen

    def _add_view(self) -> None:
        """Add the view with the most known points; of those without any, the one that shares the most."""
        rest = np.setdiff1d(np.arange(len(self._problem.visible)), self._views)
        known = (self._problem.visible[rest] & self._known).sum(axis=1)
        shared = self._shared[rest][:, self._views]
        best = int(np.lexsort((shared.max(axis=1), known))[-1])
        view, near = int(rest[best]), self._views[int(np.argmax(shared[best]))]
        self._C[:, :, view] = self._camera(view, near)
        self._views.append(view)
        seen = self._seen_enough()
        new = seen & ~self._known
        if new.any():
            added = self._problem.restrict(np.array(self._views), np.flatnonzero(new))
            C = np.ascontiguousarray(self._C[:, :, self._views])
            self._B[new] = added.best_points(C, np.zeros(self._rank))
        self._known = seen

    def _camera(self, view: int, near: int) -> Floats:
        """Return the camera (K, 3) of a view from the known points that it sees and a similar camera."""
        prior: Floats = self._C[:, :, near]
        points = np.flatnonzero(self._problem.visible[view] & self._known)
        if len(points) < self._rank:
            return prior
        B = self._B[points]
        weight = PRIOR * float(np.mean(B**2)) * len(points)
        one = self._problem.restrict(np.array([view]), points)
        system = one.data.best_C(B, np.zeros((len(points), 3)), np.full(self._rank, 2.0 * weight))
        moved = weight * matmul_batched(system.inverse(slice(0, 1)), prior.reshape(-1, 1))
        camera: Floats = system.C[:, :, 0] + moved.reshape(self._rank, 3)
        return camera
