"""Points that are followed through a video: the dialog, its picture, and what it opens."""
