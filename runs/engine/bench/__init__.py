"""The instrument measured: our clients against a server that knows the truth."""
