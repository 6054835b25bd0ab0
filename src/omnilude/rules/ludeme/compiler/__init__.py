"""From the tree of a description to the encoded rules that the core reads."""
