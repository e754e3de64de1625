"""Steer a run: watch its iterates, break off, go on under other settings, keep the lowest point."""

import core as nrsfm

sequence = nrsfm.read_sequence("sample:paper/circle")

for step in nrsfm.iterate(sequence, rank=3, starts=4):
    if step.iteration % 100 == 0:
        print(f"{step.iteration:4d}  {step.phase!s:<44} loss {step.loss:.6f}")
    if step.rotations_chosen and step.iteration >= 60:
        break  # what was found so far is kept
print(step.result())

# Go on from there with a weaker penalty and one more basis shape: no new search, a few Newton steps.
weaker = nrsfm.WeightedNuclearNorm(xi=0.1)
result = nrsfm.reconstruct(sequence, step.settings, rank=4, penalty=weaker, start=step)
print(result)
print(result.meta["command"])  # the same numbers again, from the command line
