"""What operators and agents can ask about the proxy, as text and as values."""
