"""How good the memory is and what it costs: a real memory, a frozen clock, no language model.

`labelled` stores facts whose relations are known and looks at candidates, plans and CPU time; `pairs` judges
pairs of sentences, `locomo` looks for evidence in conversations, `idle` weighs the memory's process, and
`tests.bench.procedures` simulates the choice of procedures. The first three can read data from outside.
"""
