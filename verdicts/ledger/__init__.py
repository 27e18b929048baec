"""Who decided what on which evidence: append-only, chained by hash from entry to entry."""
