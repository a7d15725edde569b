"""The programs of the trials that run_benchmark starts: each writes down what it saw of the GPU, and when.

usage: program.py train|collective|busy|hold|grab|family|resume --records FOLDER [--seconds N,…] [--bytes N] [--dry FILE] --lr=LR

The record, FOLDER/STUDY-TRIAL-ATTEMPT-REPLICA.json, is replaced as the program goes on, so that one that is killed leaves
what it knew. With --dry the CPU stands for the GPU, and whoever has FILE open counts as using it.
"""

import argparse
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

BEGAN = time.time()  # Before the slow imports.


class Record:
    """What this process knows, on disk from the first instruction on."""

    def __init__(self, folder, suffix):
        name = "-".join([os.environ["VERNIER_STUDY"], os.environ["VERNIER_TRIAL"], os.environ["VERNIER_ATTEMPT"],
                         pathlib.Path(os.environ["VERNIER_REPLICA_DIRECTORY"]).name])
        self.file = pathlib.Path(folder) / f"{name}{suffix}.json"
        self.known = {"trial": int(os.environ["VERNIER_TRIAL"]), "process": os.getpid(), "began": BEGAN,
                      "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}
        self.add()

    def add(self, **known):
        self.known.update(known)
        beside = self.file.with_suffix(".new")
        beside.write_text(json.dumps(self.known))
        beside.rename(self.file)


def take_device(args, record):
    """The device that this replica trains on: the GPU if it was given one."""
    import torch
    record.add(imported=time.time(), torch=torch.__version__, is_available=torch.cuda.is_available(),
               device_count=torch.cuda.device_count())
    if args.dry:
        if os.environ["CUDA_VISIBLE_DEVICES"]:
            args.held = open(args.dry)  # Stays open until the end.
        record.add(ready=time.time())
        return torch.device("cpu")
    if not torch.cuda.is_available():
        record.add(ready=time.time())
        return torch.device("cpu")
    torch.zeros(1, device="cuda").item()  # The context, which takes a while.
    properties = torch.cuda.get_device_properties(0)
    record.add(ready=time.time(), name=properties.name, uuid=str(properties.uuid), memory=properties.total_memory)
    return torch.device("cuda")


def train(args, record):
    """Data-parallel, gradients averaged over gloo: the chief on its GPU, the worker on the CPU."""
    import torch
    import torch.distributed as distributed
    device = take_device(args, record)
    distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
    rank, world = distributed.get_rank(), distributed.get_world_size()
    torch.manual_seed(0)  # Equal weights at first.
    model = torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1)).to(device)
    torch.manual_seed(1 + rank)  # Other data in each.
    x = torch.randn(512, 32)
    x, y = x.to(device), x[:, :4].sum(dim=1, keepdim=True).sin().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    losses = []
    until = time.time() + args.seconds
    while True:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        gradients = torch.cat([weights.grad.flatten() for weights in model.parameters()])
        # The chief says how long it goes on; the loss is that of all data.
        sums = torch.cat([gradients.cpu(), torch.tensor([loss.item(), float(rank == 0 and time.time() < until)])])
        distributed.all_reduce(sums)
        mean = (sums[:-2] / world).to(device)
        for weights, part in zip(model.parameters(), mean.split([weights.numel() for weights in model.parameters()])):
            weights.grad.copy_(part.view_as(weights))
        optimizer.step()
        losses.append(sums[-2].item() / world)
        if sums[-1] == 0:
            break
    flat = torch.cat([weights.detach().flatten() for weights in model.parameters()]).cpu()
    lowest, highest = flat.clone(), flat.clone()
    distributed.all_reduce(lowest, distributed.ReduceOp.MIN)
    distributed.all_reduce(highest, distributed.ReduceOp.MAX)
    record.add(rank=rank, world=world, device=str(device), steps=len(losses), first_loss=losses[0], last_loss=losses[-1],
               weights_differ_by=(highest - lowest).max().item())
    distributed.destroy_process_group()
    return losses[-1]


