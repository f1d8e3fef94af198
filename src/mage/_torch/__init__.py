"""Running somebody's model without leaving a trace."""
