"""Runs over a grid of runtime parallel, client concurrency and prompt size."""
