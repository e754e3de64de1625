"""The analysis file of SLEAP (HDF5), recognized by its arrays, whatever its suffix.

h5py shows its arrays in the order (individuals, 2, nodes, frames), MATLAB in the reverse one; `mat` gives the
reverse, as for each HDF5 file:

    tracks (frames, nodes, 2, individuals), NaN where a node is missing
    point_scores (frames, nodes, individuals)
    node_names (nodes), track_names (individuals), edge_inds (2, edges) from 0

sleap-io can write (frames, individuals, nodes, 2) instead: `mat` gives (2, nodes, individuals, frames).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....data.sequence import CameraModel
from ...files.variables import Parts, is_array, real_numbers, whole_numbers
from .poses import chosen_individual

if TYPE_CHECKING:
    from pathlib import Path

    from ....foundation.types import Bools, Floats
    from ...files.reading_options import ReadingOptions
    from ...files.variables import Variables

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
    """Return the tracks of one individual.

    Raises InputError where several individuals are there and none is chosen.
    """
    tracks, scores = _frames_first(variables)
    names = individuals_of(variables)
    seen: Bools = np.asarray(np.isfinite(tracks).all(axis=2))
    roles = {"tracks": "tracks", "node_names": "names", "track_names": "names"}
    # They are per individual, or of no use here; named, so that none of them is taken for a mask.
    roles |= {name: "not read" for name in _SCORES if name in variables}
    reading = {}
    if options.threshold is not None and scores is not None:
        seen &= scores >= options.threshold
        roles["point_scores"] = "scores"
        reading["threshold"] = f"{options.threshold:g}"
    index = chosen_individual(names, seen.mean(axis=(0, 1)).tolist(), options.individual)
    reading["individual"] = names[index]
    edges = variables.get("edge_inds")
    if is_array(edges, 2) and edges.shape[0] == 2 and edges.size:
        edges = whole_numbers(edges, "edge_inds").T
        roles["edge_inds"] = "edges"
    else:
        edges = None
    note = f"visible from a score of {options.threshold:g} on" if "threshold" in reading else ""
    return Parts(
        tracks[..., index].transpose(0, 2, 1),
        CameraModel.PERSPECTIVE,
        camera_assumed=True,
        visible=seen[..., index],
        edges=edges,
        point_names=tuple(str(name) for name in variables["node_names"]),
        producer="SLEAP",
        provenance=note,
        roles=roles,
        reading=reading,
    )
