"""Files of arrays, and which of these are the tracks: NumPy, pickles, MATLAB, HDF5."""
