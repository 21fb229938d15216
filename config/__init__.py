"""Typed settings: where each value comes from, what is wrong with it, and how it changes live.

Precedence, strongest first: flag, ``MEMTOMEM_STM_…`` environment (``__`` nests), project file, user
file, default. Settings are frozen values; a reload makes a new one and a call keeps the one it began
with. This file imports nothing, so that the bridge can read `config.paths` cheaply.
"""
