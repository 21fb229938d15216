"""Logs and spans about calls, for other programs."""
