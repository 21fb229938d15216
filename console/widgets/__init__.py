"""Widgets that draw lines themselves. They take plain text and neutralise it while drawing."""
