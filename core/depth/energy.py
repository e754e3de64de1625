r"""The energy of the depth refinement at one level, its gradient, and a preconditioner.

Symbols as in `problem`: X_f (3 x P) the centered shape of frame f in the object's frame, in units of s;
D (F x 3P) the deviations X_f - mean_f X_f as rows; L_fe = |X_fi - X_fj| the length of edge e = (i, j).

    E =   F/2 sum_k log(lambda_k + eps^2)            lambda_k = sigma_k(D)^2 / F, the largest first
        + F/2 sum_k (w_k - 1) log(1 + lambda_k / eps^2)
        + iso F P / (2 E) sum_e log(var_f(L_fe) / r_e + eiso^2)
        + 10 F log(r / r0)^2
        + price/2 sum over the visible |u_fj|^2

Every term but the extent's is a negative log likelihood in the same units, if all w_k are 1.

First term, w = 1.  It is F/2 log det(D D'/F + eps^2 I).  Let the shapes be F samples of a normal
distribution with a covariance C of which only C >= eps^2 I is known.  Up to a constant, -log p is
F/2 log det C + 1/2 sum_f d_f' C^-1 d_f, and C = D'D/F + eps^2 I makes it F/2 log det(D'D/F + eps^2 I) plus
a term between 0 and F/2 rank(D).  The determinants of the two Gram matrices differ by a constant factor, and
the smaller one is computed:

    log det(D'D/F + eps^2 I_3P) - 3P log eps^2 = log det(DD'/F + eps^2 I_F) - F log eps^2
                                               = sum_k log(1 + sigma_k^2 / (F eps^2)).

It is a spectral function of the deviations that charges a rank for existing and not for its size, concave
in sigma_k from sqrt(F) eps on.  With t = sigma_k / (sqrt(F) eps),

    log(1 + t^2) <= 2 log(1 + t) <= log(1 + t^2) + log 2,

so that `LogPenalty(mu=F, epsilon=sqrt(F) eps)`, which is concave everywhere, bounds it from above within
F/2 log 2 a singular value, and has the same slopes well above eps.  By the paper's theorem that penalty of
gamma_k = (|B_k|^2 + |C_k|^2) / 2 bounds it for all factors with D = BC', and equals that of sigma where they
are balanced: there the bilinear problem and this one charge the same, within that constant.

First term, weighted.  It is w_k log(lambda_k + eps^2), less what a mode without movement would add.  A weight
above 1 suppresses a mode, one below 1 lets it grow, 0 makes it free.  With the last weight w, which all modes
after K have, and M = D'D/F + eps^2 I,

    E1 = F/2 log det M + (w - 1) F/2 log det(M / eps^2) + F/2 sum_{k<=K} (w_k - w) log(1 + lambda_k / eps^2),

so that a Cholesky factor and K leading eigenpairs (lambda_k, v_k) suffice:

    dE1/dD = w D M^-1 + D sum_{k<=K} (w_k - w) / (lambda_k + eps^2) v_k v_k'

(of the other Gram matrix, with u_k to the left of D).  Weights do not decrease: of all assignments of the
weights to the modes, the one by size then has the least sum, so that E1 is the minimum of smooth functions.
Where two singular values cross it has a concave kink, which no minimum lies in and no descent stops at.  The
last weight is positive: else the smallest modes, which are mostly noise, would be free.

Second term.  Likewise each edge, its length having an unknown variance; as many edges count as independent as
there are points.  It is robust: an edge that varies once may vary.  Edges are those to the nearest points, or
with `rigid` the most rigid of them (`edges.rigid_edges`).  r_e is 1, or with `relative` a fixed squared
length (`DepthProblem.edge_reference`).  Where an object inflates before an orthogonal camera
(`DepthProblem.inflates`), L_fe is the length over a_f, the size of the frame at the start of the level: the
camera sees the size, and lengths that stay would bend the depths to hide it.  A perspective camera does not
see it, and there the lengths decide it.

Third term.  The depth extent over the lateral extent, r, keeps near that of the anchor, r0, since where the
camera moves little the others prefer elongated shapes.

Fourth term.  An observation may leave its ray, m = m_obs + noise u, u being normal.  Hidden rays have no
price; their unknown u is the ray in units of the tracks' size.  Joint minimization shrinks a direction of
deviations with singular value sigma by a factor a that minimizes F/2 log a^2 + c/2 (1 - a)^2 sigma^2 / tau^2,
tau the noise in units of s.  Its condition a (1 - a) = F tau^2 / (c sigma^2) has a solution where
sigma^2 >= 4 F tau^2 / c; below, the direction vanishes.  Noise alone has singular values up to
tau sqrt(q) (sqrt(F) + sqrt(2P)) in the 2P lateral coordinates, q being the visible share (Marchenko and
Pastur), and with

    c = 4 F / (q (sqrt(F) + sqrt(2P))^2)

exactly what exceeds it is kept; it is 1 for complete tracks with F = 2P.  The price is 1.5 times that, as
weak motion has singular values among those of the noise.  With noise of 2 px errors of real shapes are 1 to
54 % below those of exact rays, those of simulated ones whose lengths stay 70 to 80 % below, and those of
simulated ones that inflate, stretch or tear 2 to 6 % above.

Unknowns: log depths d (orthogonal: depths in units of the tracks' size), w with R_f = R0_f exp([w_f]x), u.

Gradient.  With M = D'D/F + eps^2 I and the right Jacobian J of w (dR = R [J dw]x),

    dE/dD = D M^-1, w = 1   (its mean over the frames is 0, because D 1 = 0 and so M^-1 1 = 1 / eps^2)
    dE/dX_fi += iso P/E sum_e ((L_fe - mean_f L_e) / (v_e + r_e eiso^2)) (X_fi - X_fj) / L_fe
    dE/dw = -J' sum_j X_j x g_j         g = dE/dX
    dE/dY = R g / s, less its mean over the points,      dE/dlog s = -sum g.X.

Arrays are kept with the frame last, (3, P, F): Gram matrices, edges and rotations all run over contiguous
vectors, and no transposition is needed.

Preconditioner.  The sum of two approximate inverses.  The first takes each point by itself.  With
A_fj = dX_fj/dd_fj and W the matrix that multiplies D in dE1/dD, less its row and column means, the depths of
a point are coupled through (A_fj . A_gj) W_fg, the curvature of the first term for a fixed M.  Each edge adds
the curvature h_e (A_fj . direction)^2 to the diagonal, h_e = iso P/E / (v_e + r_e eiso^2).  Rays are taken
one by one.

The second moves each frame as a whole: it turns by w_f, and its depths change by an affine function of the
place, dd_fj = c_f . p_fj with p_fj = (1, y_fj), y the centered point in the camera's frame over the size of
all; without the 1 where the camera is orthogonal, which does not see the distance.  With psi_fk the change of
X_f by one of these parameters, their curvature is

    W_fg sum_j psi_fkj . psi_glj  +  [f = g] sum_e h_e (slope_fke slope_fle),

slope_fke the change of the length of an edge.  Without it each of two changes that nearly cancel, a turn and
a tilt of the depths, or a distance and a size, looks stiff, while both together are not, and steps are far
too short along such a pair of any frame.  Nor does the diagonal of the edges tell that smooth changes of the
depths are soft.  From the same start 25 iterations come as low as 100 to 150 without it.

Frames are coupled within runs of at most 50, so that the cost is linear in F.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..foundation.exceptions import InputError
from ..foundation.linalg import CYCLE, rotation_from_vector, rotation_matrix, turn_series
from ..foundation.representation import OneLine
from ..foundation.types import Floats, Ints
from .edges import NEIGHBORS, SHORTEST_EDGE, frame_sizes, neighbor_edges, rigid_edges
from .problem import DepthPoint, DepthProblem

if TYPE_CHECKING:
    import scipy.sparse as sp

Singles = npt.NDArray[np.float32]

PRICE = 1.5  # of leaving an observation, over that which keeps what exceeds noise
EXTENT_WEIGHT = 10.0  # of the squared log of the extent's ratio, a frame
LONGEST_RUN = 50  # frames that the preconditioner couples
FRAME_FLOOR, DEPTH_FLOOR = 1e-3, 1e-6  # of the mean diagonal, added to the preconditioner's blocks
MOTION_FLOOR = 1e-6  # of the mean floor of whole motions: a tilt of depths which are all 0 moves nothing
TINY = 1e-12  # of lambda_k + eps^2: a mode without movement has no direction in the frames
EIGENVALUE_FLOOR = 1e-6  # of the largest one, of a block that single precision does not hold
FARTHEST = 50.0  # log of a depth over the mean one
RAY_FLOOR = 1e-30  # of the curvature of a ray: where shapes diverge, its inverse stays finite


def check_mode_weights(weights: tuple[float, ...]) -> None:
    """Check the weights of modes.

    Raises InputError where they decrease, one is negative, or the last one is 0 or none.
    """
    ordered = all(0 <= one <= two for one, two in pairwise(weights))
    if not (weights and ordered and 0 < weights[-1] < np.inf):
        given = ", ".join(f"{weight:g}" for weight in weights)
        raise InputError(
            f"the weights of the modes are {given or 'none'}; accepted are numbers of at least 0 that do not "
            "decrease, the last one above 0"
        )


@dataclass(frozen=True)
class DepthLevel:
    """One level of the schedule: the scales of the energy's terms, and when to stop."""

    eps: float  # deviations well below it cost nothing, in units of s
    edge_eps: float  # standard deviations of lengths below it cost nothing, in units of s or of the reference
    isometry: float = 0.3  # weight of the edges
    share: float = 1.0  # `isometry` over the weight that is asked for, see `DepthOptions.energy`
    relative: bool = False  # whether variances of lengths are divided by the reference of the edge
    iterations: int = 200  # the most iterations
    tolerance: float = 1e-9  # relative decrease of the energy in an iteration below which the level ends
    # How many edges each point keeps, the most rigid ones, relative to the neighbors; None: those to all.
    rigid: float | None = None
    # w_k of the modes, the largest first; the last one of all that follow.
    weights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        check_mode_weights(self.weights)

    @property
    def excess(self) -> Floats:
        """(K,) w_k less the last weight, of the modes before all weights are equal."""
        above = np.array(self.weights) - self.weights[-1]
        return above[: np.count_nonzero(above)]


