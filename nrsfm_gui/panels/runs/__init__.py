"""The runs of the sequence."""
