"""Pictures of runs, as positions in percent that a template draws as SVG.

Percentages keep text readable at any width, and presentation attributes need no inline style.
"""
