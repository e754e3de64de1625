"""Triangles between points: where they are from, and their normals. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from core.data import edges_of, reference_frame, triangulate_tracks
from core.foundation import read_only

if TYPE_CHECKING:
    from core import Sequence
    from core.foundation import Floats, Ints


@dataclass(frozen=True, eq=False)
class Triangulation:
    """Triangles of point indices, and where they are from. Two are equal only where they are one object."""

    faces: Ints  # (T, 3) 0-based point indices
    edges: Ints  # (E, 2) each edge once, the lower index first
    points: int  # number of points of the sequences that it fits
    name: str  # as it is shown to the user


def triangulation_of(faces: Ints, points: int, name: str) -> Triangulation:
    """Return the triangulation with these faces (T, 3)."""
    return Triangulation(
        read_only(oriented(faces), np.int64), read_only(edges_of(faces), np.int64), points, name
    )


@lru_cache(maxsize=2)
def track_triangulation(sequence: Sequence) -> Triangulation:
    """Return the triangles between the tracks that the reference frame shows."""
    frame = reference_frame(sequence.visible)
    faces = triangulate_tracks(sequence.tracks, sequence.visible)
    return triangulation_of(faces, sequence.point_count, f"tracks of frame {frame + 1}")


@lru_cache(maxsize=2)
def _file_triangulation(sequence: Sequence) -> Triangulation:
    faces = np.zeros((0, 3), dtype=np.int64) if sequence.faces is None else sequence.faces
    edges = edges_of(faces) if sequence.edges is None else sequence.edges
    return Triangulation(
        read_only(oriented(faces), np.int64), read_only(edges, np.int64), sequence.point_count, "the file"
    )


def oriented(faces: Ints) -> Ints:
    """Return triangles (T, 3) that run the same way round as their neighbors, as far as that is possible.

    Of two triangles with an edge in common, one goes along it and the other one back. From one triangle of
    every connected piece the others are turned round, neighbor after neighbor.
    """
    starts, ends = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    owner = np.repeat(np.arange(len(faces)), 3)
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    order = np.lexsort((high, low))
    same = (np.diff(low[order]) == 0) & (np.diff(high[order]) == 0)
    one, two = order[:-1][same], order[1:][same]
    alike = starts[one] == starts[two]  # both along the edge: one of them must be turned
    if not alike.any():
        return faces
    links = coo_array(
        (np.where(alike, 2, 1), (owner[one], owner[two])), shape=(len(faces), len(faces))
    ).tocsr()
    links = links.maximum(links.T).tocsr()
    _count, piece = connected_components(links, directed=False)
    turned = np.zeros(len(faces), dtype=bool)
    for first in np.unique(piece, return_index=True)[1].tolist():
        visited, before = breadth_first_order(links, first, directed=False)
        for face in visited[1:].tolist():
            turned[face] = turned[before[face]] ^ (links[before[face], face] == 2)
    found = np.array(faces)
    found[turned] = found[turned][:, ::-1]
    return found


def chosen_mesh(sequence: Sequence, source: str, loaded: Triangulation | None) -> Triangulation:
    """Return the mesh of a key of `appearance.MESH_SOURCES`; the file's where the loaded one does not fit."""
    if source == "tracks":
        return track_triangulation(sequence)
    if source == "loaded" and loaded is not None and loaded.points == sequence.point_count:
        return loaded
    return _file_triangulation(sequence)


def face_normals(points: Floats, faces: Ints) -> Floats:
    """Return the normals (T, 3) of triangles of points (P, 3): twice as long as their triangle is large."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    normals: Floats = np.cross(b - a, c - a)
    return normals


def vertex_normals(points: Floats, faces: Ints) -> Floats:
    """Return unit normals (P, 3): the mean of the triangles around a point, weighted by area.

    The triangles of a mesh are taken to run the same way round. Points without a triangle have zeros.
    """
    normals = face_normals(points, faces)
    corners = faces.ravel()
    spread = np.repeat(normals, 3, axis=0)
    sums = np.stack(
        [np.bincount(corners, weights=spread[:, axis], minlength=len(points)) for axis in range(3)], axis=1
    )
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: Floats = sums / np.where(length > 0, length, 1.0)
    return unit
