"""Non-rigid structure from motion: from 2-D tracks to the 3-D shape of every frame.

A sequence of tracks is reconstructed in one call, or one iterate at a time:

    import core as nrsfm
    sequence = nrsfm.read_sequence("sample:balloon/circle")
    result = nrsfm.reconstruct(sequence)
    print(result, result.errors())
    result.save("result.npz")

`Sequence(tracks, intrinsics=K)` makes a sequence of arrays. One level below, the parts that the paper names
are values: `NonRigidProblem(..., penalty=WeightedNuclearNorm(5e-3), rank=2)`, and the methods of
`core.solvers`. The packages (`core.penalties`, `core.evaluation`, ...) list what else is public.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