@dataclass(frozen=True, eq=False)
class Preconditioner(OneLine):
    """An approximate inverse of the energy's Hessian, see above; the frames are N runs of b.

    The last run is filled up with frames that do not exist, and which nothing is coupled with.
    """

    frames: int
    depths: Singles  # (P, N, b, b)
    patterns: Singles  # (K, P, F) p
    motions: Singles  # (N, (K + 3) b, (K + 3) b) of c and w
    rays: Singles  # (free rays,) for both of their coordinates

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.frames * (len(self.depths) + 3) + 2 * len(self.rays)

    def apply(self, gradient: Singles) -> Singles:
        """Return the approximate inverse of the Hessian times a vector of the unknowns' form."""
        points, runs, length, _ = self.depths.shape
        d, w, u = _split(gradient, points, self.frames)
        out = np.empty(len(gradient), dtype=np.float32)
        out_d, out_w, out_u = _split(out, points, self.frames)
        padded = _in_runs(d, runs, length)[..., None]
        out_d[:] = np.matmul(self.depths, padded).reshape(points, -1)[:, : self.frames]
        whole = np.concatenate((np.einsum("kpf,pf->kf", self.patterns, d), w))
        padded = _in_runs(whole, runs, length).transpose(1, 0, 2).reshape(runs, -1, 1)
        moved = np.matmul(self.motions, padded).reshape(runs, -1, length).transpose(1, 0, 2)
        moved = moved.reshape(len(whole), -1)[:, : self.frames]
        out_d += np.einsum("kpf,kf->pf", self.patterns, moved[:-3])
        out_w[:] = moved[-3:]
        np.multiply(u, self.rays, out=out_u)
        return out


