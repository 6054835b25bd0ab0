"""Searching: settings, evaluators, the pool of trees, and a readable reference search."""
