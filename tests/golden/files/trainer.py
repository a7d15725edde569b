import argparse
import json

def parse():
    parser = argparse.ArgumentParser(description="Trains a small network.")
    parser.add_argument("data", help="folder of the images")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate")
    parser.add_argument("-b", "--batch-size", type=int, default=64, metavar="N",
                        help="images in one step")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--weight-decay", type=float, default=0.0)  # L2
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--nesterov", action="store_true", help="with sgd")
    parser.add_argument("--no-augment", action="store_true")
    parser.add_argument("--bias", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--hidden", type=int, default=128, help="units of the hidden layer")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--milestones", type=int, nargs="+", default=[30, 60])
    parser.add_argument("--warm", type=bool, default=False)
    parser.add_argument("--ratio", type=float, default=0.3, help="of negatives to positives")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--save-model", action="store_true")
    parser.add_argument("--test-batch-size", type=int, default=1000)
    return parser.parse_args()

def main():
    args = parse()
    for epoch in range(args.epochs):
        train_loss = 1 / (1 + epoch)
        val_acc = 0.9 - abs(args.lr - 0.01) - train_loss / 10
        print(f"epoch {epoch}: train_loss={train_loss:.4f} val_acc={val_acc:.4f}")
    print(json.dumps({"done": True}))

if __name__ == "__main__":
    main()
