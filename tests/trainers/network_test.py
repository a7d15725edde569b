#!/usr/bin/env python3
"""Wide and deep and TabNet: what they refuse, what they learn that a linear model cannot, what they leave, how they go on.

usage: network_test.py SOURCE_DIR [wide_deep | tab_net]
"""

import csv
import importlib.util
import subprocess
import sys
import unittest

import numpy as np

from trainer_test import CLASSIFY, SOURCE, TrainerTest

HAS_TORCH = importlib.util.find_spec("torch") is not None


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def table(rows, seed=1):
    """Two classes by an exclusive or of a category and the sign of a number, whose linear effects are nothing; blanks."""
    rng = np.random.default_rng(seed)
    colours, x, noise = rng.integers(0, 4, rows), rng.normal(size=rows), rng.normal(size=(rows, 9))
    target = (colours % 2 == 0) ^ (x > 0)
    return [["yes" if is_so else "no", "" if blank else f"colour {colour}", f"{value:.4f}", *map("{:.3f}".format, others)]
            for is_so, colour, value, others, blank in zip(target, colours, x, noise, rng.uniform(size=rows) < 0.02)]


class NetworkTest(TrainerTest):
    trainer = None
    quick = []  # Arguments with which it learns the table.

    def last_of_table(self, *arguments):
        write_rows(self.folder / "table.csv", table(2000))
        return self.last_metrics(*CLASSIFY, "--preprocess", "--training_data_path=table.csv", *arguments)

    def predict(self, folder, name):
        """The exported model's answer to a part of the preprocessed data, by PyTorch alone, and the targets."""
        with open(self.folder / folder / f"processed_data/{name}.csv", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        np.save(self.folder / "x.npy", np.array([row[1:] for row in rows], dtype=float))
        program = ("import torch, numpy; model = torch.jit.load('model.pt'); "
                   "numpy.save('y.npy', model(torch.tensor(numpy.load('x.npy'))).numpy())")
        (self.folder / "model.pt").write_bytes((self.folder / folder / "model/model.pt").read_bytes())
        subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=self.folder, check=True)
        return np.load(self.folder / "y.npy"), [row[0] for row in rows]

    def check_learns_what_a_linear_model_cannot(self):
        self.trainer, network = "linear_learner", self.trainer
        linear = self.last_of_table()["accuracy"]
        self.trainer = network
        last = self.last_of_table(*self.quick, "--job-dir=out")
        self.assertLess(linear, 0.6)
        self.assertGreater(last["accuracy"], 0.9)
        self.assertGreater(last["auc"], 0.95)
        chances, targets = self.predict("out", "validation")
        self.assertTrue(np.allclose(chances.sum(axis=1), 1))
        classes = self.read_json("out/model/model.json")["classes"]
        self.assertEqual(classes, ["no", "yes"])
        right = np.mean([classes[number] == target for number, target in zip(chances.argmax(axis=1), targets)])
        self.assertAlmostEqual(right, last["accuracy"], places=9)
        about = self.read_json("out/artifacts/preprocessing.json")["columns"]
        self.assertEqual(about[0], {"column": 2, "kind": "category", "values": [f"colour {i}" for i in range(4)]})

    def check_regression(self, most, *arguments):
        last = self.last_metrics("--model_type=regression", *self.on("diabetes"), "--job-dir=out", *arguments)
        self.assertLess(last["rmse"], most)
        self.assertLess(last["mae"], last["rmse"])
        self.assertAlmostEqual(last["rmse"] ** 2, last["loss"], places=4)
        predicted, targets = self.predict("out", "validation")
        errors = predicted[:, 0] - np.array(targets, dtype=float)
        self.assertAlmostEqual(np.sqrt(np.mean(errors ** 2)), last["rmse"], places=4)

    def check_refusals(self, cases):
        data = [*CLASSIFY, "--preprocess", "--training_data_path=data.csv"]
        for sentence, arguments in cases.items():
            with self.subTest(sentence):
                self.assertEqual(self.refusal(*data, *arguments), sentence)

    def check_goes_on(self, *arguments):
        """The exported networks are compared, since PyTorch's archives hold more than the weights."""
        self.kill_and_resume(*CLASSIFY, *self.on("digits"), *arguments)
        chances = [self.predict(folder, "validation")[0] for folder in ("killed", "alone")]
        np.testing.assert_array_equal(*chances)

    def check_says_what_to_install(self):
        (self.folder / "torch.py").write_text("raise ImportError('not here')\n")
        sentence = self.refusal(*CLASSIFY, *self.on("breast_cancer"), path=str(self.folder))
        self.assertRegex(sentence, "^the Python package torch is missing from .*; install it there "
                                   r"\(Debian: apt install python3-torch; elsewhere: pip install torch\)")


