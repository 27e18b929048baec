"""Reading a campaign: its time line, its charts, and where something changed."""
