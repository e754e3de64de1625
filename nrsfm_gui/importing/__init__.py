"""Import of files that are not clear: what is understood of them is shown, and can be changed."""
