"""The files of SLEAP (HDF5), recognized by their arrays, whatever their suffix: analysis files and projects.

h5py shows its arrays in the order (individuals, 2, nodes, frames), MATLAB in the reverse one; `mat` gives the
reverse, as for each HDF5 file:

    tracks (frames, nodes, 2, individuals), NaN where a node is missing
    point_scores (frames, nodes, individuals)
    node_names (nodes), track_names (individuals), edge_inds (2, edges) from 0

sleap-io can write (frames, individuals, nodes, 2) instead: `mat` gives (2, nodes, individuals, frames).

A project (.slp) has tables instead: of frames, each with a range of instances; of instances, each with its
track and a range of points; of points that were placed by hand and of predicted ones. Its names are JSON. The
arrays of an analysis file are made of it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....foundation.exceptions import InputError
from ....foundation.types import Floats, Ints
from ...files.allowance import Allowance
from ...files.contents import parse_json
from ...files.reading_options import ReadingOptions
from ...files.variables import Layout, Parts, Variables, is_array, real_numbers, whole_numbers
from .poses import read_individual

_BY_HAND = 0  # type of an instance that a person has placed
_SCORES = ("point_scores", "instance_scores", "tracking_scores", "track_occupancy")


def is_analysis(variables: Variables) -> bool:
    """Return whether variables are those of such a file."""
    tracks, nodes = variables.get("tracks"), variables.get("node_names")
    if not is_array(tracks, 4) or not isinstance(nodes, np.ndarray) or nodes.ndim != 1:
        return False
    return tracks.shape[1] == len(nodes) and 2 in (tracks.shape[0], tracks.shape[2])


def _frames_first(variables: Variables) -> tuple[Floats, Floats | None]:
    """Return tracks (F, P, 2, individuals) and scores (F, P, individuals)."""
    tracks = real_numbers(variables["tracks"], "tracks")
    scores = variables.get("point_scores")
    if tracks.shape[2] != 2:
        tracks = tracks.transpose(3, 1, 0, 2)
        scores = scores.transpose(2, 0, 1) if is_array(scores, 3) else None
    fits = is_array(scores, 3) and scores.shape == tracks[:, :, 0].shape
    return tracks, real_numbers(scores, "point_scores") if fits else None


def individuals_of(variables: Variables) -> tuple[str, ...]:
    """Return the names of the individuals, their numbers from 1 where they have none."""
    count = _frames_first(variables)[0].shape[3]
    names = variables.get("track_names")
    if isinstance(names, np.ndarray) and names.shape == (count,):
        return tuple(str(name) for name in names)
    return tuple(str(number + 1) for number in range(count))


def read_analysis(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Return the tracks of one individual."""
    tracks, scores = _frames_first(variables)
    names, edges = individuals_of(variables), variables.get("edge_inds")
    poses = [(tracks[..., each], None if scores is None else scores[..., each]) for each in range(len(names))]
    _, parts = read_individual(names, poses, options, "SLEAP")
    roles = {"tracks": "tracks", "node_names": "names", "track_names": "names"}
    # They are per individual, or of no use here; named, so that none of them is taken for a mask.
    roles |= {name: "not read" for name in _SCORES if name in variables}
    if "threshold" in parts.reading:
        roles["point_scores"] = "scores"
    joined = is_array(edges, 2) and edges.shape[0] == 2 and edges.size > 0
    return replace(
        parts,
        edges=whole_numbers(edges, "edge_inds").T if joined else None,
        point_names=tuple(str(name) for name in variables["node_names"]),
        roles=roles | ({"edge_inds": "edges"} if joined else {}),
    )


LAYOUT = Layout("tracks F x P x 2 x individuals with node_names, of SLEAP", is_analysis, read_analysis)


# -- projects ------------------------------------------------------------------------------------------------


def is_project(variables: Variables) -> bool:
    """Return whether variables are those of a project."""
    tables = (variables.get(name) for name in ("frames", "instances", "pred_points"))
    return all(isinstance(table, dict) for table in tables)


def analysis_of(variables: Variables, stored: int) -> Variables:
    """Return the arrays that the analysis file of a project would have, of a file of so many bytes.

    Of two instances of one frame and track the one placed by hand counts. Instances without a track are of an
    individual "untracked", of which a frame can have one.
    """
    frames, instances = variables["frames"], variables["instances"]
    names, edges = _skeleton(parse_json(str(variables["metadata"]["json"]).encode()))
    tracks = [str(parse_json(text.encode())[1]) for text in variables["tracks_json"].tolist()]
    if len(videos := np.unique(frames["video"])) > 1:
        raise InputError(f"is a project of {len(videos)} videos; accepted is one of one video")
    count = int(frames["frame_idx"].max()) + 1
    shape = (count, len(names), 2, len(tracks) + 1)
    Allowance(stored).use_array(shape, 2 * 8)
    places, scores = np.full(shape, np.nan), np.full((count, len(names), len(tracks) + 1), np.nan)
    rows = zip(*(frames[f"instance_id_{end}"].tolist() for end in ("start", "end")), strict=True)
    for number, (first, last) in zip(frames["frame_idx"].tolist(), rows, strict=True):
        for row in sorted(range(first, last), key=lambda row: -instances["instance_type"][row]):
            by_hand = instances["instance_type"][row] == _BY_HAND
            points = variables["points" if by_hand else "pred_points"]
            part = slice(int(instances["point_id_start"][row]), int(instances["point_id_end"][row]))
            track = int(instances["track"][row])
            seen = points["visible"][part].astype(bool)
            xy = np.stack([points["x"][part], points["y"][part]], axis=1)
            places[number, :, :, track] = np.where(seen[:, None], xy, np.nan)
            scores[number, :, track] = 1.0 if by_hand else points["score"][part]
    used = np.flatnonzero(np.isfinite(places).any(axis=(0, 1, 2)))
    named = np.array([*tracks, "untracked"])[used]
    return {
        "tracks": places[..., used],
        "point_scores": scores[..., used],
        "node_names": np.array(names),
        "track_names": named,
        "edge_inds": edges,
    }


def _skeleton(project: Any) -> tuple[list[str], Ints]:
    """Return the names of the nodes of a project, and its edges (2, E) between them from 0."""
    (skeleton,) = project["skeletons"]
    order = [int(node["id"]) for node in skeleton["nodes"]]
    names = [str(project["nodes"][node]["name"]) for node in order]
    edges = [[order.index(int(link[end])) for link in skeleton["links"]] for end in ("source", "target")]
    return names, np.array(edges, dtype=np.int64).reshape(2, -1)
