"""Trainers that are run by name, without writing a program: docs/guides/built_in_algorithms.md."""
