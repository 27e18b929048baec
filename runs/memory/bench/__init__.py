"""What reading and drawing a long series costs: `python -m runs.memory.bench`."""
