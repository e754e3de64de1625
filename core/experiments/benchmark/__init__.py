"""The methods compared on the same problems: loss against CPU time, iterations, memory."""
