"""What showing a million cycle and request rows costs: `python -m runs.campaigns.bench`."""
