"""What surfacing shows, how much of it matters, and what it costs: a scripted week of work, deterministic."""
