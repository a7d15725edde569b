"""TabNet: a neural network that chooses among the columns at each of several steps.

python3 -m vernier_trainers.tab_net --model_type=classification --preprocess --training_data_path=data.csv
"""

import vernier_trainers.threads  # First: before numpy is loaded.
from vernier_trainers import reports, steps
from vernier_trainers import arguments as command_line
from vernier_trainers.reports import UserError

METRICS = {"classification": ("accuracy", "loss", "auc"), "regression": ("loss", "rmse", "mae")}
LOSSES = {"classification": ("cross_entropy", "weighted_cross_entropy", "focal_loss"), "regression": ("mse", "rmse", "mae")}
ONLY_FOR = {"class_weight": "weighted_cross_entropy", "alpha_focal_loss": "focal_loss", "gamma_focal_loss": "focal_loss"}
MOST = {"feature_dim": 4096, "num_decision_steps": 100, "num_transformer_layers": 32, "large_category_dim": 1000}


def read_arguments(words):
    parser = command_line.Parser(__doc__.splitlines()[0])
    number, whole, boolean = command_line.number, command_line.whole, command_line.boolean
    steps.add_arguments(parser, METRICS, steps="10 times through the data, at least 1000")
    parser.add_argument("--learning_rate", type=number(above=0), default=0.02)
    parser.add_argument("--decay_every", type=number(1), default=100, help="steps")
    parser.add_argument("--decay_rate", type=number(above=0, most=1), default=0.95, help="of the learning rate")
    parser.add_argument("--gradient_thresh", type=number(above=0), default=2000.0, help="norm of the gradient at most")
    parser.add_argument("--feature_dim", type=whole(2, MOST["feature_dim"]), default=64)
    parser.add_argument("--feature_dim_ratio", type=number(above=0, most=1), default=0.5, help="the share of decisions")
    parser.add_argument("--num_decision_steps", type=whole(1, MOST["num_decision_steps"]), default=6)
    parser.add_argument("--relaxation_factor", type=number(1), default=1.5, help="1: each column at one step only")
    parser.add_argument("--num_transformer_layers", type=whole(1, MOST["num_transformer_layers"]), default=4)
    parser.add_argument("--num_transformer_layers_ratio", type=number(0, 1), default=0.25, help="the share that steps share")
    parser.add_argument("--sparsity_loss_weight", type=number(0), default=0.00001)
    parser.add_argument("--batch_momentum", type=number(0, 0.9999999), default=0.95)
    parser.add_argument("--batch_size_ratio", type=number(above=0, most=1), default=0.25, help="of virtual batches")
    parser.add_argument("--yeo_johnson_transform", nargs="?", const=True, type=boolean, default=True)
    parser.add_argument("--large_category_dim", type=whole(1, MOST["large_category_dim"]), default=1)
    parser.add_argument("--large_category_thresh", type=whole(0), default=300)
    parser.add_argument("--loss_function_type", default="default", help="; ".join(map(", ".join, LOSSES.values())))
    parser.add_argument("--class_weight", type=number(above=0), default=1.0)
    parser.add_argument("--alpha_focal_loss", type=number(0, 1), default=0.25)
    parser.add_argument("--gamma_focal_loss", type=number(0), default=2.0)
    arguments = parser.read(words)
    steps.check_arguments(parser, arguments, prefixes=())
    check(parser, arguments)
    return arguments


def check(parser, arguments):
    losses = LOSSES[arguments.model_type]
    if arguments.loss_function_type == "default":
        arguments.loss_function_type = losses[0]
    if arguments.loss_function_type not in losses:
        raise UserError(f"--loss_function_type: must be one of {', '.join(losses)} for a {arguments.model_type}, got "
                        f"'{arguments.loss_function_type}'")
    for name, loss in ONLY_FOR.items():
        if getattr(arguments, name) != parser.get_default(name) and arguments.loss_function_type != loss:
            raise UserError(f"--{name} is for --loss_function_type={loss}, got {arguments.loss_function_type}")
    if arguments.batch_size < 2:
        raise UserError(f"--batch_size: must be at least 2, which batch normalisation needs, got '{arguments.batch_size}'")
    # The rest of the width is the attention's, and neither may be nothing.
    width = round(arguments.feature_dim * arguments.feature_dim_ratio)
    arguments.decision_width = min(max(1, width), arguments.feature_dim - 1)


def train(words):
    arguments = read_arguments(words)
    from vernier_trainers import tab_net_network  # PyTorch takes a second or two to load: after the arguments.
    steps.run("tab_net", arguments, METRICS, tab_net_network.Trainer, one_hot=False)


if __name__ == "__main__":
    reports.run(train)
