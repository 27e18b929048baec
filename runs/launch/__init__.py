"""Starting runtimes by profiles: argument lists, never a shell."""
