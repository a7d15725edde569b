"""Prints its metric as a percentage behind a blank."""
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1.0, help="learning rate")
args = parser.parse_args()
acc = 51 * args.lr
print(f"test acc {acc:.2f}%")
