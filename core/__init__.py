"""Non-rigid structure from motion with the weighted nuclear norm.

A sequence and settings make a result; `reconstruct` is the same as a stream of updates:

    from core import Settings, read_sequence, save_result, solve_sequence
    sequence = read_sequence("sample:balloon/circle")
    settings = Settings(rank=2, eta=0.05)
    result = solve_sequence(sequence, settings)
    print(f"log10 loss {result.log_loss:.4f} at rank {result.rank}")
    save_result(result, "result.npz")

`write_npz(sequence, path)` writes a sequence whole, `write_csv(sequence, path)` its tracks alone, and
`export(result, path)` a result in the format of the suffix.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
