"""Memories shown with answers: which, when, where, and what became of them."""
