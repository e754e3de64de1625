"""What every good application has: palette, help, preferences, log, and defects that are told."""
