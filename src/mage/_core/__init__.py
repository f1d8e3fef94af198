"""What every room needs: array types, checks of arguments, optional imports, progress, files."""
