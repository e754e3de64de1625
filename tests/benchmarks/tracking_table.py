"""Points followed through rendered videos: how many are kept, how far they are off, and what the shape costs.

    python tests/benchmarks/tracking_table.py --videos out/videos

The constants of `core.tracking` were chosen on the first video alone; the others have another deformation,
pattern, path of the camera, noise and compression. Kept is the share of the frames in which the point that a
track began on is seen, from its first frame on, that the track has. The errors are distances in pixels from
that material point. The 3-D error is of the preset `recommended`, with the true intrinsics, of the tracks and
of perfect ones: the same points in the same frames, where they truly are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from frame import Meanwhile, Table, parser, timed
from rendering import RenderedVideo, render
from scipy.spatial import ConvexHull

from core import GroundTruth, Sequence, reconstruct
from core.tracking import track_video

CASES = (  # kind of object, pattern, noise, compression (crf); the seed is the place
    ("paper", "cloth", 2.0, 23),
    ("stretch", "page", 2.0, 23),
    ("tearing", "stone", 4.0, 28),
    ("paper", "page", 3.0, 28),
)


def material(video: RenderedVideo, tracks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the material points that tracks (F, 2, P) began on: triangles (P,) and weights (3, P)."""
    first = np.isfinite(tracks[:, 0]).argmax(axis=0)
    triangles, weights = np.full(tracks.shape[2], -1), np.zeros((3, tracks.shape[2]))
    for frame in np.unique(first):
        chosen = np.flatnonzero(first == frame)
        triangles[chosen], weights[:, chosen] = video.locate(frame, tracks[frame][:, chosen])
    return triangles, weights


def error_3d(tracks: np.ndarray, truth: np.ndarray, video: RenderedVideo) -> float:
    sequence = Sequence(tracks, intrinsics=video.intrinsics, truth=GroundTruth.of_all_frames(truth))
    return reconstruct(sequence).errors()["procrustes_mm"]


def measure(video: RenderedVideo, path: Path, points: int) -> tuple[float, ...]:
    corners, _ = video.project(np.arange(len(video.faces)), np.full((3, len(video.faces)), 1 / 3))
    region = corners[0].T[ConvexHull(corners[0].T).vertices]
    last, seconds = timed(track_video(path, points=points, region=region))
    sequence, seconds = last.sequence(), seconds / (video.frame_count - 1)
    triangles, weights = material(video, sequence.tracks)
    on = triangles >= 0
    triangles, weights, tracks = triangles[on], weights[:, on], sequence.tracks[:, :, on]
    places, visible = video.project(triangles, weights)
    seen = np.isfinite(tracks[:, 0])
    since = np.arange(len(seen))[:, None] >= seen.argmax(axis=0)
    apart = np.linalg.norm(tracks - places, axis=1)[seen]
    truth = video.points(triangles, weights)
    ours = error_3d(tracks, truth, video)
    perfect = error_3d(np.where(seen[:, None], places, np.nan), truth, video)
    kept = (seen & visible).sum() / (visible & since).sum()
    away = np.median(apart), np.percentile(apart, 95), np.mean(apart > 3)
    return len(on), (~on).sum(), kept, *away, 1000 * seconds, ours, perfect, ours / perfect


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--videos", type=Path, default=Path("out/videos"), help="drawn where absent")
    arguments.add_argument("--points", type=int, default=300)
    args = arguments.parse_args()
    args.videos.mkdir(parents=True, exist_ok=True)
    meanwhile = Meanwhile()
    followed = ("tracks", "off it", "kept :.3f", "median px :.3f", "95 % px :.2f", "above 3 px :.4f")
    errors = "3-D mm :.2f", "perfect mm :.2f", "ratio :.2f"
    table = Table("object", "pattern", "noise", "crf", *followed, "CPU ms/frame :.0f", *errors)
    for seed, (kind, pattern, noise, crf) in enumerate(CASES):
        video = render(kind, pattern=pattern, noise=noise, seed=seed)
        path = args.videos / f"{kind}_{pattern}.mp4"
        if not path.exists():
            video.write(path, crf=crf)
        table.row(kind, pattern, noise, crf, *measure(video, path, args.points))
    print(meanwhile)


if __name__ == "__main__":
    main()
