"""What a role asks for, and whether the evidence is there."""
