"""What people do with the views: each module connects one habit of looking to the session."""
