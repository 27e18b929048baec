"""What every part of the REST API shares: who asks, how errors are told, pages, repeats."""
