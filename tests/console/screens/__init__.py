"""Screens, driven by keys against the fake station."""
