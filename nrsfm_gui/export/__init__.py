"""Files for elsewhere: reconstructions, pictures, movies, and the report of a run."""
