"""Runs, revisions and deployments side by side, and pinned baselines."""
