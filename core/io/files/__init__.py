"""What every file that is read has: its content in bounded memory, named arrays, paths, options."""
