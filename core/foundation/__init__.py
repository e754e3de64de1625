"""What every room needs: types, exceptions, files written whole, linear algebra, the version."""
