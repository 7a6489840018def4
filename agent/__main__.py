"""``python -m agent``: the same command as ``onmark``."""

from agent.cli import main

if __name__ == "__main__":
    main()