@dataclass(frozen=True, eq=False)
class LevelEnergy(OneLine):
    """The energy of a level as a function of one vector x of all unknowns.

    x holds the log depths (P, F), the rotation vectors (3, F) and the free rays (2, N), each raveled. N is
    the number of hidden points, or F P where the tracks have noise.
    """

    problem: DepthProblem  # the tracks; with an anchor
    level: DepthLevel  # the scales and weights
    edges: Ints  # (2, E) indices of points
    rotations: Floats  # (F, 3, 3) R0, about which the rotation vectors turn
    sizes: Floats | None = None  # (F,) a_f, which lengths are divided by; None where they are not
    neighbors: int = NEIGHBORS  # of each point, that it has edges to

    @classmethod
    def about(
        cls, problem: DepthProblem, level: DepthLevel, point: DepthPoint, neighbors: int = NEIGHBORS
    ) -> LevelEnergy:
        """Return the energy with the edges of a point's shapes and its rotations as R0."""
        shapes = problem.shapes(point)
        if level.rigid is None:
            edges = neighbor_edges(shapes, neighbors)
        else:
            edges = rigid_edges(shapes, neighbors, level.rigid)
        sizes = frame_sizes(shapes, edges) if problem.inflates else None
        return cls(problem, level, edges, point.rotations, sizes, neighbors)

    # -- the vector of unknowns ------------------------------------------------------------------------------

    def start(self, point: DepthPoint) -> Floats:
        """Return the unknowns of a point, (n,)."""
        frames, points = self.problem.shape
        depths = point.depths / self.problem.size if self.problem.affine else np.log(point.depths)
        x = np.empty(points * frames + 3 * frames + 2 * len(self._priced))
        d, w, u = _split(x, points, frames)
        d[:] = depths.T
        w[:] = 0.0
        if point.rotations is not self.rotations:
            from scipy.spatial.transform import Rotation  # slow to load

            turn = np.swapaxes(self.rotations, 1, 2) @ point.rotations
            w[:] = Rotation.from_matrix(turn).as_rotvec().T
        rays = point.rays.transpose(1, 2, 0).reshape(2, -1)[:, self._free]
        u[:] = (rays - self._tracks.reshape(2, -1)[:, self._free]) / self._ray_unit
        return x

    def point(self, x: Floats) -> DepthPoint:
        """Return the point of the unknowns (n,), of geometric mean depth 1 if the camera is perspective."""
        frames, points = self.problem.shape
        d, w, u = _split(x, points, frames)
        if self.problem.affine:
            depths = self.problem.size * d
        else:  # where points diverge, depths stay numbers above 0
            depths = np.exp(np.clip(d - d.mean(), -FARTHEST, FARTHEST))
        R = self.rotations @ rotation_from_vector(w.T)
        return DepthPoint(R, depths.T, self._rays(u).transpose(2, 0, 1), self.problem.affine)

    @cached_property
    def _tracks(self) -> Floats:
        """(2, P, F) the observations, 0 where hidden."""
        return np.ascontiguousarray(self.problem.tracks.transpose(1, 2, 0))

    @cached_property
    def _free(self) -> Ints | slice:
        """The indices into (P, F), raveled, of the N rays that are unknown."""
        if self.problem.noise > 0:
            return slice(None)
        return np.flatnonzero(~self.problem.visible.T)

    @cached_property
    def _priced(self) -> Floats:
        """(N,) 1 where leaving the observation has a price, 0 where a ray is hidden."""
        return self.problem.visible.T.ravel()[self._free].astype(float)

    @cached_property
    def _ray_unit(self) -> Floats:
        """(N,) the unit of each free ray: the noise of an observation, or the size of the tracks."""
        return np.where(self._priced > 0, self.problem.noise, self.problem.size)

    @cached_property
    def price(self) -> float:
        """The weight of the squared distance from the observations in units of the noise."""
        frames, points = self.problem.shape
        share = float(self.problem.visible.mean())
        return float(PRICE * 4.0 * frames / (share * (np.sqrt(frames) + np.sqrt(2.0 * points)) ** 2))

    def _rays(self, u: Floats) -> Floats:
        """Return the rays (2, P, F)."""
        if self.problem.noise > 0:
            return self._tracks + (self._ray_unit * u).reshape(self._tracks.shape)
        if not u.size:
            return self._tracks
        rays = self._tracks.copy()
        rays.reshape(2, -1)[:, self._free] += self._ray_unit * u
        return rays

    # -- value and gradient ----------------------------------------------------------------------------------

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Return E and its gradient at the unknowns.

        `x`: (n,) the unknowns. Returns E; infinite where it cannot be computed; (n,) its gradient; zeros
        there.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            try:
                value, gradient = self._value_and_gradient(x)
            except np.linalg.LinAlgError:  # of a Gram matrix that is not finite
                value, gradient = np.inf, x
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return np.inf, np.zeros_like(x)
        return value, gradient

    def _value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        problem = self.problem
        frames, points = problem.shape
        d, w, u = _split(x, points, frames)
        rays = self._rays(u)
        series = turn_series(w)
        Y, r = self._camera_points(d, rotation_matrix(w, *series[:2]), rays)
        mean = Y.sum(axis=1, keepdims=True)
        mean /= points
        Y -= mean
        X = _rotate(r, Y)
        value, g = self._deviations(X)
        value += self._edge_lengths(X, g)
        gradient = np.empty_like(x)
        out_d, out_w, out_u = _split(gradient, points, frames)
        out_w[:] = _turning(w, series, X, g)
        gY = _rotate(r.transpose(1, 0, 2), g)
        value += self._extent(Y, gY)
        gY -= gY.sum(axis=1, keepdims=True) / points
        if problem.affine:
            np.multiply(gY[2], problem.size, out=out_d)
        else:
            Y += mean
            z = Y[2]
            np.multiply(gY[0], rays[0], out=out_d)
            out_d += gY[1] * rays[1]
            out_d += gY[2]
            out_d *= z
            out_d -= np.vdot(g, X) / d.size
            if u.size:
                gY[:2] *= z
        if u.size:
            np.multiply(gY[:2].reshape(2, -1)[:, self._free], self._ray_unit, out=out_u)
        if problem.noise > 0:
            priced = u * self._priced
            value += 0.5 * self.price * float(np.vdot(priced, u))
            out_u += self.price * priced
        return value, gradient

    def _camera_points(self, d: Floats, turn: Floats, rays: Floats) -> tuple[Floats, Floats]:
        """Return Y (3, P, F), and R / s as (3, 3, F), R being R0 times a turn (3, 3, F)."""
        problem = self.problem
        Y = np.empty((3, *d.shape))
        if problem.affine:
            Y[:2] = rays
            np.multiply(d, problem.size, out=Y[2])
            s = problem.size
        else:
            np.exp(d, out=Y[2])
            np.multiply(rays, Y[2], out=Y[:2])
            s = problem.size * float(np.exp(d.mean()))
        r = np.einsum("abf,bcf->acf", self._first_rotations, turn)
        r /= s
        return Y, r

    @cached_property
    def _first_rotations(self) -> Floats:
        """(3, 3, F) R0."""
        return np.ascontiguousarray(self.rotations.transpose(1, 2, 0))

    def _deviations(self, X: Floats) -> tuple[float, Floats]:
        """Return the first term, and its gradient in X."""
        frames = X.shape[2]
        D = X.reshape(-1, frames)
        D = D - D.sum(axis=1, keepdims=True) / frames
        size = len(D)
        gram = self._gram(D)
        inverse, diagonal = _cholesky_inverse(gram)
        value = frames * float(np.log(diagonal).sum())
        still = frames * float(np.log(self.level.eps))  # what a mode without movement has of it
        last = self.level.weights[-1]
        if last != 1.0:
            value += (last - 1.0) * (value - len(gram) * still)
            inverse *= last
        if frames > size:
            value += (frames - size) * still
        if len(self.level.excess):
            excess, damped, modes = self._leading(gram)
            value += float(excess @ (0.5 * frames * np.log(damped) - still))
            inverse += (modes * (excess / damped)) @ modes.T
        return value, (D @ inverse if frames <= size else inverse @ D).reshape(X.shape)

    def _gram(self, D: Floats) -> Floats:
        """Return the smaller of D'D/F + eps^2 I and DD'/F + eps^2 I, of D (3P, F)."""
        size, frames = D.shape
        gram: Floats = D.T @ D if frames <= size else D @ D.T
        gram /= frames
        gram.ravel()[:: len(gram) + 1] += self.level.eps**2
        return gram

    def _leading(self, gram: Floats) -> tuple[Floats, Floats, Floats]:
        """Return w_k less the last weight, lambda_k + eps^2 and eigenvectors (n, K) of the leading modes."""
        from scipy.linalg import eigh  # slow to load

        excess, size = self.level.excess, len(gram)
        count = min(len(excess), size)
        values, vectors = eigh(gram, subset_by_index=(size - count, size - 1), check_finite=False)
        return excess[:count], values[::-1], vectors[:, ::-1]

    def _edge_lengths(self, X: Floats, g: Floats) -> float:
        """Return the term of the edges, and add its gradient in X to `g`."""
        difference, length, direction_weight = self._varying_edges(X)
        frames = X.shape[2]
        mean = length.mean(axis=1, keepdims=True)
        deviation = length - mean
        variance = np.einsum("ef,ef->e", deviation, deviation) / frames
        deviation /= length if self.sizes is None else length * self.sizes
        scaled = variance + self._edge_floor
        deviation *= (direction_weight / scaled)[:, None]
        difference *= deviation
        g += (self._incidence_T @ difference.reshape(-1, frames)).reshape(X.shape)
        value = 0.5 * direction_weight * frames * np.log(scaled / self._edge_reference).sum()
        return float(value)

    def _varying_edges(self, X: Floats) -> tuple[Floats, Floats, float]:
        """Return the edges over the sizes (3, E, F), their lengths (E, F), and iso P / E."""
        frames, points = self.problem.shape
        count = self.edges.shape[1]
        difference = (self._incidence @ X.reshape(-1, frames)).reshape(3, count, frames)
        if self.sizes is not None:
            difference /= self.sizes
        length = np.einsum("aef,aef->ef", difference, difference)
        length += SHORTEST_EDGE**2
        np.sqrt(length, out=length)
        return difference, length, self.level.isometry * points / count

    @cached_property
    def _incidence(self) -> sp.csr_matrix:
        """(3E, 3P) the first point of each edge less the second, coordinate by coordinate."""
        import scipy.sparse as sp  # slow to load

        count, points = self.edges.shape[1], self.problem.shape[1]
        ends = self.edges.T + points * np.arange(3)[:, None, None]
        signs = np.tile((1.0, -1.0), 3 * count)
        return sp.csr_matrix((signs, ends.ravel(), 2 * np.arange(3 * count + 1)), (3 * count, 3 * points))

    @cached_property
    def _incidence_T(self) -> sp.csc_matrix:
        return self._incidence.T

    @cached_property
    def _edge_reference(self) -> Floats:
        """(E,) r_e."""
        return (
            self.problem.edge_reference(self.edges) if self.level.relative else np.ones(self.edges.shape[1])
        )

    @cached_property
    def _edge_floor(self) -> Floats:
        """(E,) r_e eiso^2."""
        return self._edge_reference * self.level.edge_eps**2

    def _extent(self, Y: Floats, gY: Floats) -> float:
        """Return the term of the extent of centered points, and add its gradient to `gY`."""
        # Not Python's numbers, whose division by 0 raises: where all points coincide, the term is infinite.
        lateral, depth = np.vdot(Y[:2], Y[:2]), np.vdot(Y[2], Y[2])
        ratio = 0.5 * np.log(2.0 * depth / lateral) - np.log(self.problem.extent)
        slope = 2.0 * EXTENT_WEIGHT * Y.shape[2] * ratio
        gY[2] += (slope / depth) * Y[2]
        gY[:2] -= (slope / lateral) * Y[:2]
        return float(0.5 * slope * ratio)

    # -- preconditioner --------------------------------------------------------------------------------------

    @np.errstate(over="ignore", invalid="ignore")  # of depths that single precision does not hold
    def preconditioner(self, x: Floats) -> Preconditioner:
        """Return the approximate inverse of the Hessian at the unknowns. `x`: (n,) the unknowns."""
        frames, points = self.problem.shape
        d, w, u = _split(x, points, frames)
        Y, r = self._camera_points(d, rotation_matrix(w, *turn_series(w)[:2]), self._rays(u))
        depth_rate = _rotate(r, Y)  # A, but for the motion of the mean
        ray_rate = np.broadcast_to(Y[2] if not self.problem.affine else 1.0, d.shape)
        if self.problem.affine:
            depth_rate = np.repeat(r[2][:, None] * self.problem.size, points, axis=1)
        Y = Y - Y.mean(axis=1, keepdims=True)
        X = _rotate(r, Y)
        patterns = Y / np.sqrt(np.square(Y).mean())
        if not self.problem.affine:  # an orthogonal camera does not see the distance
            patterns = np.concatenate((np.ones_like(Y[:1]), patterns))
        motions = np.concatenate((_whole_depths(depth_rate, patterns), _turns(X)))
        W = self._coupling(X)
        along, stiffness, stiff_motions = self._edge_curvature(X, depth_rate, motions[:-3])
        runs = -(-frames // LONGEST_RUN)
        length = -(-frames // runs)
        coupling = _diagonal_runs(W, runs, length)
        floor = DEPTH_FLOOR * np.trace(W) / frames
        A = _in_runs(depth_rate, runs, length)
        depths = np.einsum("apnf,apng->pnfg", A, A, optimize=True)
        depths *= coupling
        steps = np.arange(length)
        depths[:, :, steps, steps] += _in_runs(along + floor, runs, length, fill=1.0)
        scale = np.linalg.norm(r[:, 0], axis=0)  # 1 / s
        rays = (np.diagonal(W) + 0.5 * stiffness[:, None]) * np.square(ray_rate * scale)
        free = rays.ravel()[self._free] * np.square(self._ray_unit) + self.price * self._priced
        return Preconditioner(
            frames,
            _inverses(depths),
            patterns.astype(np.float32),
            _inverses(_motion_blocks(motions, coupling, stiff_motions, frames)),
            (1.0 / np.maximum(free, RAY_FLOOR)).astype(np.float32),
        )

    def conditional_variances(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the variances of the unknowns of each point and frame, its other points being given.

        They are the diagonals of the inverse blocks of single points in the preconditioner: a Gauss-Newton
        curvature that couples a point's depths in all frames of a run.

        `x`: (n,) the unknowns. Returns (F, P) of the log depths; of an orthogonal camera of the depths, in
        squared calibrated units; (F, P) of each coordinate of the rays, in squared calibrated units; 0 where
        they are exact.
        """
        frames, points = self.problem.shape
        blocks = self.preconditioner(x)
        along = np.einsum("pnff->pnf", blocks.depths).reshape(points, -1)[:, :frames].astype(float)
        if self.problem.affine:
            along *= self.problem.size**2
        across = np.zeros((points, frames))
        across.reshape(-1)[self._free] = blocks.rays * np.square(self._ray_unit)
        return along.T, across.T

    def _coupling(self, X: Floats) -> Floats:
        """Return W, the weighted inverse of D'D/F + eps^2 I less its row and column means, (F, F)."""
        frames, floor, last = X.shape[2], self.level.eps**2, self.level.weights[-1]
        D = (X - X.mean(axis=2, keepdims=True)).reshape(-1, frames)
        gram = self._gram(D)
        W: Floats = np.linalg.inv(gram).astype(float, copy=False)
        if frames > len(D):
            W = (np.eye(frames) - D.T @ W @ D / frames) / floor
        W -= 1.0 / (frames * floor)  # the vector of ones has the eigenvalue 1 / eps^2
        if last != 1.0:
            W *= last
        if len(self.level.excess):
            excess, damped, modes = self._leading(gram)
            if frames > len(D):  # those of the other Gram matrix
                modes = D.T @ (modes / np.sqrt(frames * np.maximum(damped - floor, TINY * damped)))
            W += (modes * (excess / damped)) @ modes.T
        return W

    def _edge_curvature(self, X: Floats, A: Floats, whole: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the edges' curvature along each point's depth (P, F), and in all directions (P,).

        And (K, K, F) along changes `whole` (K, 3, P, F) of the shapes.
        """
        import scipy.sparse as sp  # slow to load

        frames, points = self.problem.shape
        difference, length, weight = self._varying_edges(X)
        stiffness = weight / (length.var(axis=1) + self._edge_floor)
        difference /= length if self.sizes is None else length * self.sizes
        along = np.zeros((points, frames))
        for ends in self.edges:
            slope = np.einsum("aef,aef->ef", difference, A[:, ends])
            to_points = sp.csr_matrix((stiffness, (ends, np.arange(len(ends)))), shape=(points, len(ends)))
            along += to_points @ np.square(slope)
        total: Floats = np.bincount(self.edges.ravel(), np.tile(stiffness, 2), points).astype(float)
        slopes = np.empty((len(whole), *length.shape))
        for slope, change in zip(slopes, whole, strict=True):
            moved = (self._incidence @ change.reshape(-1, frames)).reshape(difference.shape)
            np.einsum("aef,aef->ef", difference, moved, out=slope)
        slopes *= np.sqrt(stiffness)[:, None]
        return along, total, np.einsum("kef,lef->klf", slopes, slopes)


def _split(x: npt.NDArray[Any], points: int, frames: int) -> tuple[npt.NDArray[Any], ...]:
    """Return views of depths (P, F), rotation vectors (3, F) and rays (2, N) of a vector of unknowns."""
    depths, turns = points * frames, (points + 3) * frames
    return (x[:depths].reshape(points, frames), x[depths:turns].reshape(3, frames), x[turns:].reshape(2, -1))


def _rotate(r: Floats, Y: Floats) -> Floats:
    """Return X_a = sum_b r_ba Y_b for r (3, 3, F) and Y (3, P, F)."""
    X: Floats = np.einsum("baf,bpf->apf", r, Y)
    return X


def _turning(w: Floats, series: tuple[Floats, Floats, Floats], X: Floats, g: Floats) -> Floats:
    """Return the gradient (3, F) in the rotation vectors w (3, F), g (3, P, F) being that in X.

    It is J't with t = -sum_j X_j x g_j and the right Jacobian J = I - b [w]x + c [w]x^2, where
    b = (1 - cos |w|) / |w|^2 and c = (1 - sin |w| / |w|) / |w|^2 are of `turn_series`.
    """
    moment = np.einsum("apf,bpf->abf", g, X)
    t, across = np.empty_like(w), np.empty_like(w)
    for i, j, k in CYCLE:
        np.subtract(moment[i, j], moment[j, i], out=t[k])
    for i, j, k in CYCLE:
        across[k] = w[i] * t[j] - w[j] * t[i]
    a, b, c = series
    gradient: Floats = a * t + b * across
    gradient += (c * np.einsum("af,af->f", w, t)) * w
    return gradient


def _turns(X: Floats) -> Floats:
    """Return the changes (3, 3, P, F) of shapes X (3, P, F) by the rotation vectors: -e_k x X."""
    changes = np.zeros((3, *X.shape))
    for i, j, k in CYCLE:
        changes[i, j], changes[i, k] = X[k], -X[j]
    return changes


def _whole_depths(A: Floats, patterns: Floats) -> Floats:
    """Return the changes (K, 3, P, F) of shapes by depths that change by patterns (K, P, F)."""
    changes: Floats = A * patterns[:, None]
    changes -= changes.mean(axis=2, keepdims=True)
    return changes


def _motion_blocks(motions: Floats, coupling: Singles, stiff: Floats, frames: int) -> Singles:
    """Return the curvatures (N, M b, M b) of frames that move as a whole.

    `motions`: (M, 3, P, F) the changes psi; `coupling`: (N, b, b) W; `stiff`: (K, K, F) of the edges along
    the first of them.
    """
    count, (runs, length, _) = len(motions), coupling.shape
    psi = _in_runs(motions.reshape(count, -1, motions.shape[-1]), runs, length).transpose(2, 0, 3, 1)
    psi = psi.reshape(runs, count * length, -1)
    product: Singles = np.matmul(psi, psi.transpose(0, 2, 1))
    blocks = product.reshape(runs, count, length, count, length)
    blocks *= coupling[:, None, :, None, :]
    diagonal = np.einsum("nkflf->klnf", blocks)  # a view
    diagonal[: len(stiff), : len(stiff)] += _in_runs(stiff, runs, length)
    own = np.einsum("kknf->knf", diagonal)
    floor = FRAME_FLOOR * own.sum(axis=(1, 2), keepdims=True) / frames
    own += np.maximum(floor, MOTION_FLOOR * floor.mean())
    return blocks.reshape(runs, count * length, -1)


def _inverses(blocks: Singles) -> Singles:
    """Return the inverses of symmetric positive definite blocks (..., n, n)."""
    inverses = np.empty(blocks.shape, dtype=np.float32)
    size = blocks.shape[-1]
    for block, inverse in zip(blocks.reshape(-1, size, size), inverses.reshape(-1, size, size), strict=True):
        try:
            inverse[:] = _cholesky_inverse(block)[0]
        except np.linalg.LinAlgError:  # not positive in single precision, or not finite
            inverse[:] = _positive_inverse(block) if np.isfinite(block).all() else np.nan
    return inverses


def _positive_inverse(block: Singles) -> Floats:
    """Return the inverse of what is not positive definite by rounding: scaled, its eigenvalues are raised."""
    variances = np.diagonal(block).astype(float)
    scale = np.sqrt(np.maximum(variances, TINY * np.abs(variances).max()))
    values, vectors = np.linalg.eigh(block / scale / scale[:, None])
    vectors /= scale[:, None]
    inverse: Floats = (vectors / np.maximum(values, EIGENVALUE_FLOOR * values[-1])) @ vectors.T
    return inverse


def _cholesky_inverse(matrix: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the inverse of a symmetric matrix, and the diagonal of its Cholesky factor.

    That is half of the operations of an inverse that does not know the symmetry, a third for small matrices.
    Raises LinAlgError where it is not positive definite.
    """
    from scipy.linalg import lapack  # slow to load

    single = matrix.dtype == np.float32
    factor, failed = (lapack.spotrf if single else lapack.dpotrf)(matrix)
    if failed:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    diagonal = np.diagonal(factor).copy()
    upper, _ = (lapack.spotri if single else lapack.dpotri)(factor, overwrite_c=True)
    inverse = upper + upper.T
    twice = np.einsum("ii->i", inverse)  # a view
    twice *= 0.5
    return inverse, diagonal


def _in_runs(values: npt.NDArray[Any], runs: int, length: int, fill: float = 0.0) -> Singles:
    """Return values (..., F) of the frames as (..., N, b), in single precision."""
    *shape, frames = values.shape
    padded = np.full((*shape, runs * length), fill, dtype=np.float32)
    padded[..., :frames] = values
    return padded.reshape(*shape, runs, length)


def _diagonal_runs(W: Floats, runs: int, length: int) -> Singles:
    """Return the blocks (N, b, b) of a matrix (F, F) along its diagonal."""
    blocks = np.zeros((runs, length, length), dtype=np.float32)
    for run, block in enumerate(blocks):
        part = W[run * length : (run + 1) * length, run * length : (run + 1) * length]
        block[: len(part), : len(part)] = part
    return blocks
