"""Taking over MCP servers that other programs on this machine are configured with.

`sources` says where their files are, `readers` understands each format, `plan` compares what was found
with what is here already, `find` does all three. Nothing here writes: not to those files, ever, and to
our own only the caller does.
"""
