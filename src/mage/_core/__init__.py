"""Tools for all rooms: array types, checks of arguments, optional imports, progress, files."""