@unittest.skipUnless(HAS_TORCH, "torch is not installed")
class WideDeepTest(NetworkTest):
    trainer = "wide_deep"
    quick = ["--dnn_learning_rate=0.01", "--max_steps=200"]

    def test_arguments_are_refused_with_their_bounds(self):
        self.check_refusals({
            "--hidden_units: must be at most 32 whole numbers from 1 to 16384, separated by commas, got '30,0'": [
                "--hidden_units=30,0"],
            "--hidden_units: must be at most 32 whole numbers from 1 to 16384, separated by commas, got ''": [
                "--hidden_units="],
            "--dnn_dropout: must be a number of at least 0 and at most 1, got '1'": ["--dnn_dropout=1"],
            "--dnn_optimizer_type: invalid choice: 'adagrad' (choose from 'ftrl', 'adam', 'sgd')": [
                "--dnn_optimizer_type=adagrad"],
            "--dnn_l1_regularization_strength is for --dnn_optimizer_type=ftrl, got adam": [
                "--dnn_l1_regularization_strength=1"],
            "--beta_1 is for --optimizer_type=adam, got ftrl": ["--beta_1=0.5"],
            "unknown argument --hiden_units; did you mean --hidden_units?": ["--hiden_units=3"],
        })

    def test_learns_what_a_linear_model_cannot(self):
        self.check_learns_what_a_linear_model_cannot()

    def test_its_parts_use_the_categories_as_told(self):
        """A target that only the category tells: of no use to a network that is kept from it."""
        rng = np.random.default_rng(2)
        colours = rng.integers(0, 30, 1500)
        write_rows(self.folder / "table.csv", [[int(colour % 3 == 0), f"c{colour}", f"{value:.3f}"]
                                               for colour, value in zip(colours, rng.normal(size=1500))])
        data = [*CLASSIFY, "--preprocess", "--training_data_path=table.csv", "--dnn_learning_rate=0.01"]
        for wide, embed, least, most in ((True, True, 0.9, 1), (True, False, 0.9, 1), (False, True, 0.9, 1),
                                         (False, False, 0, 0.8)):
            last = self.last_metrics(*data, f"--use_wide={wide}", f"--embed_categories={embed}")
            self.assertTrue(least <= last["accuracy"] <= most, (wide, embed, last))
        write_rows(self.folder / "table.csv", [[i % 2, "ab"[i % 2]] for i in range(30)])
        self.assertIn("--embed_categories: must be true, since all columns are categories",
                      self.refusal(*data, "--embed_categories=false"))

    def test_optimizers_and_regularisation(self):
        for optimizer, rate in (("ftrl", 0.1), ("adam", 0.01), ("sgd", 0.1)):
            with self.subTest(optimizer):
                last = self.last_metrics(*CLASSIFY, *self.on("digits"), f"--dnn_optimizer_type={optimizer}",
                                         f"--dnn_learning_rate={rate}", f"--optimizer_type={optimizer}",
                                         "--learning_rate=0.05", "--max_steps=150")
                self.assertGreater(last["accuracy"], 0.93)
        self.run_trainer(*CLASSIFY, *self.on("digits"), "--l1_regularization_strength=1e6", "--max_steps=20",
                         "--dnn_optimizer_type=ftrl", "--dnn_l1_regularization_strength=1e6", "--job-dir=out")
        chances, _ = self.predict("out", "validation")
        self.assertTrue(np.allclose(chances, chances[0]))  # No weight is left, only biases.

    def test_regression(self):
        self.check_regression(60, "--max_steps=30")

    def test_numbers_far_from_0_lose_nothing(self):
        rng = np.random.default_rng(3)
        x = rng.uniform(size=600)
        write_rows(self.folder / "table.csv", [[int(value > 0.5), repr(1.7e9 + float(value))] for value in x])
        last = self.last_metrics(*CLASSIFY, "--preprocess", "--training_data_path=table.csv", "--dnn_learning_rate=0.05")
        self.assertGreater(last["accuracy"], 0.95)

    def test_a_learning_rate_that_is_too_large_is_told(self):
        self.assertEqual(self.refusal("--model_type=regression", "--optimizer_type=sgd", "--learning_rate=1e30",
                                      "--batch_size=10", *self.on("diabetes")),
                         "the loss is not finite after step 27; --learning_rate=1e+30 or --dnn_learning_rate=0.001 is too "
                         "large")

    def test_a_metric_that_the_data_does_not_tell_is_refused(self):
        (self.folder / "train.csv").write_text("0,1\n1,2\n" * 20)
        (self.folder / "valid.csv").write_text("1,2\n" * 5)
        files = ["--training_data_path=train.csv", "--validation_data_path=valid.csv"]
        self.assertEqual(self.refusal(*CLASSIFY, *files, tag="auc"),
                         "the study asks for the metric 'auc', and the validation data has one class only")
        self.assertNotIn("auc", self.last_metrics(*CLASSIFY, *files))

    def test_rubbish_in_files_is_refused_with_its_place(self):
        self.assertIn("data.csv, line 3 has no target", self.refusal_of_data("0,3,1\n\n,1,2\n" + "1,2,3\n0,3,4\n" * 9))

    def test_goes_on_after_a_kill(self):
        self.check_goes_on("--dnn_dropout=0.2", "--hidden_units=20,10", "--max_steps=1000", "--dnn_optimizer_type=ftrl")

    def test_says_what_to_install(self):
        self.check_says_what_to_install()


