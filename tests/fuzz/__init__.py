"""A mutation fuzzer for rulesheets: whatever it makes of them, only typed errors may come out."""
