"""Triangles between the points of a frame, by Delaunay in its picture, and the edges of triangles."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..foundation.types import Bools, Floats, Ints

LONGEST = 3.0  # times the median edge: triangles with a longer one bridge a gap and are dropped


def edges_of(faces: Ints) -> Ints:
    """Return each edge (E, 2) of triangles (T, 3) once, the lower index first, in ascending order."""
    if not len(faces):
        return np.zeros((0, 2), dtype=np.int64)
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    base = int(pairs.max()) + 1
    unique: Ints = np.stack(np.divmod(np.unique(pairs[:, 0] * base + pairs[:, 1]), base), axis=1)
    return unique


def from_each_corner(triangle: Iterable[int]) -> tuple[tuple[int, int, int], ...]:
    """Return a triangle from each of its corners, the same way round."""
    a, b, c = triangle
    return (a, b, c), (b, c, a), (c, a, b)


def oriented(faces: Ints) -> Ints:
    """Return triangles (T, 3) that run the same way round as their neighbors, as far as that is possible.

    Of two triangles with an edge in common, one goes along it and the other one back. From one triangle of
    every connected piece the others are turned round, neighbor after neighbor.
    """
    turned = faces.tolist()
    owners: dict[tuple[int, int], list[int]] = {}
    for index, face in enumerate(turned):
        for a, b, _ in from_each_corner(face):
            owners.setdefault((min(a, b), max(a, b)), []).append(index)
    done, changed = [False] * len(turned), False
    for first in range(len(turned)):
        waiting = [] if done[first] else [first]
        done[first] = True
        while waiting:
            for a, b, _ in from_each_corner(turned[waiting.pop()]):
                for other in owners[min(a, b), max(a, b)]:
                    if done[other]:
                        continue
                    done[other] = True
                    if any((a, b) == (c, d) for c, d, _ in from_each_corner(turned[other])):
                        turned[other].reverse()
                        changed = True
                    waiting.append(other)
    return np.array(turned, dtype=np.int64) if changed else faces


def delaunay(tracks: Floats, longest: float = LONGEST) -> Ints:
    """Return the Delaunay triangles (T, 3) of the known ones of points (P, 2), without long edges."""
    from scipy.spatial import Delaunay, QhullError

    known = np.flatnonzero(np.isfinite(tracks).all(axis=1))
    if len(known) < 3:
        return np.zeros((0, 3), dtype=np.int64)
    try:
        faces = known[Delaunay(tracks[known]).simplices]
    except QhullError:  # all points on one line
        return np.zeros((0, 3), dtype=np.int64)
    sides = np.linalg.norm(tracks[faces] - tracks[np.roll(faces, 1, axis=1)], axis=2)
    pairs = edges_of(faces)
    typical = np.median(np.linalg.norm(tracks[pairs[:, 0]] - tracks[pairs[:, 1]], axis=1))
    kept: Ints = faces[(sides <= longest * typical).all(axis=1)].astype(np.int64)
    return kept


def reference_frame(visible: Bools) -> int:
    """Return the frame that shows the most points, of several the nearest the middle; `visible` is (F, P)."""
    seen = visible.sum(axis=1)
    best = np.flatnonzero(seen == seen.max())
    return int(best[np.abs(best - (len(visible) - 1) / 2).argmin()])


def triangulate_tracks(tracks: Floats, visible: Bools) -> Ints:
    """Return the triangles (T, 3) between tracks (F, 2, P) in the frame that shows the most."""
    frame = reference_frame(visible)
    return delaunay(np.where(visible[frame], tracks[frame], np.nan).T)
