"""The two ways to reach an engine: in another thread of this process, or over its socket."""
