"""Compare methods on one problem, and choose xi of the bilinear solution by cross-validation."""

import core as nrsfm

sequence = nrsfm.simulate("balloon", frames=20, points=40, noise=0.5, seed=4)
shared = {"rank": 3, "rotations": "truth", "starts": 1, "objective": "wnn"}
penalty = nrsfm.WeightedNuclearNorm(5e-3)
print(f"{'method':>14}  {'log10 loss':>10}  {'mm':>6}  {'iterations':>10}")
results = {}
for method in ("bilinear", "lm", "admm+bilinear", "irnn"):
    result = results[method] = nrsfm.reconstruct(
        sequence, method=method, penalty=penalty, max_iterations=300, **shared
    )
    error = result.errors()["procrustes_mm"]
    print(f"{method:>14}  {result.log_loss:10.5f}  {error:6.2f}  {result.iterations:10d}")

curve = nrsfm.cross_validate(sequence, over="xi", values=(0.01, 0.1, 1.0), folds=2, **shared)
for value, error in zip(curve.values, curve.held, strict=True):
    print(f"xi {value:<6g} held-out error {error:.3f} px")
print(f"lowest at xi = {curve.values[curve.best]:g}")
