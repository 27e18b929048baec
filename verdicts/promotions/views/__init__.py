"""Pages of promotions, and of verdicts given by hand."""
