"""Between the window and the solver: threads, runs, jobs and the speeds of redrawing."""
