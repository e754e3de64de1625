"""Triangles between points: where they are from, and their normals. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core import Sequence
from core.data import edges_of, oriented, reference_frame, triangulate_tracks
from core.foundation import Floats, Ints, read_only


@dataclass(frozen=True, eq=False)
class Triangulation:
    """Triangles of point indices, and where they are from. Two are equal only where they are one object."""

    faces: Ints  # (T, 3) 0-based point indices
    edges: Ints  # (E, 2) each edge once, the lower index first
    points: int  # number of points of the sequences that it fits
    name: str  # as it is shown to the user


def triangulation_of(faces: Ints, points: int, name: str, edges: Ints | None = None) -> Triangulation:
    """Return the triangulation with these faces (T, 3), and their edges (E, 2) or those that are given."""
    edges = edges_of(faces) if edges is None else edges
    return Triangulation(read_only(oriented(faces), np.int64), read_only(edges, np.int64), points, name)


@lru_cache(maxsize=2)
def track_triangulation(sequence: Sequence) -> Triangulation:
    """Return the triangles between the tracks that the reference frame shows."""
    frame = reference_frame(sequence.visible)
    faces = triangulate_tracks(sequence.tracks, sequence.visible)
    return triangulation_of(faces, sequence.point_count, f"tracks of frame {frame + 1}")


def file_gives_mesh(sequence: Sequence) -> bool:
    """Whether the file of a sequence has edges or faces."""
    return sequence.edges is not None or sequence.faces is not None


@lru_cache(maxsize=2)
def _file_triangulation(sequence: Sequence) -> Triangulation:
    faces = np.zeros((0, 3), dtype=np.int64) if sequence.faces is None else sequence.faces
    return triangulation_of(faces, sequence.point_count, "the file", sequence.edges)


def chosen_mesh(
    sequence: Sequence, source: str, loaded: Triangulation | None, found: Triangulation | None = None
) -> Triangulation:
    """Return the mesh of a key of `appearance.MESH_SOURCES`."""
    if source == "tracks":
        return track_triangulation(sequence)
    if source == "loaded" and loaded is not None and loaded.points == sequence.point_count:
        return loaded
    if found is not None and found.points == sequence.point_count and not file_gives_mesh(sequence):
        return found
    return _file_triangulation(sequence)


def face_normals(points: Floats, faces: Ints) -> Floats:
    """Return the normals (T, 3) of triangles of points (P, 3): twice as long as their triangle is large."""
    a, b, c = points.T[:, faces.T].transpose(1, 0, 2)  # (3, T) each
    (ux, uy, uz), (vx, vy, vz) = b - a, c - a
    # np.cross takes three times as long for as many as are drawn at each movement of the mouse.
    return np.stack([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], axis=1)


def vertex_normals(points: Floats, faces: Ints) -> Floats:
    """Return unit normals (P, 3): the mean of the triangles around a point, weighted by area.

    The triangles of a mesh are taken to run the same way round. Points without a triangle have zeros.
    """
    normals = face_normals(points, faces)
    corners = faces.ravel()
    spread = np.repeat(normals, 3, axis=0)
    sums = np.stack([np.bincount(corners, axis, minlength=len(points)) for axis in spread.T], axis=1)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: Floats = sums / np.where(length > 0, length, 1.0)
    return unit
