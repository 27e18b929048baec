"""What reading a million reported requests costs: `python -m runs.traffic.bench`."""
