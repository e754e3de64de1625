"""The frame of the window: actions, tool bars, layout, help, preferences, first steps, defects."""
