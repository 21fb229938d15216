"""The MCP proxy engine: hosts in front, upstream servers behind, and everything seen on the way.

A host's line comes in through `proxy.listener` (Unix socket), `proxy.http_endpoint` (loopback) or
`proxy.bridge` (what a host launches), becomes a message in `proxy.session`, is sent to the right
upstream by `proxy.router`, and the answer returns with its bytes untouched but for id, progress token
and tool name. `proxy.engine` starts and stops the parts in one task group; `proxy.recorder` measures
and stores calls in its own thread. What leaves for a screen is in `proxy.model`, `proxy.events` and
`proxy.commands`.

The engine knows nothing of Textual nor of the memory's insides.
"""
