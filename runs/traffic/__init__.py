"""Completed-request records that a proxy delivers, beside the synthetic cycles."""
