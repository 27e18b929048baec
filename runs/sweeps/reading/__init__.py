"""Reading a sweep: places with their repeats, charts, and what the figures support."""
