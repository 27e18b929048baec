"""Requests for promotion, their review, and who is primary for each role."""
