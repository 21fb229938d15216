"""The twelve tools by which agents use the memory: their definitions, and what a call does."""
