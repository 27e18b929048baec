"""Canary, completed-request gate and soak: many short cycles over a long time."""
