"""Edges and triangles between the points of an object that deforms, from its shapes over all frames.

Tracks do not show what they are connected by. The shapes do: two points of one part of an object keep their
distance. With d_fij the distance of points i and j in frame f and a common factor s_f for the size of a
frame, which reconstructions leave open,

    log l_ij = median_f log(d_fij / s_f)           the length of a pair,
    v_ij     = quantile_f |log(d_fij / s_f l_ij)|  how much it varies in nine tenths of the frames,
    c_ij     = l_ij (1 + 10 v_ij)                  what it costs to connect them.

Medians leave single wrong frames out. Pairs are those that are near each other in some frame, so that time
and memory grow with the number of points P, not with its square.

Surfaces. The chart of a point is the plane that keeps its lengths to its neighbors, and theirs to one
another, best: the two largest coordinates of their multidimensional scaling, -1/2 J l^2 J = V diag(w) V'.
It is of lengths alone, so that a surface may bend as it likes from frame to frame. A triangle is proposed
where no neighbor is inside its circumscribed circle in the chart of one of its corners. The smallest circles
first, a triangle is accepted where it overlaps none before it in any of the charts of its corners, which
keeps two triangles at an edge, and the triangles around a point in one fan. Loops of a few edges are closed.

The points are of a surface where their neighborhoods are flat, w_3 / (w_1 + w_2 + w_3) is small, and where
these triangles cover it: a closed surface has 2 P of them, one with b boundary edges 2 P - b - 2, and nearly
all of its points have one fan. Points on limbs have neither.

Bodies. The others are connected by the relative neighborhood graph of the costs (Toussaint 1980): i and j are
connected where no k has both c_ik < c_ij and c_jk < c_ij. It holds the minimum spanning tree, which is
kept; of its other edges those that vary little. Edges much longer than those around their ends are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints, Watch, do_nothing, read_only
from .masks import known_points, quantile_of_known
from .triangulation import edges_of, from_each_corner, oriented

STEADY = 10.0  # what a variation of 1 costs, in lengths
VARIATION = 0.9  # quantile of the variation over frames: a tenth of the frames may be wrong
MOST_FRAMES, MOST_VALUES = 60, 900_000  # frames, and points of all frames, that lengths are medians over
LOOKED_AT, LOOKED_AT_VALUES = 12, 100_000  # frames, and points of all frames, in which pairs are looked for
LEAST_LOOKED_AT = 3  # frames
NEIGHBORS = 16  # of a point: those that are near in a frame, and those of its graph
CHART = (10, 16)  # neighbors in a chart: of few points, and of many
SPARSE = 64  # points: below, a chart has the smaller number
BLOCK = 4_000_000  # distances that are held at once
EMPTY = 0.6  # times a circle's squared radius: farther out, a point does not count as inside
LONGEST = 4.0  # times the mean of the nearest neighbors' distances at its corners: a triangle's longest edge
ROUND = 1.0  # times the longest edge: the largest circumscribed circle
OVERLAP = 1e-3  # radians that triangles of one fan may overlap
SHORT_LOOP = 8  # edges of a gap that is closed
LEAST_PATCH = 3  # triangles that are joined
FLAT = 0.06  # median of w_3 / (w_1 + w_2 + w_3) on surfaces, at the eight nearest neighbors
FLAT_NEIGHBORS = 8
COVERED = 0.8  # of the 2 P - 4 sqrt(P) triangles of a square sheet: a surface has more
ONE_FAN = 0.85  # share of the points of a surface whose triangles are one fan
VARYING = 0.15  # variation above which no edge is added to the spanning tree
TORN, TORN_TIMES = 0.45, 4.0  # variation of an edge across a tear, at least; and times the median
CHORD = 3.0  # times the median edge at its ends: a longer edge that varies bridges a gap
MOST_GRAPH = 2000  # points: the edges of more would hide them
FULL_TURN = 2.0 * np.pi
LEAST, LEAST_SURFACE = 3, 12  # points that are connected, and of a surface


@dataclass(frozen=True, eq=False)
class Connectivity(OneLine):
    """Triangles of a surface, or edges of a body. Arrays are read-only."""

    faces: Ints  # (T, 3) 0-based point indices; none where the points are of no surface
    edges: Ints  # (E, 2) each once, the lower index first; those of the triangles where there are any

    def __post_init__(self) -> None:
        object.__setattr__(self, "faces", read_only(self.faces, np.int64))
        object.__setattr__(self, "edges", read_only(self.edges, np.int64))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of points with what connects them."""

    points: Ints  # (E, 2) ascending
    length: Floats  # (E,)
    variation: Floats  # (E,)
    count: int  # points

    @property
    def cost(self) -> Floats:
        """(E,) of connecting them; those that differ by rounding only are equal."""
        return _rounded(self.length * (1.0 + STEADY * self.variation))

    def nearest_variation(self) -> Floats:
        """Return how much the cheapest pair of every point varies, (P,); of no pair NaN."""
        order = np.argsort(self.cost, kind="stable")
        variation = np.full(self.count, np.nan)
        for side in (0, 1):
            point, first = np.unique(self.points[order, side], return_index=True)
            variation[point] = np.fmin(variation[point], self.variation[order[first]])
        return variation

    def neighbors(self, most: int) -> tuple[Ints, Floats]:
        """Return the cheapest neighbors of every point and their costs, (P, K) each; -1 and infinity fill."""
        both = np.concatenate([self.points, self.points[:, ::-1]])
        cost = np.concatenate([self.cost, self.cost])
        order = np.lexsort((cost, both[:, 0]))
        both, cost = both[order], cost[order]
        rank = np.arange(len(both)) - np.searchsorted(both[:, 0], both[:, 0])
        near = rank < most
        width = int(rank[near].max()) + 1
        index, costs = np.full((self.count, width), -1), np.full((self.count, width), np.inf)
        index[both[near, 0], rank[near]], costs[both[near, 0], rank[near]] = both[near, 1], cost[near]
        return index, costs


