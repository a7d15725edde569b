#!/usr/bin/env python3
"""Figures: what is in them, SVG, matplotlib, files, and what is refused."""

import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings
import xml.etree.ElementTree as xml

import figure_studies
import matplotlib
import vernier
from vernier import plots
from vernier._figure import Axis, Boxes, Line, Points, color_of

matplotlib.use("agg")
import matplotlib.pyplot as pyplot  # noqa: E402


def points_of(figure, label):
    [mark] = [m for panel in figure._panels for m in panel.marks if isinstance(m, Points) and m.label == label]
    return mark


def texts_of(svg):
    return ["".join(element.itertext()) for element in xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


class Content(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study, cls.open_trial = figure_studies.everything()
        cls.two = figure_studies.two_objectives()

    def test_the_largest_ranges(self):
        study = vernier.create_study("e", {"x": vernier.Float(0, 1), "y": vernier.Float(1e-300, 1e300, log=True)}, minimize="l")
        study.optimize(lambda trial: 1e308 * (trial["x"] - 0.5), trials=9)
        for draw in (plots.history, plots.slice, plots.contour, plots.parallel):
            with self.subTest(draw.__name__):
                figure = draw(study)
                xml.fromstring(figure.svg())
                json.dumps([figure.vega(), figure.plotly()], allow_nan=False)

    def test_history(self):
        figure = plots.history(self.study)
        values = {r.number: r.metrics["accuracy"] for r in self.study.trials if r.state == "COMPLETED"}
        rows = {row["trial"]: row for row in figure.data if row["state"] == "COMPLETED"}
        self.assertEqual({number: row["accuracy"] for number, row in rows.items()}, values)
        self.assertEqual(figure.data[-1]["best"], max(values.values()))
        self.assertEqual(list(points_of(figure, "failed").x), [5, 6, 7])
        bad_end = figure._panels[0].y.low
        self.assertEqual(set(points_of(figure, "failed").y), {bad_end})
        self.assertEqual((list(points_of(figure, "beyond the axis").x), points_of(figure, "beyond the axis").shape), ([9], "down"))
        self.assertEqual(list(points_of(figure, "best").x), [self.study.best.number])
        self.assertEqual(list(points_of(figure, "not ended").x), [self.open_trial.number])
        self.assertIn("1 trial beyond the axis, at its end; the worst accuracy is -1000", figure.notes)
        self.assertLess(plots.history(self.study, axis="full")._panels[0].y.low, -1000)
        self.assertTrue(plots.history(self.study, axis="regret")._panels[0].y.is_log)

    def test_trials_that_break_a_constraint_are_not_the_best(self):
        figure = plots.history(self.two)
        broken = [r.number for r in self.two.trials if r.feasible is False]
        feasible = [r for r in self.two.trials if r.feasible]
        if broken:
            self.assertEqual(list(points_of(figure, "breaks a constraint").x), broken)
        self.assertEqual(figure.data[-1]["best"], max(r.metrics["accuracy"] for r in feasible))

    def test_curves(self):
        figure = plots.curves(self.study)
        self.assertEqual(len({row["trial"] for row in figure.data}), len(self.study.trials))
        self.assertEqual([row["step"] for row in figure.data if row["trial"] == 1], [p.step for p in self.study.curve(1)])
        self.assertEqual({row["trial"] for row in plots.curves(self.study, trials=[2, 3, 2]).data}, {2, 3})
        self.assertEqual([row["loss"] for row in plots.curves(self.study, "loss", trials=[1]).data], [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
        long = vernier.create_study("long", {"x": vernier.Float(0, 1)}, minimize="loss")
        trial = long.ask()
        for step in range(1, 2001):
            trial.report(step, loss=-9 if step == 1234 else step)
        rows = plots.curves(long, axis="full").data
        self.assertLessEqual(len(rows), 300)
        self.assertEqual((rows[0]["step"], rows[-1]["step"], min(row["loss"] for row in rows)), (1, 2000, -9))

    def test_importance(self):
        recorded = plots.importance(self.study)
        self.assertAlmostEqual(sum(row["importance"] for row in recorded.data), 1)
        self.assertIn("the model that proposed trial", recorded.subtitle)
        random = vernier.create_study("random", {"x": vernier.Float(0, 1), "idle": vernier.Float(0, 1), "kind": ["a", "b"]},
                                      minimize="loss", algorithm="random")
        random.optimize(lambda t: (t["x"] - 0.3) ** 2 + (t["kind"] == "a"), trials=25)
        computed = plots.importance(random)
        shares = {row["parameter"]: row["importance"] for row in computed.data}
        self.assertAlmostEqual(sum(shares.values()), 1)
        # Exactly: the variance of (x - 0.3)^2 is 0.0145, that of the kind 0.25.
        self.assertGreater(shares["kind"], 0.85)
        self.assertLess(shares["idle"], 0.02)
        self.assertIn("total effects", computed.subtitle)

    def test_slice(self):
        figure = plots.slice(self.two, "width")
        rows = figure.data
        best = self.two.best
        [wanted] = self.two.predict([{**best.params, "width": rows[5]["value"]}])
        self.assertAlmostEqual(rows[5]["mean"], wanted.mean)
        self.assertAlmostEqual(rows[5]["deviation"], wanted.deviation)
        # The constraint excludes wider ones.
        self.assertTrue(all(row["value"] * best.params["depth"] <= 400 for row in rows))
        self.assertGreater(len(rows), 20)
        [other] = self.two.predict([{**best.params, "width": 4}])
        latency = {row["value"]: row["mean"] for row in plots.slice(self.two, "width", objective="latency").data}
        moved = self.two.predict([{**self._best("latency").params, "width": 4}])[0]
        self.assertAlmostEqual(latency[4], moved.others["latency"][0])
        self.assertNotEqual(latency[4], other.mean)
        everything = plots.slice(self.study)
        self.assertEqual([panel.x.label for panel in everything._panels], list(figure_studies.SPACE))

    def _best(self, metric):
        feasible = [r for r in self.two.trials if r.feasible]
        return min(feasible, key=lambda r: r.metrics[metric])

    def test_a_slice_of_a_conditional_parameter_is_where_it_is_active(self):
        figure = plots.slice(self.study, "momentum")
        with_momentum = [r for r in self.study.trials if "momentum" in r.params and r.state == "COMPLETED"]
        drawn = sum(len(m.x) for m in figure._panels[0].marks if isinstance(m, Points) and m.label not in ("best",))
        self.assertEqual(drawn, len(with_momentum))
        self.assertGreater(len(figure.data), 50)

    def test_parallel(self):
        figure = plots.parallel(self.study)
        [panel] = figure._panels
        lines = [mark for mark in panel.marks if isinstance(mark, Line)]
        self.assertEqual(len(lines), len([r for r in self.study.trials if r.state != "FAILED" and r.state != "INFEASIBLE"]))
        self.assertEqual(len(panel.rulers), len(figure_studies.SPACE) + 1)
        self.assertEqual(max(lines, key=lambda line: line.level), lines[-1])
        some = plots.parallel(self.study, parameters=["momentum", "lr"])
        self.assertEqual([ruler.label for ruler in some._panels[0].rulers], ["momentum", "lr", "accuracy"])
        self.assertEqual(some._panels[0].marks[-1].y[1], lines[-1].y[0])
        self.assertTrue(all(-1e-9 <= y <= 1 + 1e-9 for line in lines for y in line.y))
        momentum = list(figure_studies.SPACE).index("momentum")
        adam = sum(1 for line in lines if line.y[momentum] == 0)
        self.assertEqual(adam, len([row for row in figure.data if row["parameters.optimizer"] == "adam"]))

    def test_contour(self):
        figure = plots.contour(self.two, "width", "depth")
        self.assertTrue(all(row["width"] * row["depth"] <= 400 for row in figure.data))
        [wanted] = self.two.predict([{"width": figure.data[7]["width"], "depth": figure.data[7]["depth"]}])
        self.assertAlmostEqual(figure.data[7]["mean"], wanted.mean)
        [cells] = [mark for mark in figure._panels[0].marks if isinstance(mark, Boxes)]
        # The best is dark, whichever way is better.
        best = max(range(len(figure.data)), key=lambda i: figure.data[i]["mean"])
        self.assertEqual(max(cells.levels), cells.levels[best])
        latency = plots.contour(self.two, "width", "depth", objective="latency")
        [cells] = [mark for mark in latency._panels[0].marks if isinstance(mark, Boxes)]
        best = min(range(len(latency.data)), key=lambda i: latency.data[i]["mean"])
        self.assertEqual(max(cells.levels), cells.levels[best])

    def test_pareto(self):
        figure = plots.pareto(self.two)
        self.assertEqual([row["trial"] for row in figure.data if row["optimal"]], [r.number for r in self.two.optimal])
        for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            with self.subTest(x=x, y=y):
                goals = {goal: [n for n, s in (("x", x), ("y", y)) if s == sign] for goal, sign in (("maximize", 1), ("minimize", -1))}
                study = vernier.create_study("p", {"a": vernier.Float(0, 1), "b": vernier.Float(0, 1)}, algorithm="random", **goals)
                study.optimize(lambda t: {"x": t["a"], "y": t["b"]}, trials=30)
                figure = plots.pareto(study, "x", "y")
                self.assertEqual([r["trial"] for r in figure.data if r["optimal"]], [r.number for r in study.optimal])
                [front] = [mark for mark in figure._panels[0].marks if isinstance(mark, Line)]
                # Its corners are no better than any trial of the front allows: each is dominated by one, or is one.
                for cx, cy in zip(front.x, front.y):
                    self.assertTrue(any(x * (r.metrics["x"] - cx) >= 0 and y * (r.metrics["y"] - cy) >= 0 for r in study.optimal))

    def test_pareto_names_the_objectives_that_it_does_not_show(self):
        study = vernier.create_study("p", {"a": vernier.Float(0, 1)}, minimize=["x", "y", "z"])
        study.add({"a": 0.5}, [1, 2, 3])
        self.assertEqual(plots.pareto(study).notes, ["not shown: z; x and y choose two objectives"])
        self.assertEqual(plots.pareto(study, y="z").notes, ["not shown: y; x and y choose two objectives"])
        self.assertEqual(plots.pareto(self.two).notes, [])

    def test_pareto_marks_what_is_optimal_in_all_objectives(self):
        study = vernier.create_study("p", {"a": vernier.Float(0, 1)}, minimize=["x", "y"], maximize="z")
        for i, values in enumerate(([1, 1, 1], [2, 2, 1], [2, 2, 2], [3, 1, 3], [1, 1, 1])):
            study.add({"a": i / 8}, dict(zip("xyz", values)))
        figure = plots.pareto(study, "x", "y")
        self.assertEqual([row["trial"] for row in figure.data if row["optimal"]], [r.number for r in study.optimal])
        self.assertEqual(figure.subtitle, "4 of 5 completed trials Pareto-optimal in all 3 objectives")

    def test_compare(self):
        other = figure_studies.everything("random")[0]
        figure = plots.compare(self.study, other)
        self.assertEqual(plots.compare([self.study, other]).svg(), figure.svg())
        lines = {mark.label: mark for mark in figure._panels[0].marks}
        self.assertEqual(list(lines), ["everything (1)", "everything (2)"])
        for study, line in zip((self.study, other), lines.values()):
            self.assertEqual((line.y[-1], line.x[-1]), (study.best.metrics["accuracy"], study.trials[-1].number))
        self.assertEqual(len({line.color for line in lines.values()}), 2)

    def test_edf(self):
        one, two = (vernier.create_study(name, {"x": vernier.Float(0, 9)}, minimize="loss") for name in ("one", "two"))
        for value in (3, 1, 2, 2):
            one.add({"x": value}, value)
        two.add({"x": 5}, 5)
        one.optimize(lambda trial: math.nan, trials=1)
        figure = plots.edf(one, two)
        self.assertEqual([(row["study"], row["loss"], row["share"]) for row in figure.data],
                         [("one", 1, 0.25), ("one", 2, 0.5), ("one", 2, 0.75), ("one", 3, 1), ("two", 5, 1)])
        first, second = figure._panels[0].marks
        self.assertEqual((list(first.y), first.x[1:-1]), ([0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1, 1], [1, 1, 2, 2, 2, 2, 3, 3]))
        self.assertEqual(second.y[-1], 1)
        gains = vernier.create_study("gains", {"x": vernier.Float(0, 9)}, maximize="gain")
        for value in (1, 8, 3):
            gains.add({"x": value}, value)
        [line] = plots.edf(gains, axis="regret")._panels[0].marks
        self.assertEqual((list(line.x), list(line.y)), (sorted(line.x), sorted(line.y)))

    def test_rank(self):
        study = vernier.create_study("r", {"x": vernier.Float(0, 9), "y": ["a", "b"]}, maximize="value")
        for x, value in ((1, 10), (2, 1000), (3, 10), (4, 0)):
            study.add({"x": x, "y": "a"}, value)
        figure = plots.rank(study, "x", "y")
        self.assertEqual([row["rank"] for row in figure.data], [2.5, 1, 2.5, 4])
        [trials, best] = figure._panels[0].marks
        self.assertEqual((list(trials.levels), list(best.x)), ([0.5, 1, 0.5, 0], [2]))

    def test_timeline(self):
        figure = plots.timeline(self.study)
        rows = {row["trial"]: row for row in figure.data}
        self.assertEqual(len(rows), len(self.study.trials))
        self.assertEqual((rows[5]["fate"], rows[self.open_trial.number]["fate"]), ("failed", "not ended"))
        record = self.study.trials[4]
        self.assertAlmostEqual(rows[5]["end"] - rows[5]["start"], record.duration, places=5)
        self.assertEqual({row["trial"] for row in plots.timeline(self.study, last=2).data}, {23, 24})
        boxes = {mark.label: mark for mark in figure._panels[0].marks}
        self.assertEqual([corners[1] + 0.4 for corners in boxes["failed"].corners], [5, 6, 7])

    def test_hypervolume(self):
        study = vernier.create_study("h", {"x": vernier.Float(0, 9)}, maximize="a", minimize="b")
        for a, b in ((1, 3), (2, 2), (0, 9), (2, 2), (3, 1), (1, 1)):
            study.add({"x": a}, [a, b])
        figure = plots.hypervolume(study, [0, 4])
        self.assertEqual([row["hypervolume"] for row in figure.data], [1, 4, 4, 4, 9, 9])
        # Up to the worst values, 0 and 9.
        self.assertEqual(plots.hypervolume(study).data[-1]["hypervolume"], 24)

    def test_hypervolume_of_many_objectives_is_the_share_of_random_points_that_are_dominated(self):
        chance = random.Random(1)
        for count in (2, 3, 4):
            points = [[chance.random() for _ in range(count)] for _ in range(12)]
            study = vernier.create_study("h", {"x": vernier.Float(0, 1)}, minimize=[f"m{i}" for i in range(count)])
            for point in points:
                study.add({"x": point[0]}, point)
            found = plots.hypervolume(study, [1] * count).data[-1]["hypervolume"]
            sample = [[chance.random() for _ in range(count)] for _ in range(20_000)]
            share = sum(any(all(a <= b for a, b in zip(point, one)) for point in points) for one in sample) / len(sample)
            self.assertAlmostEqual(found, share, delta=0.015)

    def test_what_is_refused(self):
        one = figure_studies.narrow()
        single = vernier.create_study("single", {"x": vernier.Float(0, 1)}, minimize="loss")
        for call, error, message in (
            (lambda: plots.history(one, "acc"), ValueError, "objective: must be one of the objectives loss, got 'acc'"),
            (lambda: plots.history(one, 3), TypeError, "objective: must be text, got 3"),
            (lambda: plots.history(one, axis="x"), ValueError, "axis: must be one of auto, full, log, regret, got 'x'"),
            (lambda: plots.history(self.study, axis="log"), ValueError, "axis: log needs values above 0, got -1000; 'regret' shows any"),
            (lambda: plots.slice(one, "x", "z"), ValueError, "parameters[1]: must be one of the parameters one, fixed, n, x, got 'z'"),
            (lambda: plots.contour(one, "x", "x"), ValueError, "y: must be another parameter than x, got 'x'"),
            (lambda: plots.contour(single), ValueError, "study 'single' has 1 parameter, a contour needs two; slice() draws one"),
            (lambda: plots.rank(single), ValueError, "study 'single' has 1 parameter, a rank figure needs two; slice() draws one"),
            (lambda: plots.parallel(one, parameters="x"), TypeError, "parameters: must be a list of names, got 'x'"),
            (lambda: plots.parallel(one, parameters=["z"]), ValueError, "parameters[0]: must be one of the parameters one, fixed, n, x, got 'z'"),
            (lambda: plots.compare(one, self.two), ValueError, "study: must minimize loss, which study 'two' does not"),
            (lambda: plots.compare([]), ValueError, "study: must be a study or a list of at least one, got none"),
            (lambda: plots.history(one).save("/none/x.svg"), vernier.NotFoundError,
             "path: must be in a folder that exists, and there is no folder /none"),
            (lambda: plots.edf(one, 3), TypeError, "study: must be a study, got 3"),
            (lambda: plots.timeline(one, last=0), ValueError, f"last: must be 1 to {2**63 - 1}, got 0"),
            (lambda: plots.hypervolume(one), ValueError, "study 'narrow' has one objective; history() draws it"),
            (lambda: plots.hypervolume(self.two, [1]), ValueError, "reference: must be 2 numbers, one for each objective, got [1]"),
            (lambda: plots.hypervolume(self.two, [1, math.nan]), ValueError, "reference[1]: must be finite, got nan"),
            (lambda: plots.pareto(one), ValueError, "study 'narrow' has one objective; history() draws it"),
            (lambda: plots.pareto(self.two, "latency", "latency"), ValueError, "y: must be another objective than x, got 'latency'"),
            (lambda: plots.curves(one, trials=3), TypeError, "trials: must be a list of numbers of trials, got 3"),
            (lambda: plots.curves(one, trials=[9]), ValueError, "trials[0]: study 'narrow' has no trial 9"),
            (lambda: plots.history(one).save("x.txt"), ValueError, "path: must end in .svg, .html, .json, .png or .pdf, got 'x.txt'"),
            (lambda: plots.history(one).save(3), TypeError, "path: must be the path of a file, got 3"),
            (lambda: plots.slice(one).matplotlib([pyplot.figure().gca()]), ValueError, "ax: must be 4 axes, got 1"),
            (lambda: one.plot_history("a"), TypeError, "ax: must be axes of matplotlib, got 'a'"),
            *((lambda name=name: getattr(plots, name)(3), TypeError, "study: must be a study, got 3")
              for name in plots.__all__ if name != "Figure"),
        ):
            with self.subTest(message=message), self.assertRaises(error) as caught:
                call()
            self.assertEqual(str(caught.exception), message)


    def test_many_trials(self):
        space = {"x": vernier.Float(0, 1), "y": vernier.Float(0, 1)}
        study = vernier.create_study("many", space, maximize="value", algorithm="random")
        study.optimize(lambda trial: trial["x"], trials=1200)
        best = sorted((r.metrics["value"] for r in study.trials), reverse=True)
        parallel = plots.parallel(study)
        self.assertEqual(sorted((row["value"] for row in parallel.data), reverse=True), best[:400])
        self.assertIn("the best 400 of 1200 trials", parallel.subtitle)
        figure = plots.slice(study, "x")
        drawn = [y for m in figure._panels[0].marks if isinstance(m, Points) and m.label != "best" for y in m.y]
        self.assertEqual(len(drawn), 1000)
        self.assertIn("only the best 1000 of 1200 trials are shown", figure.notes)
        self.assertIn("fitted to the last 300 completed trials", figure.subtitle)


class Renderers(unittest.TestCase):
    def test_every_figure_of_every_study(self):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph")
            for name, figure in figure_studies.figures():
                with self.subTest(name):
                    self.assertIn(figure.title, texts_of(figure.svg()))
                    self.assertTrue(figure.empty or figure._panels)
                    self.assertEqual(json.loads(json.dumps(figure.vega(), allow_nan=False)), figure.vega())
                    json.dumps(figure.plotly(), allow_nan=False)
                    json.dumps(figure.data)
                    axes = figure.matplotlib()
                    drawing = (axes[0] if isinstance(axes, list) else axes).figure
                    drawing.savefig(io.BytesIO())
                    pyplot.close(drawing)

    def test_nothing_of_a_name_is_markup(self):
        text = figure_studies.RUBBISH
        figure = plots.slice(figure_studies.rubbish())
        root = xml.fromstring(figure.svg())
        self.assertEqual({element.tag.split("}")[1] for element in root.iter()} - {
            "svg", "rect", "text", "line", "path", "polygon", "circle", "title", "g"}, set())
        self.assertTrue(any(text in "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}title")))
        self.assertNotIn("<b>", json.dumps(figure.plotly()))
        self.assertEqual(plots.Figure("a\0b\ud800c").svg().count("a?b?c"), 1)

    def test_an_empty_figure_says_why(self):
        figure = plots.history(figure_studies.empty())
        self.assertEqual(figure.empty, "no trial has a value yet")
        for text in (figure.svg(), json.dumps(figure.vega()), json.dumps(figure.plotly()), repr(figure)):
            self.assertIn("no trial has a value yet", text)
        self.assertEqual([text.get_text() for text in figure.matplotlib().texts], ["no trial has a value yet"])

    def test_matplotlib_draws_into_given_axes(self):
        study = figure_studies.two_objectives()
        _, grid = pyplot.subplots(1, 2)
        self.assertIs(study.plot_history(grid[0]), grid[0])
        self.assertEqual(grid[0].get_title(loc="left"), "two: maximize accuracy")
        self.assertEqual(plots.slice(study).matplotlib(grid), list(grid))
        self.assertEqual([ax.get_xlabel() for ax in grid], ["width", "depth"])
        self.assertEqual(grid[0].get_xscale(), "log")
        scatter = plots.pareto(study).matplotlib().collections
        self.assertEqual(sum(len(points.get_offsets()) for points in scatter[:-1]), 15)
        pyplot.close("all")

    def test_labels_of_the_last_axis_are_beside_the_lines(self):
        figure = plots.parallel(figure_studies.two_objectives())
        axes = figure.matplotlib()
        axes.figure.canvas.draw()
        last = len(figure._panels[0].rulers) - 1
        end = axes.transData.transform((last, 0))[0]
        boxes = [text.get_window_extent() for text in axes.texts if text.get_position()[0] > last - 0.5]
        self.assertGreater(len(boxes), 2)
        self.assertTrue(all(box.x0 > end and box.x1 < axes.get_window_extent().x1 for box in boxes))
        pyplot.close("all")

    def test_files(self):
        figure = plots.history(figure_studies.narrow())
        with tempfile.TemporaryDirectory() as folder:
            for ending, start in ((".svg", b"<svg"), (".html", b"<!DOCTYPE html>"), (".json", b"{"), (".png", b"\x89PNG"), (".PDF", b"%PDF")):
                path = pathlib.Path(folder) / f"figure{ending}"
                figure.save(path)
                self.assertTrue(path.read_bytes().startswith(start), ending)
            self.assertEqual(json.loads((pathlib.Path(folder) / "figure.json").read_text()), figure.vega())
            with self.assertRaises(vernier.NotFoundError):
                figure.save(os.path.join(folder, "no", "figure.svg"))

    def test_without_matplotlib_the_other_files_are_written(self):
        figure = plots.history(figure_studies.narrow())
        missing = {name: None for name in sys.modules if name.partition(".")[0] == "matplotlib"}
        with unittest.mock.patch.dict(sys.modules, missing), tempfile.TemporaryDirectory() as folder:
            figure.save(os.path.join(folder, "figure.svg"))
            for call in (lambda: figure.save(os.path.join(folder, "figure.png")), figure.matplotlib):
                with self.assertRaisesRegex(ModuleNotFoundError, "matplotlib, which is not installed; saving as .svg, .html"):
                    call()

    def test_notebooks_get_a_picture_without_a_package(self):
        bundle = plots.history(figure_studies.narrow())._repr_mimebundle_()
        self.assertEqual(list(bundle), ["application/vnd.vegalite.v5+json", "image/svg+xml", "text/plain"])
        program = "import sys, vernier; s = vernier.create_study('s', {'x': [1, 2]}, minimize='y');" \
                  "assert 'vernier.plots' not in sys.modules; vernier.plots.history(s)._repr_mimebundle_();" \
                  "assert not {'matplotlib', 'numpy', 'pandas', 'plotly'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", program], check=True)


class Axes(unittest.TestCase):
    def test_ticks_are_round_and_on_the_axis(self):
        for low, high, is_log, wanted in (
            (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
            (-0.05, 10.2, False, [0, 2, 4, 6, 8, 10]),
            (1e-5, 0.1, True, [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
            (1, 10, True, [1, 3, 10]),
            (1e-9, 1e9, True, None),
            (3.1, 3.2, True, None),
            (-1e300, 1e300, False, None),
            (1e-310, 2e-310, False, None),
        ):
            with self.subTest(low=low, high=high, is_log=is_log):
                ticks = [tick.at for tick in Axis("", low, high, is_log).chosen_ticks(6)]
                self.assertTrue(2 <= len(ticks) <= 12, ticks)
                self.assertTrue(all(low * (1 - 1e-9) <= at <= high * (1 + 1e-9) for at in ticks if low > 0), ticks)
                if wanted is not None:
                    self.assertEqual(len(ticks), len(wanted))
                    self.assertTrue(all(math.isclose(a, b, abs_tol=1e-12) for a, b in zip(ticks, wanted)), ticks)

    def test_the_ramp_gets_darker(self):
        def luminance(color):
            return sum(weight * int(color[i : i + 2], 16) for i, weight in ((1, 0.2126), (3, 0.7152), (5, 0.0722)))

        steps = [luminance(color_of(i / 50)) for i in range(51)]
        self.assertEqual(steps, sorted(steps, reverse=True))

    def test_huge_values(self):
        study = vernier.create_study("huge", {"x": vernier.Float(0, 1)}, minimize="loss", algorithm="random")
        values = iter([1e308, -1e308, 1e299, -1e299, 0.0, 5e-324, 1e16, 1e16 + 2])
        study.optimize(lambda trial: next(values), trials=8)
        for figure in (plots.history(study), plots.history(study, axis="full"), plots.slice(study), plots.parallel(study)):
            xml.fromstring(figure.svg())


if __name__ == "__main__":
    unittest.main()
