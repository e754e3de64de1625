"""Files of 3-D points: motion capture, models of structure from motion."""
