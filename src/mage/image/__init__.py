"""Images: regions that play, super-pixels, and preparation of pictures for networks."""
