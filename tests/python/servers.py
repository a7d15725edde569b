"""A server for tests that share a file with one."""

import subprocess


def serve(test, programs, store, folder):
    """Starts vernierd, of the folder ``programs``, on the store, and waits until it listens at ``folder``/d.sock. Skips the
    test without programs."""
    if programs is None:
        test.skipTest("needs the folder of the programs")
    daemon = subprocess.Popen([programs / "vernierd", "--store", store, "--listen", f"unix:{folder}/d.sock"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    test.addCleanup(daemon.communicate)
    test.addCleanup(daemon.kill)
    test.assertIn("d.sock", daemon.stdout.readline())
    return daemon
