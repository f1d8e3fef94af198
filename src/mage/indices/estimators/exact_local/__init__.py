"""The exact index of games in which players act together only nearby."""
