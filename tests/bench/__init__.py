"""Measurements: run by hand, as programs; pytest collects nothing here."""
