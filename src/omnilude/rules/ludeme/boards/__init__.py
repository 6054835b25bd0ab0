"""Boards: graphs, what lies next to what on them, and the regions they have."""
