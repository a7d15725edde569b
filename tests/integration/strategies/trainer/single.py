"""Trains a classifier of digits with scikit-learn, alone."""

import argparse
import json
import os

import hypertune
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alpha", type=float, required=True)
    arguments = parser.parse_args()
    config = json.loads(os.environ["TF_CONFIG"])
    print(f"alone: {sorted(config['cluster'])}, {os.environ['WORLD_SIZE']}, hypertune from {hypertune.__file__}",
          flush=True)
    digits = load_digits()
    model = SGDClassifier(alpha=arguments.alpha, random_state=1).fit(digits.data[::2], digits.target[::2])
    accuracy = model.score(digits.data[1::2], digits.target[1::2])
    hypertune.HyperTune().report_hyperparameter_tuning_metric("accuracy", accuracy)


if __name__ == "__main__":
    main()
