"""What is still to be done, by whom and until when; closed by evidence, reopened by a failure."""
