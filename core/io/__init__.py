"""Files: `readers` for sequences, `writers` for results."""
