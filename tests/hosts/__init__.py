"""The contract of model hosts, held against real ones, and their answers kept."""
