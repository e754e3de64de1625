"""Triangles between points: by Delaunay, from files, their edges and normals."""

import struct

import numpy as np
import pytest
from reconstructions import build_shapes
from scipy.spatial import ConvexHull

from core import InputError
from core.data import edges_of, reference_frame
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.mesh import chosen_mesh, track_triangulation, vertex_normals
from nrsfm_gui.panels.appearance.mesh_files import read_triangulation
from nrsfm_gui.scene.scene import build_scene

SQUARE = np.array([[0, 1, 2], [0, 2, 3]])


def test_points_that_are_not_seen_are_ignored(known):
    frame = reference_frame(known.sequence.visible)
    mesh = track_triangulation(known.sequence)
    assert known.sequence.visible[frame].sum() == known.sequence.visible.sum(axis=1).max()
    assert set(mesh.faces.ravel()) <= set(np.flatnonzero(known.sequence.visible[frame]))


def test_normals_of_a_sphere_point_outwards():
    points = np.random.default_rng(3).normal(size=(400, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    faces = ConvexHull(points).simplices.copy()
    inwards = np.linalg.det(points[faces]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    normals = vertex_normals(points, faces)
    assert (np.einsum("ij,ij->i", normals, points) > 0.95).all()
    np.testing.assert_allclose(vertex_normals(np.zeros((3, 3)), np.array([[0, 1, 2]])), 0.0)


def test_a_scene_has_the_mesh_that_was_chosen(known):
    shapes = build_shapes(known.sequence, known.result)
    own = build_scene(known.sequence, shapes, frame=1)
    np.testing.assert_array_equal(own.faces, known.sequence.faces)
    tracks = build_scene(known.sequence, shapes, frame=1, appearance=Appearance(mesh_source="tracks"))
    assert len(tracks.faces) > len(own.faces)
    np.testing.assert_array_equal(tracks.edges, edges_of(tracks.faces))


# Files


VERTICES = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
TEXTS = {
    "txt0": "0 1 2\n0 2 3\n",
    "txt1": "1 2 3\n1 3 4\n",
    "obj": f"{VERTICES}vt 0 0\nf 1/1/1 2//1 3 4\n",
    "obj-": f"{VERTICES}f -4 -3 -2\nf -4 -2 -1\n",
}


def write(path, kind):
    """Write the two triangles of a square, of four points."""
    if kind == "npz":
        np.savez(path, faces=SQUARE)
    elif kind in TEXTS:
        path.write_text(TEXTS[kind])
    else:
        form = {"ply": "ascii", "ply<": "binary_little_endian", "ply>": "binary_big_endian"}[kind]
        head = (
            f"ply\nformat {form} 1.0\ncomment a square\nelement vertex 4\nproperty float x\n"
            "property double y\nproperty uchar red\nelement face 2\n"
            "property list uchar int vertex_indices\nproperty uchar flag\nend_header\n"
        )
        if kind == "ply":
            path.write_text(head + "0 0 1\n" * 4 + "3 0 1 2 9\n3 0 2 3 9\n")
        else:
            body = b"".join(struct.pack(kind[-1] + "fdB", 0, 0, 1) for _ in range(4))
            body += b"".join(struct.pack(kind[-1] + "B3iB", 3, *face, 9) for face in SQUARE.tolist())
            path.write_bytes(head.encode() + body)
    return path


@pytest.mark.parametrize("kind", ["npz", "txt0", "txt1", "obj", "obj-", "ply", "ply<", "ply>"])
def test_every_kind_of_file_gives_the_same_triangles(tmp_path, kind):
    suffix = "." + kind.rstrip("01<>-")
    found = read_triangulation(write(tmp_path / f"square{suffix}", kind), 4)
    assert sorted(map(sorted, found.faces.tolist())) == SQUARE.tolist()
    assert (found.points, found.name) == (4, f"square{suffix}")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.stl", b"solid", "accepted are .npz, .obj, .ply, .txt"),
        ("a.txt", b"0 1 2.5\n", "three whole ones"),
        ("a.txt", b"0 1 9\n", "names point 9 .0-based., but the sequence has points 0 to 3"),
        ("a.obj", b"v 0 0 0\nf 1 1 1\n", "has 1 vertices, but the sequence has 4 points"),
        ("a.obj", b"v 0 0 0\n" * 4 + b"f 1 x 2\n", "line 5 is no face"),
        ("a.obj", b"v 0 0 0\n" * 4 + b"f 0 1 2\n", "counts from 1"),
        ("a.obj", b"v 0 0 0\n" * 4 + b"f 1 2\n", "a face of 2 corners"),
        ("a.obj", b"v 0 0 0\n" * 4, "holds no triangle"),
        ("a.ply", b"plywood", "no beginning or no end"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 4\nelement face 9\nproperty list uchar int "
                  b"vertex_indices\nend_header\n0\n0\n0\n0\n3 0 1 2\n", "ends before its last face"),
        ("a.ply", b"ply\nformat binary_little_endian 1.0\nelement vertex 4\nelement face 99999999999\n"
                  b"property list uint int vertex_indices\nend_header\n\xff\xff\xff\xff", "ends before"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 4\nproperty list uchar int q\nelement face 1\n"
                  b"property list uchar int vertex_indices\nend_header\n-1\n0\n0\n0\n3 0 1 2\n", "no number"),
        ("a.ply", b"ply\nformat odd 1.0\nelement vertex 4\nend_header\n", "its format is 'odd'"),
    ],
)  # fmt: skip
def test_files_that_are_no_triangulation_are_refused_in_a_sentence(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_triangulation(path, 4)


def test_a_loaded_triangulation_belongs_to_sequences_of_as_many_points(tmp_path, known):
    path = tmp_path / "mesh.npz"
    np.savez(path, faces=np.array([[0, 5, 6]]))
    loaded = read_triangulation(path, known.sequence.point_count)
    assert chosen_mesh(known.sequence, "loaded", loaded) is loaded
    other = read_triangulation(path, 12)
    np.testing.assert_array_equal(chosen_mesh(known.sequence, "loaded", other).faces, known.sequence.faces)
