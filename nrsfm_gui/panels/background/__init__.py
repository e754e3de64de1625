"""Images and videos behind the tracks."""