@unittest.skipUnless(HAS_TORCH, "torch is not installed")
class TabNetTest(NetworkTest):
    trainer = "tab_net"
    small = ["--feature_dim=16", "--num_decision_steps=2", "--num_transformer_layers=2"]
    quick = [*small, "--max_steps=400"]

    def test_arguments_are_refused_with_their_bounds(self):
        self.check_refusals({
            "--feature_dim: must be a whole number of at least 2 and at most 4096, got '1'": ["--feature_dim=1"],
            "--relaxation_factor: must be a number of at least 1, got '0.5'": ["--relaxation_factor=0.5"],
            "--batch_size: must be at least 2, which batch normalisation needs, got '1'": ["--batch_size=1"],
            "--loss_function_type: must be one of cross_entropy, weighted_cross_entropy, focal_loss for a classification, "
            "got 'mae'": ["--loss_function_type=mae"],
            "--class_weight is for --loss_function_type=weighted_cross_entropy, got cross_entropy": ["--class_weight=2"],
            "unknown argument --n_d": ["--n_d=3"],
        })
        self.assertEqual(self.refusal(*CLASSIFY, *self.on("digits"), "--class_weight=2",
                                      "--loss_function_type=weighted_cross_entropy"),
                         "--class_weight: weighs the second of two classes, the target has 10")

    def test_learns_what_a_linear_model_cannot(self):
        self.check_learns_what_a_linear_model_cannot()
        shares = {entry["column"]: entry["share"] for entry in self.read_json("out/artifacts/feature_importance.json")}
        self.assertAlmostEqual(sum(shares.values()), 1)
        self.assertEqual(set(shares), set(range(2, 13)))
        self.assertGreater(shares[2] + shares[3], 0.5)  # The two columns that matter, of eleven.

    def test_large_categories_take_more_dimensions(self):
        self.assertGreater(self.last_of_table(*self.quick, "--large_category_thresh=3", "--large_category_dim=3",
                                              "--yeo_johnson_transform=false")["accuracy"], 0.9)

    def test_losses(self):
        for loss in ("mae", "rmse"):  # The mean of the target would have 77.
            self.check_regression(72, *self.small, "--max_steps=100", f"--loss_function_type={loss}")
        quick = [*self.small, "--max_steps=60", *self.on("breast_cancer"), "--job-dir=out"]
        self.assertGreater(self.last_metrics(*CLASSIFY, *quick, "--loss_function_type=focal_loss")["accuracy"], 0.8)
        means = []
        for weight in (0.02, 50):
            self.run_trainer(*CLASSIFY, *quick, "--loss_function_type=weighted_cross_entropy", f"--class_weight={weight}")
            means.append(self.predict("out", "validation")[0][:, 1].mean())
        self.assertLess(means[0] + 0.1, means[1])

    def test_goes_on_after_a_kill(self):
        self.check_goes_on(*self.small, "--max_steps=250")

    def test_says_what_to_install(self):
        self.check_says_what_to_install()


