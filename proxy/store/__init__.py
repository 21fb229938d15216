"""What the engine keeps on disk: finished calls, and what each upstream last advertised."""
