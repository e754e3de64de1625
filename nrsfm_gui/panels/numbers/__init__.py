"""The numbers of the run, of the frame and of the selected points."""
