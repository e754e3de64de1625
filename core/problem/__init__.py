"""The two pOSE problems: their data term, factors, closed form and starting points."""