def collective(args, record):
    """NCCL with a world of one: whether the variables suffice for it, and what a sum of 64 MiB costs."""
    import torch
    import torch.distributed as distributed
    device = take_device(args, record)
    distributed.init_process_group("gloo" if args.dry else "nccl", timeout=datetime.timedelta(seconds=30))
    data = torch.full((1 << 24,), 3.0, device=device)
    distributed.all_reduce(data)
    began = time.time()
    for _ in range(10):
        distributed.all_reduce(data)
    total = data.sum().item()  # Waits for the device, too.
    record.add(backend=distributed.get_backend(), world=distributed.get_world_size(), mean=total / data.numel(),
               all_reduce_ms=1e3 * (time.time() - began) / 10)
    if not args.dry:
        record.add(nccl=".".join(map(str, torch.cuda.nccl.version())))
    distributed.destroy_process_group()
    return 1.0


def work(args, record, device):
    """Matrix products without a pause."""
    import torch
    size, kind = (256, torch.float32) if args.dry else (8192, torch.bfloat16)
    left, right = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    product = torch.matmul(left, right)
    record.add(busy_began=time.time())
    products, until = 0, time.time() + args.seconds
    while time.time() < until:
        for _ in range(20):
            torch.matmul(left, right, out=product)
        product[0, 0].item()  # Waits for the device.
        products += 20
    took = time.time() - record.known["busy_began"]
    record.add(busy_ended=time.time(), tflops=products * 2 * size**3 / took / 1e12)


def busy(args, record):
    device = take_device(args, record)
    print("loss=2", flush=True)
    work(args, record, device)
    return 1.0


def take_memory(args, record, device):
    import torch
    taken = torch.empty(args.bytes, dtype=torch.uint8, device=device)
    if not args.dry:
        taken.zero_()
        torch.cuda.synchronize()
    record.add(holds=args.bytes, holds_since=time.time())
    return taken


def hold(args, record):
    """Memory, and nothing else."""
    taken = take_memory(args, record, take_device(args, record))
    time.sleep(args.seconds)
    del taken
    return 1.0


def grab(args, record):
    """More memory than there is, after some that there is."""
    device = take_device(args, record)
    total, args.bytes = args.bytes, 1 << 20 if args.dry else 1 << 30
    taken = take_memory(args, record, device)
    print("loss=2", flush=True)
    time.sleep(args.seconds)
    args.bytes = total
    return float(len(taken) + len(take_memory(args, record, device)))


def family(args, record):
    """Keeps the GPU busy, beside a child that holds some of its memory. From the second trial on, both ignore SIGTERM, and the
    child has a session of its own."""
    is_deaf = record.known["trial"] > 1
    if is_deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # The child inherits that.
    subprocess.Popen([sys.executable, __file__, "hold", *sys.argv[2:], "--child"], start_new_session=is_deaf)
    return busy(args, record)


def resume(args, record):
    """Nine steps, from the checkpoint on if there is one. Later trials are worse; the weights show that the steps went on."""
    import torch
    device = take_device(args, record)
    taken = take_memory(args, record, device)
    torch.manual_seed(0)
    model = torch.nn.Linear(32, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    checkpoint, step = pathlib.Path(args.records) / f"{record.known['trial']}.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    record.add(continued_from=step, steps_began=time.time())
    while step < 9:
        time.sleep(args.seconds)
        x = torch.randn(256, 32, generator=torch.Generator().manual_seed(step)).to(device)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), x.sum(dim=1, keepdim=True)).backward()
        optimizer.step()
        step += 1
        fresh = checkpoint.with_suffix(".new")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, fresh)
        fresh.replace(checkpoint)
        print(f"step={step} loss={0.1 * record.known['trial']:.6f}", flush=True)
    record.add(weights=model.weight.sum().item(), holds=len(taken))
    return 0.1 * record.known["trial"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["train", "collective", "busy", "hold", "grab", "family", "resume"])
    parser.add_argument("--records", required=True)
    parser.add_argument("--seconds", default="0", help="of trial 1, of trial 2, …; the last is for all further ones")
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--dry")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--lr", type=float)
    args = parser.parse_args()
    record = Record(args.records, "-child" if args.child else "")
    by_trial = [float(text) for text in args.seconds.split(",")]
    args.seconds = by_trial[min(record.known["trial"], len(by_trial)) - 1]
    loss = globals()[args.verb](args, record)
    print(f"loss={loss}", flush=True)
    record.add(ended=time.time())


if __name__ == "__main__":
    main()
