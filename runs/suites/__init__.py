"""Suites as data: read by everybody, edited by admins, each edit a new version."""
