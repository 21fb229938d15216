"""MCP over streamable HTTP: the parts that both ends share, and the endpoint for hosts."""
