"""Reconstruct tracks from arrays, measure the errors, and export the shapes."""

import numpy as np

import core as nrsfm

# Tracks of your own are an array (frames, 2, points) in pixels, NaN where a point is hidden, and K (3, 3).
simulated = nrsfm.simulate("balloon", path="circle", frames=30, points=60, noise=0.5, seed=1)
tracks = np.where(simulated.visible[:, None, :], simulated.tracks, np.nan)
K = simulated.intrinsics

sequence = nrsfm.Sequence(tracks, intrinsics=K, name="my tracks", truth=simulated.truth)
result = nrsfm.reconstruct(sequence)  # with a rank, as rank=4, the weighted nuclear norm

print(sequence)
print(result)
print(f"shapes {result.points.shape}, rotations {result.rotations.shape}")
for name, value in result.errors().items():
    print(f"{name:>24} {value:8.3f}")

result.save("my_tracks.npz")
result.export("my_tracks.ply", frame=0, align="truth")
