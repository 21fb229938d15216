"""The process that owns a memory, and its client.

`wire` is the form of what goes over the socket, `server` answers it, `child` is the process around the
server, `program` the command that starts it, `client` the port that everybody else uses, and `link` one
connection of it.
"""
