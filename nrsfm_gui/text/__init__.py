"""What is said of runs and points, in words and numbers: pure functions, no Qt."""
