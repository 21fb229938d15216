"""Help for tests, kept as carefully as the product."""
