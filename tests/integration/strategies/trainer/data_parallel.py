"""Trains a line with PyTorch's DistributedDataParallel over gloo. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which
PyTorch reads by itself, make the replicas one job; TF_CONFIG says what each is called."""

import argparse
import json
import os

import hypertune
import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    total = torch.tensor(10 ** dist.get_rank())
    dist.all_reduce(total)  # Every replica gives a digit of its own: 111 of three.
    print(f"{task['type']} {task['index']} of trial {task['trial']} is {dist.get_rank()} of {dist.get_world_size()}, "
          f"together {int(total)}, lr={arguments.lr}", flush=True)

    torch.manual_seed(dist.get_rank())
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.lr)
    for step in range(1, 31):
        x = torch.rand(32, 1)
        loss = torch.nn.functional.mse_loss(model(x), 3 * x + 1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # The same in all, though each began with weights and saw points of its own.
    weights = [torch.zeros(2) for _ in range(dist.get_world_size())]
    dist.all_gather(weights, torch.cat([p.detach().flatten() for p in model.parameters()]))
    if not all(torch.equal(weights[0], other) for other in weights):
        raise RuntimeError(f"the replicas have grown apart: {weights}")
    if dist.get_rank() == 0:
        hypertune.HyperTune().report_hyperparameter_tuning_metric("loss", loss.item(), step)
    dist.barrier()


if __name__ == "__main__":
    main()
