#!/usr/bin/env python3
"""The tutorial runs, cell after cell, in a shell of IPython, and what optimize shows in a notebook.
usage: notebook_test.py TUTORIAL.ipynb     (with a Python that has IPython and nbformat: scripts/lib/python_venv notebook)
"""

import os
import re
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

import nbformat
import vernier
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

TUTORIAL = None
VEGA = "application/vnd.vegalite.v5+json"


class Tutorial(unittest.TestCase):
    def test_it_runs(self):
        with open(TUTORIAL, encoding="utf-8") as file:
            notebook = nbformat.read(file, as_version=4)
        nbformat.validate(notebook)
        shell = InteractiveShell.instance()
        before = os.getcwd()
        figures, texts = [], []
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for cell in notebook.cells:
                    if cell.cell_type != "code":
                        continue
                    self.assertEqual((cell.outputs, cell.execution_count), ([], None), "outputs are not kept")
                    with capture_output() as output:
                        result = shell.run_cell(cell.source)
                    self.assertTrue(result.success, f"{cell.source}\n{output.stdout}{output.stderr}")
                    texts.append(output.stdout)
                    if isinstance(result.result, vernier.plots.Figure):
                        self.assertEqual(result.result.empty, "")
                        data, _ = shell.display_formatter.format(result.result)
                        self.assertEqual(set(data), {VEGA, "image/svg+xml", "text/plain"})
                        figures.append(result.result)
                self.assertTrue(os.path.exists("parallel.svg"))
            finally:
                os.chdir(before)
        self.assertEqual(len(figures), len(re.findall(r"^vernier\.plots\.", "\n".join(c.source for c in notebook.cells), re.M)))
        text = "".join(texts)
        self.assertRegex(text, r"\d+ of 600 epochs, [1-9]\d* trials stopped early")
        self.assertIn("38 of 38 suggestions come out the same", text)
        self.assertIn("10 trials so far", text)
        self.assertLess(shell.user_ns["best"].metrics["error"], 0.05)


class Progress(unittest.TestCase):
    def setUp(self):
        self.shell = InteractiveShell.instance()
        before = self.shell.display_pub
        self.addCleanup(setattr, self.shell, "display_pub", before)
        self.shell.display_pub = self.published = CapturingDisplayPublisher()
        # What tells a notebook from a terminal.
        self.shell.kernel = object()
        self.addCleanup(delattr, self.shell, "kernel")

    def optimize(self, seconds, **options):
        study = vernier.create_study("s", {"x": vernier.Float(0, 1)}, minimize="<loss>")

        def train(trial):
            time.sleep(seconds)
            return trial["x"]

        study.optimize(train, trials=8, **options)
        return self.published.outputs

    def test_one_output_that_is_updated(self):
        first, *updates = self.optimize(0.25, parallel=2)
        self.assertGreaterEqual(len(updates), 1)
        self.assertTrue(all(output["update"] for output in updates))
        self.assertEqual({output["transient"]["display_id"] for output in updates}, {first["transient"]["display_id"]})
        last = xml.fromstring(f"<div>{updates[-1]['data']['text/html']}</div>")
        self.assertRegex("".join(last.itertext()), r"8 of 8 trials, best \S+ \(trial \d\), 0:0\d")
        self.assertEqual(last.find(".//progress").attrib, {"value": "8", "max": "8"})
        self.assertIsNotNone(last.find(".//{http://www.w3.org/2000/svg}circle"))

    def test_quick_calls_show_nothing(self):
        self.assertEqual(self.optimize(0), [])
        self.assertEqual(self.optimize(0, progress=False), [])
        self.assertEqual(len(self.optimize(0, progress=True)), 1)


if __name__ == "__main__":
    TUTORIAL = sys.argv.pop(1)
    unittest.main()