def connect(points: Floats, watch: Watch = do_nothing) -> Connectivity:
    """Return what connects the points of an object: triangles if they are of a surface, else edges.

    `points`: (F, 3, P) in any unit, NaN where unknown. Frames may be turned, moved and sized in any way.
    Points that are known in no more than half of the frames are not connected.
    """
    none = Connectivity(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64))
    most = max(1, min(MOST_FRAMES, MOST_VALUES // max(points.shape[2], 1)))
    shapes = points[_spread(len(points), most)]
    kept = np.flatnonzero(2 * known_points(shapes).sum(axis=0) > len(shapes))
    if len(kept) < LEAST:
        return none
    shapes = shapes[:, :, kept]
    near = _near_pairs(shapes)
    if not len(near):
        return none
    shapes = shapes / _sizes(shapes, near)[:, None, None]
    pairs = _measure(shapes, near, watch)
    if not len(pairs.points):  # all points are one
        return none
    faces = _surface(shapes, pairs, watch)
    if len(faces):
        return Connectivity(kept[faces], edges_of(kept[faces]))
    if len(kept) > MOST_GRAPH:
        return none
    return Connectivity(none.faces, kept[_graph(pairs)])


def _rounded(values: Floats) -> Floats:
    """Return values to a relative 1e-9, so that the last bits do not decide between equal ones."""
    rounded: Floats = np.exp(np.round(np.log(np.maximum(values, np.finfo(float).tiny)), 9))
    return rounded


def _spread(count: int, most: int) -> Ints:
    """Return at most so many indices, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _near_pairs(shapes: Floats) -> Ints:
    """Return the pairs (E, 2) that are among each other's nearest in one of some frames."""
    from scipy.spatial import cKDTree  # slow to load

    count, found = shapes.shape[2], [np.zeros(0, dtype=np.int64)]
    most = min(LOOKED_AT, max(LEAST_LOOKED_AT, LOOKED_AT_VALUES // count))
    for frame in shapes[_spread(len(shapes), most)]:
        known = np.flatnonzero(np.isfinite(frame).all(axis=0))
        if len(known) < 2:
            continue
        places = frame[:, known].T
        near = np.asarray(cKDTree(places).query(places, k=min(NEIGHBORS, len(known) - 1) + 1)[1])
        one, other = np.repeat(known, near.shape[1]), known[near.ravel()]
        apart = one != other
        found.append(np.unique(np.minimum(one, other)[apart] * count + np.maximum(one, other)[apart]))
    return np.stack(np.divmod(np.unique(np.concatenate(found)), count), axis=1)


def _measure(shapes: Floats, points: Ints, watch: Watch) -> _Pairs:
    """Return pairs with their lengths and variations; without those that coincide in half of the frames."""
    length, variation = np.empty(len(points)), np.empty(len(points))
    step = max(1, BLOCK // len(shapes))
    for start in range(0, len(points), step):
        watch()
        some = slice(start, start + step)
        logs = _log_distances(shapes, points[some])
        middle = quantile_of_known(logs)
        length[some] = np.exp(middle)
        variation[some] = quantile_of_known(np.abs(logs - middle), VARIATION)
    kept = np.isfinite(variation) & (length > 0)
    return _Pairs(points[kept], length[kept], variation[kept], shapes.shape[2])


def _sizes(shapes: Floats, points: Ints) -> Floats:
    """Return the size of every frame (F,) relative to the others, by the shortest pair of every point."""
    frame = shapes[int(known_points(shapes).sum(axis=1).argmax())]
    distance = np.linalg.norm(frame[:, points[:, 0]] - frame[:, points[:, 1]], axis=0)
    order = np.argsort(distance, kind="stable")  # NaN comes last
    shortest = np.unique(
        np.concatenate([order[np.unique(points[order, side], return_index=True)[1]] for side in (0, 1)])
    )
    logs = _log_distances(shapes, points[shortest])
    sizes = quantile_of_known((logs - quantile_of_known(logs)).T)
    return np.exp(np.where(np.isfinite(sizes), sizes, 0.0))


def _log_distances(shapes: Floats, points: Ints) -> Floats:
    """Return the logarithms of the distances (F, E) of pairs; NaN where unknown or zero."""
    distance = np.linalg.norm(shapes[:, :, points[:, 0]] - shapes[:, :, points[:, 1]], axis=1)
    return np.log(np.where(distance > 0, distance, np.nan))


# ------------------------------------------------------------------------------------------------- surfaces


def _surface(shapes: Floats, pairs: _Pairs, watch: Watch) -> Ints:
    """Return the triangles (T, 3) of a surface, all the same way round; none where there is no surface."""
    none = np.zeros((0, 3), dtype=np.int64)
    if pairs.count < LEAST_SURFACE:
        return none
    few, many = CHART
    near, _ = pairs.neighbors(few if pairs.count < SPARSE else many)
    charts, spread, flatness = _charts(shapes, near, watch)
    if not np.median(flatness) < FLAT:
        return none
    triangles, radius, longest = _proposals(charts, near, watch)
    fits = (longest < LONGEST * spread[triangles].mean(axis=1)) & (radius < ROUND * longest)
    triangles, radius = triangles[fits], radius[fits]
    limit = max(TORN, TORN_TIMES * float(np.nanmedian(pairs.nearest_variation())))
    steady = _variation(shapes, triangles, watch) < limit
    triangles, radius = triangles[steady], radius[steady]
    faces = oriented(_accepted(triangles[np.argsort(_rounded(radius), kind="stable")], charts, near))
    patches, gap = _gaps(faces, shapes)
    torn = np.unique(gap[_variation(shapes, patches, watch) >= limit])
    faces = np.concatenate([faces, patches[~np.isin(gap, torn)]])
    faces = _without_small_patches(faces, pairs.count)
    expected = 2.0 * pairs.count - 4.0 * np.sqrt(pairs.count)
    if len(faces) < COVERED * expected or _one_fan(faces, pairs.count).mean() < ONE_FAN:
        return none
    return faces


def _charts(shapes: Floats, near: Ints, watch: Watch) -> tuple[Floats, Floats, Floats]:
    """Return the charts of all points, and how far and how flat the neighbors of each are.

    Returns (P, K, 2) places of the neighbors (P, K) around the point at 0, NaN where there is none; (P,) mean
    distances of the nearest four; (P,) w_3 / (w_1 + w_2 + w_3).
    """
    count, width = near.shape
    charts = np.full((count, width, 2), np.nan)
    spread, flatness = np.empty(count), np.empty(count)
    around = np.concatenate([np.arange(count)[:, None], near], axis=1)
    row, column = np.triu_indices(width + 1, 1)
    step = max(1, BLOCK // (len(shapes) * len(row)))
    for start in range(0, count, step):
        watch()
        some = slice(start, start + step)
        here = around[some]
        places = np.moveaxis(shapes[:, :, here], 1, 0)  # (3, F, N, K + 1)
        squares = np.zeros((len(shapes), len(here), len(row)))
        for axis in places:
            squares += (axis[..., row] - axis[..., column]) ** 2
        lengths = np.zeros((len(here), width + 1, width + 1))
        lengths[:, row, column] = lengths[:, column, row] = np.sqrt(quantile_of_known(squares))
        there = here >= 0
        near_four = np.where(there[:, 1:5], lengths[:, 0, 1:5], 0.0).sum(axis=1)
        spread[some] = near_four / np.maximum(there[:, 1:5].sum(axis=1), 1)
        flat, _ = _scale_to_plane(lengths, there)
        charts[some] = np.where(there[:, 1:, None], flat[:, 1:] - flat[:, :1], np.nan)
        few = slice(FLAT_NEIGHBORS + 1)
        _, values = _scale_to_plane(lengths[:, few, few], there[:, few])
        flatness[some] = values[:, 2] / np.maximum(values.sum(axis=1), np.finfo(float).tiny)
    return charts, spread, flatness


def _scale_to_plane(lengths: Floats, there: Bools) -> tuple[Floats, Floats]:
    """Return the multidimensional scaling of lengths (N, M, M) to a plane, (N, M, 2), and w (N, 3)."""
    weight = there / there.sum(axis=1, keepdims=True)
    squares = np.where(there[:, :, None] & there[:, None, :], lengths**2, 0.0)
    rows = np.einsum("nij,nj->ni", squares, weight)
    mean = np.einsum("ni,ni->n", rows, weight)
    B = -0.5 * (squares - rows[:, :, None] - rows[:, None, :] + mean[:, None, None])
    B = np.where(there[:, :, None] & there[:, None, :], B, 0.0)
    values, vectors = np.linalg.eigh(B)
    values = np.maximum(values[:, :-4:-1], 0.0)
    places = vectors[:, :, :-3:-1] * np.sqrt(values[:, None, :2])
    return places, values


def _proposals(charts: Floats, near: Ints, watch: Watch) -> tuple[Ints, Floats, Floats]:
    """Return triangles (T, 3) of empty circles, with the radii of the circles and the longest edges."""
    count, width = near.shape
    one, other = np.triu_indices(width, 1)
    step = max(1, BLOCK // (10 * len(one)))
    found = []
    for start in range(0, count, step):
        watch()
        chart = charts[start : start + step]
        a, b = chart[:, one], chart[:, other]
        with np.errstate(divide="ignore", invalid="ignore"):  # corners on one line, and where none is
            twice = 2.0 * (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
            aa, bb = np.square(a).sum(axis=2), np.square(b).sum(axis=2)
            x = (b[..., 1] * aa - a[..., 1] * bb) / twice
            y = (a[..., 0] * bb - b[..., 0] * aa) / twice
            squared = x**2 + y**2
            empty = np.isfinite(squared)
            for k in range(width):
                place = chart[:, k, None]
                inside = (place[..., 0] - x) ** 2 + (place[..., 1] - y) ** 2 < EMPTY * squared
                empty &= ~(inside & (one != k) & (other != k))
        point, pair = np.nonzero(empty)
        corners = np.stack(
            [point + start, near[point + start, one[pair]], near[point + start, other[pair]]], 1
        )
        edges = np.sqrt(np.stack([aa, bb, np.square(a - b).sum(axis=2)]))[:, point, pair].max(axis=0)
        found.append((corners, np.sqrt(squared[point, pair]), edges))
    corners, radius, longest = (np.concatenate(parts) for parts in zip(*found, strict=True))
    triangles, same = np.unique(np.sort(corners, axis=1), axis=0, return_inverse=True)
    largest = np.zeros((2, len(triangles)))
    np.maximum.at(largest[0], same.ravel(), radius)
    np.maximum.at(largest[1], same.ravel(), longest)
    return triangles, largest[0], largest[1]


def _variation(shapes: Floats, triangles: Ints, watch: Watch) -> Floats:
    """Return the largest variation (T,) of the edges of triangles (T, 3); infinity where unknown."""
    edges = edges_of(triangles)
    measured = _measure(shapes, edges, watch)
    count = shapes.shape[2]
    keys = measured.points[:, 0] * count + measured.points[:, 1]
    keys, variation = np.append(keys, -1), np.append(measured.variation, np.inf)  # where nothing is found
    worst = np.zeros(len(triangles))
    for sides in ((0, 1), (1, 2), (0, 2)):
        ends = np.sort(triangles[:, sides], axis=1)
        wanted = ends[:, 0] * count + ends[:, 1]
        at = np.searchsorted(keys[:-1], wanted)
        worst = np.maximum(worst, np.where(keys[at] == wanted, variation[at], np.inf))
    return worst


def _accepted(triangles: Ints, charts: Floats, near: Ints) -> Ints:
    """Return the triangles that overlap none before them in the charts of their corners."""
    angles = np.arctan2(charts[..., 1], charts[..., 0])
    seen = [dict(zip(*row, strict=True)) for row in zip(near.tolist(), angles.tolist(), strict=True)]
    fans: list[list[tuple[float, float]]] = [[] for _ in near]  # of a point: where triangles begin, how wide
    accepted = []
    for triangle in triangles.tolist():
        sectors = []
        for point, one, other in from_each_corner(triangle):
            if one not in seen[point] or other not in seen[point]:
                break
            begin, width = seen[point][one], (seen[point][other] - seen[point][one]) % FULL_TURN
            if width > 0.5 * FULL_TURN:
                begin, width = seen[point][other], FULL_TURN - width
            if any(_overlap(begin, width, *sector) for sector in fans[point]):
                break
            sectors.append((point, (begin, width)))
        else:
            for point, sector in sectors:
                fans[point].append(sector)
            accepted.append(triangle)
    return np.array(accepted, dtype=np.int64).reshape(-1, 3)


def _overlap(begin: float, width: float, other_begin: float, other_width: float) -> bool:
    ahead = (other_begin - begin) % FULL_TURN
    return ahead < width - OVERLAP or FULL_TURN - ahead < other_width - OVERLAP


def _gaps(faces: Ints, shapes: Floats) -> tuple[Ints, Ints]:
    """Return the triangles (T, 3) that close gaps, and of which gap each is (T,).

    A gap is a short loop of edges that have one triangle, in a larger surface.
    """
    ends = {(a, b) for face in faces.tolist() for a, b, _ in from_each_corner(face)}
    after: dict[int, list[int]] = {}
    for a, b in ends:
        if (b, a) not in ends:
            after.setdefault(b, []).append(a)  # the gap runs the other way round than the triangles
    found, done = [np.zeros((0, 3), dtype=np.int64)], set()
    for start in sorted(after):
        loop = [start]
        while len(loop) <= SHORT_LOOP and len(after.get(loop[-1], ())) == 1 and after[loop[-1]][0] != start:
            loop.append(after[loop[-1]][0])
        closed = len(loop) <= SHORT_LOOP and after.get(loop[-1]) == [start]
        if not closed or len(loop) < 3 or frozenset(loop) in done or len(set(loop)) < len(loop):
            continue
        done.add(frozenset(loop))
        if 4 * len(loop) > len(faces):
            continue
        gap = _clipped(loop, shapes, ends)
        if gap:
            found.append(np.array(gap))
    return np.concatenate(found), np.repeat(np.arange(len(found)), [len(gap) for gap in found])


def _clipped(loop: list[int], shapes: Floats, ends: set[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return the triangles of a loop, the shortest edges across it first; none where one is there already."""
    places = shapes[:, :, loop]
    lengths = quantile_of_known(np.linalg.norm(places[:, :, :, None] - places[:, :, None, :], axis=1))
    left, triangles = list(range(len(loop))), []
    while len(left) > 3:
        across = [lengths[left[i - 1], left[(i + 1) % len(left)]] for i in range(len(left))]
        ear = int(np.argmin(across))
        a, b, c = left[ear - 1], left[ear], left[(ear + 1) % len(left)]
        if (loop[a], loop[c]) in ends or (loop[c], loop[a]) in ends:
            return []
        triangles.append((loop[a], loop[b], loop[c]))
        del left[ear]
    a, b, c = left
    return [*triangles, (loop[a], loop[b], loop[c])]


def _without_small_patches(faces: Ints, count: int) -> Ints:
    """Return the triangles but those of patches that are too small to show a surface."""
    patch = _components(faces[:, :2].ravel(), faces[:, 1:].ravel(), count)[faces[:, 0]]
    kept: Ints = faces[np.bincount(patch, minlength=count)[patch] >= LEAST_PATCH]
    return kept


def _one_fan(faces: Ints, count: int) -> Bools:
    """Return which of the points have triangles that are all joined by edges at the point."""
    corners = np.concatenate([np.roll(faces, turn, axis=1) for turn in range(3)])
    # A triangle joins two of its edges at its corner: fans are components of the edges of a point.
    one, other = (corners[:, 0] * count + corners[:, side] for side in (1, 2))
    keys, index = np.unique(np.concatenate([one, other]), return_inverse=True)
    one, other = np.split(index.ravel(), 2)
    label = _components(one, other, len(keys))
    fans = np.unique(np.stack([keys // count, label], axis=1), axis=0)[:, 0]
    found: Bools = np.bincount(fans, minlength=count) == 1
    return found


def _components(one: Ints, other: Ints, count: int) -> Ints:
    """Return the connected component (count,) of every node, where the nodes `one` and `other` are joined."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(len(one)), (one, other)), shape=(count, count))
    return connected_components(joined, directed=False)[1].astype(np.int64)


# --------------------------------------------------------------------------------------------------- bodies


def _graph(pairs: _Pairs) -> Ints:
    """Return the edges (E, 2) of a body, ascending."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    one, other = pairs.points.T
    cost = pairs.cost
    tree = minimum_spanning_tree(coo_array((cost, (one, other)), shape=(pairs.count, pairs.count)).tocsr())
    keys = one * pairs.count + other
    ends = np.sort(np.stack(tree.nonzero(), axis=1), axis=1)
    in_tree = np.isin(keys, ends[:, 0] * pairs.count + ends[:, 1])
    index, costs = pairs.neighbors(NEIGHBORS)
    blocked = cost > costs[one, -1]  # as if farther than all neighbors
    for k in range(index.shape[1]):
        third = index[one, k]
        low, high = np.minimum(third, other), np.maximum(third, other)
        at = np.minimum(np.searchsorted(keys, low * pairs.count + high), len(keys) - 1)
        there = (third >= 0) & (keys[at] == low * pairs.count + high)
        blocked |= there & (costs[one, k] < cost) & (cost[at] < cost)
    kept = in_tree | (~blocked & (pairs.variation < VARYING))
    edges: Ints = pairs.points[kept & ~_chords(pairs, kept)]
    return edges


def _chords(pairs: _Pairs, kept: Bools) -> Bools:
    """Return which pairs (E,) are much longer than the kept edges at both of their ends, and vary."""
    usual = np.full(pairs.count, np.inf)
    for point in np.unique(pairs.points[kept]):
        usual[point] = np.median(pairs.length[kept & (pairs.points == point).any(axis=1)])
    long = pairs.length > CHORD * usual[pairs.points].max(axis=1)
    found: Bools = long & (pairs.variation > VARYING)
    return found
