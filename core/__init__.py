"""Non-rigid structure from motion with the weighted nuclear norm."""
