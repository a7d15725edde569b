"""TabNet: Arik and Pfister, Attentive Interpretable Tabular Learning, 2021. Equations and names are the paper's, section 3.

Each decision step looks at few of the features, by a mask M[i]; what it decides is added up. Shapes: rows x features.
"""

from vernier_trainers.networks import ROWS_AT_ONCE, Embeddings, NetworkTrainer, fix_seed, np, steps, torch
from vernier_trainers.reports import UserError

EPSILON = 1e-15  # Within the logarithm of the sparsity regularisation.
SMALL_CATEGORY_DIMENSION = 1
HALF_ROOT = 0.5 ** 0.5


def sparsemax(z):
    """The point of the probability simplex that is nearest to z: Martins and Astudillo, 2016, algorithm 1."""
    falling, _ = z.sort(dim=1, descending=True)
    sums = falling.cumsum(dim=1)
    counts = torch.arange(1, z.shape[1] + 1, dtype=z.dtype, device=z.device)
    support = (1 + counts * falling > sums).sum(dim=1, keepdim=True)
    threshold = (sums.gather(1, support - 1) - 1) / support.to(z.dtype)
    return (z - threshold).clamp(min=0)


class GhostBatchNorm(torch.nn.Module):
    """Batch normalisation by parts of the batch: Hoffer et al., 2017. Evaluation uses the running mean of the parts."""

    EPSILON = 1e-5

    def __init__(self, width, virtual_batch_size, momentum):
        """`momentum`: the share of the running mean that a step keeps."""
        super().__init__()
        self.virtual_batch_size, self.momentum = virtual_batch_size, momentum
        self.scale = torch.nn.Parameter(torch.ones(width))
        self.shift = torch.nn.Parameter(torch.zeros(width))
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_variance", torch.ones(width))

    def forward(self, x):
        if not self.training:
            return self.normalised(x, self.running_mean, self.running_variance)
        parts = max(1, len(x) // self.virtual_batch_size)
        size, width = len(x) // parts, x.shape[1]
        # The parts beside each other, as further columns.
        beside = x[:parts * size].view(parts, size, width).transpose(0, 1).reshape(size, parts * width)
        mean, variance = x.new_zeros(parts * width), x.new_zeros(parts * width)
        normal = torch.nn.functional.batch_norm(beside, mean, variance, self.scale.repeat(parts), self.shift.repeat(parts),
                                                training=True, momentum=1.0, eps=self.EPSILON)
        normal = normal.view(size, parts, width).transpose(0, 1).reshape(parts * size, width)
        mean, variance = mean.view(parts, width), variance.view(parts, width)  # Filled by batch_norm.
        self.running_mean.lerp_(mean.mean(dim=0), 1 - self.momentum)
        self.running_variance.lerp_(variance.mean(dim=0), 1 - self.momentum)
        if parts * size == len(x):
            return normal
        # Rows are over, fewer than there are parts: they go with the last part.
        return torch.cat([normal, self.normalised(x[parts * size:], mean[-1], variance[-1])])

    def normalised(self, x, mean, variance):
        return (x - mean) * (variance + self.EPSILON).rsqrt() * self.scale + self.shift


class GatedLayer(torch.nn.Module):
    """Fully connected, normalised, then a gated linear unit. The weights may be another layer's."""

    def __init__(self, weights, norm):
        super().__init__()
        self.weights, self.norm = weights, norm

    def forward(self, x):
        return torch.nn.functional.glu(self.norm(self.weights(x)), dim=1)


class FeatureTransformer(torch.nn.Module):
    """Layers whose weights all steps share, then layers of this step's own; from the second on residual."""

    def __init__(self, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x):
        x = self.layers[0](x)
        for layer in list(self.layers)[1:]:
            x = (x + layer(x)) * HALF_ROOT
        return x


class YeoJohnson(torch.nn.Module):
    """A power for each column that makes it more normal, learnt with the rest: Yeo and Johnson, 2000. Begins as identity."""

    NEAR = 1e-4  # Of 0 the power's limit, a logarithm, is taken.

    def __init__(self, width):
        super().__init__()
        self.power = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        up = self.branch(x.clamp(min=0), self.power)
        down = self.branch((-x).clamp(min=0), 2 - self.power)
        return torch.where(x >= 0, up, -down)

    def branch(self, x, power):
        near = power.abs() < self.NEAR
        safe = torch.where(near, torch.ones_like(power), power)
        logarithm = x.log1p()
        return torch.where(near, logarithm, torch.expm1(safe * logarithm) / safe)


class TabNet(torch.nn.Module):
    def __init__(self, inputs, outputs, arguments):
        super().__init__()
        self.inputs, self.relaxation = inputs, arguments.relaxation_factor
        self.decision_width = arguments.decision_width
        dimensions = [arguments.large_category_dim if size > arguments.large_category_thresh else SMALL_CATEGORY_DIMENSION
                      for size in inputs.sizes]
        # The column that each feature is of.
        self.owners = [*range(inputs.count), *(inputs.count + column for column, dimension in enumerate(dimensions)
                                               for _ in range(dimension))]
        self.embeddings = Embeddings(inputs.sizes, dimensions)
        self.powers = YeoJohnson(inputs.count) if arguments.yeo_johnson_transform and inputs.count else None
        width = len(self.owners)
        self.norm = self.new_norm(width, arguments)
        self.build_steps(width, arguments)
        self.output = self.new_dense(self.decision_width, outputs)

    @staticmethod
    def new_norm(width, arguments):
        virtual = max(2, round(arguments.batch_size * arguments.batch_size_ratio))
        return GhostBatchNorm(width, virtual, arguments.batch_momentum)

    @staticmethod
    def new_dense(before, after):
        dense = torch.nn.Linear(before, after, bias=False)
        torch.nn.init.xavier_uniform_(dense.weight)
        return dense

    def build_steps(self, width, arguments):
        hidden, layers = arguments.feature_dim, arguments.num_transformer_layers
        shared_count = round(layers * arguments.num_transformer_layers_ratio)
        inner = [width] + [hidden] * (layers - 1)  # What goes into each layer.
        shared = [self.new_dense(before, 2 * hidden) for before in inner[:shared_count]]

        def transformer():
            own = [self.new_dense(before, 2 * hidden) for before in inner[shared_count:]]
            return FeatureTransformer([GatedLayer(weights, self.new_norm(2 * hidden, arguments))
                                       for weights in shared + own])

        count = arguments.num_decision_steps
        self.first = transformer()
        self.transformers = torch.nn.ModuleList(transformer() for _ in range(count))
        self.attention = torch.nn.ModuleList(
            torch.nn.Sequential(self.new_dense(hidden - self.decision_width, width), self.new_norm(width, arguments))
            for _ in range(count))

    def features(self, x):
        numbers, categories = self.inputs(x)
        if self.powers is not None:
            numbers = self.powers(numbers)
        return self.norm(torch.cat([numbers, *self.embeddings(categories)], dim=1))

    def forward(self, x):
        return self.explained(x)[0]

    def explained(self, x):
        """Scores; the sparsity of the masks, L_sparse; and how much each row looked at each feature, M_agg unnormalised."""
        features = self.features(x)
        attended = self.first(features)[:, self.decision_width:]
        prior = torch.ones_like(features)
        decided = torch.zeros(1, device=features.device)
        looked, entropy = torch.zeros_like(features), torch.zeros(1, device=features.device)
        for transformer, attention in zip(self.transformers, self.attention):
            mask = sparsemax(prior * attention(attended))
            prior = prior * (self.relaxation - mask)
            entropy = entropy - (mask * (mask + EPSILON).log()).sum(dim=1).mean()
            hidden = transformer(mask * features)
            decision = hidden[:, :self.decision_width].relu()
            decided = decided + decision
            attended = hidden[:, self.decision_width:]
            looked = looked + decision.sum(dim=1, keepdim=True) * mask
        return self.output(decided), entropy / len(self.transformers), looked


class Trainer(NetworkTrainer):
    LEAST_STEPS = 1000

    def __init__(self, arguments, parts):
        super().__init__(arguments, parts, least_steps=self.LEAST_STEPS, whole_batches=True)
        if self.rows < 2:
            raise UserError(f"--training_data_path: has {self.rows} rows, and batch normalisation needs 2")
        self.check_loss()
        fix_seed(arguments.seed)
        self.place(TabNet(self.inputs, self.outputs, arguments))
        self.optimizers = [torch.optim.Adam(self.network.parameters(), lr=arguments.learning_rate, foreach=True)]

    def check_loss(self):
        if self.arguments.class_weight != 1 and self.outputs != 2:
            raise UserError(f"--class_weight: weighs the second of two classes, the target has {self.outputs}")

    def loss(self, x, y):
        scores, entropy, _ = self.network.explained(x)
        return self.chosen_loss(scores, y) + self.arguments.sparsity_loss_weight * entropy[0]

    def chosen_loss(self, scores, y):
        kind = self.arguments.loss_function_type
        if kind == "mae":
            return (scores[:, 0] - y).abs().mean()
        if kind == "rmse":
            return (self.usual_loss(scores, y) + EPSILON).sqrt()
        if kind == "weighted_cross_entropy":
            weights = torch.ones(self.outputs, device=scores.device)
            weights[-1] = self.arguments.class_weight
            return torch.nn.functional.cross_entropy(scores, y, weight=weights)
        if kind == "focal_loss":
            return self.focal_loss(scores, y)
        return self.usual_loss(scores, y)

    def focal_loss(self, scores, y):
        """Lin et al., 2017, equation 5. alpha is the weight of the second of two classes; of more, of each."""
        log_chance = scores.log_softmax(dim=1).gather(1, y[:, None])[:, 0]
        alpha = torch.full_like(log_chance, self.arguments.alpha_focal_loss)
        if self.outputs == 2:
            alpha = torch.where(y == 1, alpha, 1 - alpha)
        return -(alpha * (1 - log_chance.exp()) ** self.arguments.gamma_focal_loss * log_chance).mean()

    def before_update(self, step):
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.arguments.gradient_thresh)
        decays = step // self.arguments.decay_every
        self.optimizers[0].param_groups[0]["lr"] = self.arguments.learning_rate * self.arguments.decay_rate ** decays

    def export(self, folder):
        folder.write_json("artifacts/feature_importance.json", self.importance())
        super().export(folder)

    def importance(self):
        """The share of each column in what the validation rows looked at, all together 1."""
        self.network.eval()
        total = np.zeros(len(self.network.owners))
        with torch.no_grad():
            for begin in range(0, len(self.validation.x), ROWS_AT_ONCE):
                rows = torch.tensor(self.validation.x[begin:begin + ROWS_AT_ONCE], device=self.device)
                looked = self.network.explained(rows)[2].double()
                shares = looked / looked.sum(dim=1, keepdim=True).clamp(min=EPSILON)
                total += shares.sum(dim=0).cpu().numpy()
        columns = self.data.encoder.columns
        # Features are numbers first, then categories.
        order = sorted(range(len(columns)), key=lambda index: columns[index]["kind"] == "category")
        shares = np.zeros(len(columns))
        for feature, owner in enumerate(self.network.owners):
            shares[order[owner]] += total[feature] / max(total.sum(), EPSILON)
        return [{"column": about["column"], "share": share} for about, share in zip(columns, shares.tolist())]
