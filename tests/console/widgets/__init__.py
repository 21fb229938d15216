"""Widgets, their lines read as strings."""
