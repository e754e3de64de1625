"""Tables as delimited text."""
