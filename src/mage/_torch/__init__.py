"""Running a user's model without changing it."""
