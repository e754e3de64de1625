"""The timeline: playback, and the errors of all frames and points."""
