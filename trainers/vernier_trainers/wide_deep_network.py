"""The network of wide and deep: Cheng et al., 2016. Linear in every column, plus layers of rectified units."""

from vernier_trainers.networks import Embeddings, NetworkTrainer, fix_seed, optimizer_of, torch
from vernier_trainers.reports import UserError


class Wide(torch.nn.Module):
    """Begins at 0, as a linear model may."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.numbers = torch.nn.Linear(inputs.count, outputs) if inputs.count else None
        if self.numbers is not None:
            torch.nn.init.zeros_(self.numbers.weight)
            torch.nn.init.zeros_(self.numbers.bias)
        self.categories = Embeddings(inputs.sizes, [outputs] * len(inputs.sizes), deviation=0.0)

    def forward(self, numbers, categories):
        parts = self.categories(categories)
        if self.numbers is not None:
            parts.append(self.numbers(numbers))
        return torch.stack(parts).sum(dim=0)


class Deep(torch.nn.Module):
    def __init__(self, inputs, outputs, units, dropout, embed):
        super().__init__()
        sizes = inputs.sizes if embed else []
        dimensions = [max(1, round(size ** 0.5)) for size in sizes]
        self.embeddings = Embeddings(sizes, dimensions)
        self.width = inputs.count + sum(dimensions)
        widths = [self.width, *units]
        layers = []
        for before, after in zip(widths, units):
            layers += [self.dense(before, after), torch.nn.ReLU(), torch.nn.Dropout(dropout)]
        self.layers = torch.nn.Sequential(*layers, self.dense(widths[-1], outputs))

    @staticmethod
    def dense(before, after):
        layer = torch.nn.Linear(before, after)
        torch.nn.init.xavier_uniform_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        return layer

    def forward(self, numbers, categories):
        return self.layers(torch.cat([numbers, *self.embeddings(categories)], dim=1))


class WideDeep(torch.nn.Module):
    def __init__(self, inputs, outputs, arguments):
        super().__init__()
        self.inputs = inputs
        self.deep = Deep(inputs, outputs, arguments.hidden_units, arguments.dnn_dropout, arguments.embed_categories)
        self.wide = Wide(inputs, outputs) if arguments.use_wide else None

    def forward(self, x):
        numbers, categories = self.inputs(x)
        scores = self.deep(numbers, categories)
        return scores if self.wide is None else scores + self.wide(numbers, categories)


class Trainer(NetworkTrainer):
    def __init__(self, arguments, parts):
        super().__init__(arguments, parts)
        if not self.inputs.count and not arguments.embed_categories:
            raise UserError("--embed_categories: must be true, since all columns are categories and the deep part would "
                            "have no input")
        fix_seed(arguments.seed)
        self.place(WideDeep(self.inputs, self.outputs, arguments))
        self.optimizers = [optimizer_of(arguments, self.network.deep.parameters(), arguments.dnn_learning_rate, "dnn_")]
        if arguments.use_wide:
            self.optimizers.append(optimizer_of(arguments, self.network.wide.parameters(), arguments.learning_rate))

    def loss(self, x, y):
        return self.usual_loss(self.network(x), y)

    def learning_rates(self):
        return f"--learning_rate={self.arguments.learning_rate:g} or --dnn_learning_rate={self.arguments.dnn_learning_rate:g}"
