"""The worker: a child process that makes answers smaller, so that the engine's loop never stands still.

`client` is the engine's end, `child` the other one, `framing` what goes over the pipes between them.
"""
