"""Runs the command line on the store of a test."""

import subprocess
import sys


def vernier(bin_dir, folder, *words, seconds=120):
    """What the command prints; a failure of it ends the test."""
    result = subprocess.run([bin_dir / "vernier", *words, "--store", folder / "vernier.db"],
                            capture_output=True, text=True, timeout=seconds)
    if result.returncode != 0:
        sys.exit(f"vernier {' '.join(map(str, words))}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout
