"""What the application says about itself: the panels in a sentence or two, and the method on one page."""
