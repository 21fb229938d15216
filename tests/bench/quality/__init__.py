"""How much of an answer survives being made smaller, measured without a language model.

A case is a text, a question, and what answers it. Every method gets the same cases and the same budgets
in o200k tokens; a result over its budget counts as nothing kept.
"""
