"""Detectors: from pixels to cells and marks."""
