"""The model stage: whatever answers a request under a constraint."""
