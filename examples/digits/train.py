"""Trains a classifier of handwritten digits, data-parallel over the replicas that Vernier starts.

Every replica runs this program. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which PyTorch reads by itself, make them
one job; TF_CONFIG says the same in TensorFlow's way. The chief (rank 0) prints how many weights the network has, and the
accuracy on held-out digits after each epoch; Vernier reads them from those lines.
"""

import argparse
import json
import os

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--batch", type=int, default=64, help="of the whole job, not of one replica")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="adam")
    parser.add_argument("--momentum", type=float, default=0.9, help="with sgd")
    parser.add_argument("--weight_decay", type=float, default=0.0, help="with adam")
    return parser.parse_args()


def make_data(rank, world):
    """Every fourth digit is held out; the others are dealt to the replicas in turn."""
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32) / 16.0
    labels = torch.tensor(digits.target)
    held_out = torch.arange(len(labels)) % 4 == 0
    train_x, train_y = images[~held_out][rank::world], labels[~held_out][rank::world]
    return train_x, train_y, images[held_out], labels[held_out]


def make_model(args):
    layers, inputs = [], 64
    for _ in range(args.depth):
        layers += [nn.Linear(inputs, args.width), nn.ReLU(), nn.Dropout(args.dropout)]
        inputs = args.width
    return nn.Sequential(*layers, nn.Linear(inputs, 10))


def make_optimizer(args, parameters):
    if args.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=args.lr, momentum=args.momentum)
    return torch.optim.Adam(parameters, lr=args.lr, weight_decay=args.weight_decay)


def train_epoch(model, optimizer, x, y, batch, generator):
    model.train()
    order = torch.randperm(len(y), generator=generator)
    for start in range(0, len(y), batch):
        chosen = order[start : start + batch]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[chosen]), y[chosen]).backward()
        optimizer.step()


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def main():
    args = parse_arguments()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    trial = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("trial", "0")
    print(f"trial {trial}: replica {rank} of {world}", flush=True)

    torch.manual_seed(1000 + rank)
    train_x, train_y, test_x, test_y = make_data(rank, world)
    # Each replica must take as many steps as the others, or they would wait for one another for ever.
    shortest = torch.tensor(len(train_y))
    dist.all_reduce(shortest, op=dist.ReduceOp.MIN)
    train_x, train_y = train_x[:shortest], train_y[:shortest]

    model = nn.parallel.DistributedDataParallel(make_model(args))
    optimizer = make_optimizer(args, model.parameters())
    generator = torch.Generator().manual_seed(rank)
    if rank == 0:
        print(f"weights={sum(p.numel() for p in model.parameters())}", flush=True)
    for epoch in range(1, args.epochs + 1):
        train_epoch(model, optimizer, train_x, train_y, max(1, args.batch // world), generator)
        if rank == 0:
            print(f"epoch={epoch} accuracy={accuracy(model.module, test_x, test_y):.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
