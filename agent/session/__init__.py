"""Recorded sessions: every run leaves one, and a replay finds the first stage that would now do otherwise."""
