"""Between the window and the solver: threads, runs, steering, guidance and other long work."""
