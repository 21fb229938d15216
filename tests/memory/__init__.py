"""Tests of the memory package."""
