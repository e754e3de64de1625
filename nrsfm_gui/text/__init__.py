"""Sentences, table rows and help pages as pure functions. No Qt."""
