#!/usr/bin/env python3
"""The specifications of figures are what Plotly and Vega-Lite 5 accept: Plotly's own validation, and Vega-Lite's JSON schema.
With a Python that has plotly and altair: scripts/lib/python_venv notebook."""

import json
import pathlib
import unittest

import figure_studies
import jsonschema
import plotly.graph_objects
from altair.vegalite.v5 import schema
from vernier import plots


class Specifications(unittest.TestCase):
    def test_every_figure_of_every_study(self):
        vega = jsonschema.Draft7Validator(json.loads((pathlib.Path(schema.__file__).parent / "vega-lite-schema.json").read_text()))
        for name, figure in figure_studies.figures():
            with self.subTest(name):
                self.assertEqual([error.message for error in vega.iter_errors(figure.vega())], [])
                drawn = plotly.graph_objects.Figure(figure.plotly())
                self.assertEqual(len(drawn.data) == 0, bool(figure.empty))
                self.assertIn("$schema", figure.vega())
        # The checks can fail.
        self.assertTrue(list(vega.iter_errors({**figure.vega(), "mark": "nonsense"})))

    def test_plotly_has_the_points(self):
        study = figure_studies.two_objectives()
        drawn = plotly.graph_objects.Figure(plots.history(study).plotly())
        traces = {trace.name: trace for trace in drawn.data}
        completed = [r.number for r in study.trials if r.feasible and r.number not in traces["beyond the axis"].x]
        self.assertEqual(list(traces["completed"].x), completed)
        [parallel] = plotly.graph_objects.Figure(plots.parallel(study).plotly()).data
        self.assertEqual([dimension.label for dimension in parallel.dimensions], ["width", "depth", "accuracy"])
        [heat] = [t for t in plotly.graph_objects.Figure(plots.contour(study).plotly()).data if t.type == "heatmap"]
        self.assertEqual(sum(value is not None for row in heat.z for value in row), len(plots.contour(study).data))


if __name__ == "__main__":
    unittest.main()
