"""Runtimes that cost too much for every run of the tests: `make test-runtimes`.

The files are called `real_*.py`, so that they are collected only where they are named.
"""
