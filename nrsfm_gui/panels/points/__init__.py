"""All points of the sequence: a table, and curves over the frames."""
