"""The alignment of the estimate with the ground truth."""
