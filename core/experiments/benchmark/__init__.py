"""The methods against one another on the same problems: loss against CPU time, iterations, memory."""
