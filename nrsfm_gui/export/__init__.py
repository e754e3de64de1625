"""Export of reconstructions, pictures, movies, and the report of a run."""
