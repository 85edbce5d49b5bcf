"""What was seen of a live server over minutes or days, and periods of it told apart."""
