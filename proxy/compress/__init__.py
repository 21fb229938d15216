"""COMPRESS: answers over their budget become smaller, and nothing of them is lost.

All of it is pure: text in, text out, no clock, no disk, no network. The same input gives the same
bytes. `proxy.compress.model` has the vocabulary, `proxy.compress.reduce` chooses a strategy and
guarantees the budget; every strategy is a file of its own.
"""
