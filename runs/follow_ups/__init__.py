"""Follow-ups with the runs that lead to them, close them and reopen them."""
