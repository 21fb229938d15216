"""Word lists of our own making, and the stems of English words. Data and small pure functions only."""
