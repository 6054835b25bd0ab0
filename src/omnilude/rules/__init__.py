"""From the text of rules to programs that the core can run."""
