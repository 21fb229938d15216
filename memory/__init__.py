"""The agent's memory. Nothing is here yet: this package is the place for it, usable without the proxy."""
