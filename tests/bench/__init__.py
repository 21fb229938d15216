"""What a call through mms costs, measured beside the direct connection: ``make bench``."""