class LayersTest(unittest.TestCase):
    """The parts of TabNet, against what defines them."""

    @classmethod
    def setUpClass(cls):
        if not HAS_TORCH:
            raise unittest.SkipTest("torch is not installed")
        sys.path.insert(0, str(SOURCE / "trainers"))
        from vernier_trainers import tab_net_network
        cls.network, cls.torch = tab_net_network, tab_net_network.torch

    def test_sparsemax_is_the_nearest_point_of_the_simplex(self):
        torch = self.torch
        torch.manual_seed(1)
        z = torch.randn(50, 6, dtype=torch.double) * 2
        nearest = self.network.sparsemax(z)
        self.assertTrue(torch.allclose(nearest.sum(dim=1), torch.ones(50, dtype=torch.double)))
        self.assertTrue((nearest >= 0).all())
        self.assertTrue((nearest == 0).any())
        for _ in range(200):
            other = torch.rand(50, 6, dtype=torch.double) ** 3
            other /= other.sum(dim=1, keepdim=True)
            self.assertTrue((((z - nearest) ** 2).sum(dim=1) <= ((z - other) ** 2).sum(dim=1) + 1e-12).all())
        self.assertTrue(torch.autograd.gradcheck(self.network.sparsemax, z[:5].requires_grad_()))

    def test_ghost_batches_are_normalised_each_by_itself(self):
        torch = self.torch
        torch.manual_seed(1)
        norm = self.network.GhostBatchNorm(3, virtual_batch_size=4, momentum=0.5).double()
        x = torch.randn(11, 3, dtype=torch.double) * torch.tensor([1.0, 5.0, 0.1]) + 7
        normal = norm(x)
        for rows in (slice(0, 5), slice(5, 10)):
            self.assertTrue(torch.allclose(normal[rows].mean(dim=0), torch.zeros(3, dtype=torch.double), atol=1e-9))
            part = torch.nn.functional.batch_norm(x[rows], None, None, training=True)
            self.assertTrue(torch.allclose(normal[rows], part, atol=1e-9))
        means = torch.stack([x[:5].mean(dim=0), x[5:10].mean(dim=0)]).mean(dim=0)
        self.assertTrue(torch.allclose(norm.running_mean, 0.5 * means, atol=1e-9))

    def test_the_power_transform(self):
        torch = self.torch
        power = self.network.YeoJohnson(2).double()
        x = torch.linspace(-3, 3, 13, dtype=torch.double)[:, None].repeat(1, 2)
        self.assertTrue(torch.allclose(power(x), x))
        with torch.no_grad():
            power.power.copy_(torch.tensor([0.0, 2.0]))
        logarithms = power(x)
        self.assertTrue(torch.allclose(logarithms[7:, 0], (x[7:, 0] + 1).log()))
        self.assertTrue(torch.allclose(logarithms[:6, 1], -(1 - x[:6, 1]).log()))
        with torch.no_grad():
            power.power.copy_(torch.tensor([0.5, 1.5]))
        self.assertTrue(torch.allclose(power(x)[7:, 0], ((x[7:, 0] + 1).sqrt() - 1) / 0.5))


if __name__ == "__main__":
    wanted = {"wide_deep": [WideDeepTest], "tab_net": [TabNetTest, LayersTest]}
    names = sys.argv[2:] or list(wanted)
    unittest.main(argv=[sys.argv[0], *(test.__name__ for name in names for test in wanted[name])])
