// Rules by name, since names of hyperparameters are conventions: lr, batch_size, dropout. A rule has a usual range; a
// default outside of it moves the range, as the program's author knows better. Words of kOtherWords in a name (path,
// seed, log, …) mean that the option is not about the model, unless a rule matches the whole name. Ranges are choices:
// values in common use, wide enough to contain the best and narrow enough for a few dozen trials.

#include "src/cli/init/guess.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "re2/re2.h"
#include "src/cli/init/words.h"
#include "src/codec/yaml_reader.h"

namespace vernier::cli {
namespace {

using Kind = ProgramOption::Kind;
using Type = ProgramOption::Type;

// A choice: longer lists are rarely settings of one model.
constexpr std::size_t kMostChoices = 16;

// The kind of range that suits a hyperparameter.
enum class Shape { kLinear, kLog, kReverseLog, kWhole, kWholeLog, kDoubling, kOdd };

// Options whose whole name matches a rule are hyperparameters; the first matching rule applies.
struct Rule {
  const char* pattern;  // Of the whole name in lower case, with underscores.
  Shape shape;
  double lower;  // Unless the default lies outside.
  double upper;
};

constexpr Rule kRules[] = {
    {"(?:.*_)?(?:lr|learning_?rate|eta|step_size)|rate", Shape::kLog, 1e-5, 0.1},
    {"(?:.*_)?(?:weight_?decay|wd|l1|l2|l1_reg|l2_reg|reg|reg_alpha|reg_lambda|"
     "regulari[sz]ation)",
     Shape::kLog,
     1e-6,
     1e-2},
    {"(?:entropy|ent|vf|value)_(?:coef|coeff|weight)", Shape::kLog, 1e-4, 1},
    {"(?:grad(?:ient)?_)?clip(?:_(?:grad|norm|value|grad_norm))?|max_(?:grad_)?"
     "norm",
     Shape::kLog,
     0.1,
     10},
    {"penalty_strength|inverse_regulari[sz]ation", Shape::kLog, 1e-3, 1e3},
    {"(?:.*_)?momentum", Shape::kLinear, 0.5, 0.99},
    {"(?:.*_)?drop(?:out)?(?:_?(?:rate|prob|p|path|path_rate|connect))?", Shape::kLinear, 0, 0.5},
    {"label_smoothing(?:_.*)?", Shape::kLinear, 0, 0.2},
    {"mixup(?:_alpha)?|cutmix(?:_alpha)?", Shape::kLinear, 0, 1},
    {"sub_?sample|col_?sample(?:_?by.*)?|feature_fraction|bagging_fraction",
     Shape::kLinear,
     0.5,
     1},
    {"(?:adam_)?beta_?1", Shape::kLinear, 0.8, 0.95},
    {"(?:adam_)?beta_?2", Shape::kReverseLog, 0.9, 0.9999},
    {"gae_lambda", Shape::kLinear, 0.9, 1},
    {"clip_(?:range|eps|epsilon)", Shape::kLinear, 0.1, 0.4},
    {"gamma|discount(?:_factor)?", Shape::kReverseLog, 0.9, 0.9999},
    {"(?:lr_)?(?:decay_rate|decay_factor|gamma)|lr_decay", Shape::kLinear, 0.1, 0.99},
    {"warm_?up_(?:ratio|proportion|fraction)", Shape::kLinear, 0, 0.2},
    {"(?:train_|training_|mini_?|per_device_|per_gpu_|per_device_train_)?batch("
     "?:_?size)?|bs",
     Shape::kDoubling,
     16,
     256},
    {"(?:num_|n_)?(?:attention_)?heads?|n_?head", Shape::kDoubling, 1, 8},
    {"d_?model|(?:.*_)?(?:emb|embed|embedding|hidden|model|latent|feature)_?(?:"
     "dim|size)|(?:embed|"
     "embedding)s?",
     Shape::kDoubling,
     32,
     512},
    {"(?:num_|n_)?(?:hidden|width|units|neurons|channels|filters|hidden_units|"
     "dense_units|kernels)("
     "?:_?[0-9]+)?"
     "|d_?ff|ffn_?dim|hid(?:den)?_?(?:units|width)?",
     Shape::kWholeLog,
     16,
     512},
    {"(?:num_|n_)?(?:hidden_|conv_|dense_|encoder_|decoder_)?(?:layers?|blocks?"
     "|depth)",
     Shape::kWhole,
     1,
     4},
    {"max_?depth", Shape::kWhole, 2, 12},
    {"n_?estimators|num_?trees|n_?trees|num_boost_round", Shape::kWholeLog, 50, 1000},
    {"num_?leaves|max_?leaves", Shape::kWholeLog, 8, 256},
    {"min_(?:child_weight|samples_leaf|data_in_leaf)|min_samples_split", Shape::kWholeLog, 2, 64},
    {"(?:n_?|num_?)?neighbors|k_neighbors", Shape::kWhole, 1, 30},
    {"kernel_?size", Shape::kOdd, 3, 7},
};

// The length of a trial. It is not tuned: a study would find only that longer is better.
constexpr char kLength[] =
    "(?:num_|n_|max_|total_)?(?:train_|training_)?(?:"
    "epochs?|steps?|iters?|iterations?|updates?|"
    "timesteps|episodes|rounds)";

// If a name contains one of these words, the option is not about the model or how it learns.
constexpr char kOtherWords[] =
    "(?:help|version|verbose|verbosity|quiet|silent|debug|config|cfg|seed|"
    "device|devices|gpu|gpus|"
    "cuda|cpu|cpus|tpu|mps|xpu|accelerator|worker|workers|thread|threads|jobs|"
    "log|logs|logging|"
    "logdir|"
    "save|output|out|outdir|dir|directory|path|file|files|filename|folder|data|"
    "dataset|datasets|"
    "root|"
    "checkpoint|checkpoints|ckpt|resume|pretrained|name|exp|experiment|project|"
    "wandb|tensorboard|"
    "mlflow|"
    "comet|port|host|addr|address|rank|world|dist|distributed|backend|dry|"
    "download|job|interval|"
    "freq|"
    "frequency|every|print|show|plot|amp|fp16|bf16|fp8|precision|dtype|test|"
    "eval|val|valid|"
    "validation|"
    "predict|infer|inference|tag|tags|notes|user|url|cache|profile|profiler|"
    "compile|export|trial|"
    "study|"
    "metric|metrics|objective|mode|split|loss|target|targets|patience|nodes|"
    "local|master|train|num_"
    "classes|"
    "classes|image|img|vocab|limit|samples|examples|eps|epsilon|json|yaml|"
    "format|color|force|"
    "overwrite|"
    "install|completion|helpfull|helpshort|helpxml|flagfile|undefok|"
    "alsologtostderr|only_check_"
    "args|pdb|"
    "run_with_pdb|run_with_profiling|stderrthreshold|logtostderr|verbosity|v)";

// Switches that change the model or how it learns.
constexpr char kSwitches[] =
    "(?:use_|with_|enable_)?(?:nesterov|amsgrad|bias|bn|batch_?norm|layer_?"
    "norm|group_?norm|norm|"
    "residual|skip|skip_connections?|bidirectional|attention|shuffle|normali["
    "sz]e|centered|tie_"
    "weights|"
    "pre_?norm|cosine|warm_?up|mixup|cutmix|flip|augment|augmentation|data_?"
    "augmentation|standardi["
    "sz]e|"
    "dropout|scheduler|lr_scheduler|ema|sam|lookahead|gating|glu|maxpool|max_"
    "pool)";

std::optional<double> NumberIn(const std::optional<std::string>& text) {
  double number = 0;
  if (!text.has_value() ||
      !RE2::FullMatch(*text, R"(([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?))", &number)) {
    return std::nullopt;
  }
  return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

std::string Number(double number) { return fmt::format("{:.4g}", number); }

std::int64_t Whole(double number) { return static_cast<std::int64_t>(std::llround(number)); }

bool IsWhole(double number) { return number == std::floor(number) && std::abs(number) < 1e15; }

// The name without dashes, hydra's groups, and the "no-" of a flag that switches something off.
std::string BareName(const ProgramOption& option) {
  std::string name =
      option.name.substr(std::min(option.name.find_first_not_of('-'), option.name.size()));
  if (const std::size_t group = name.find_last_of("./@"); group != std::string::npos) {
    name = name.substr(group + 1);
  }
  if (option.kind == Kind::kFlag && RE2::FullMatch(name, "no[-_].+")) name = name.substr(3);
  return name;
}

std::string NormalName(const ProgramOption& option) {
  std::string name = Lower(BareName(option));
  std::ranges::replace(name, '-', '_');
  return name;
}

// The parameter's name. hydra's groups stay, so that "model.lr" and "head.lr" are two parameters.
std::string ParameterName(const ProgramOption& option) {
  std::string name = option.kind == Kind::kAssignment ? option.name : BareName(option);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '_';
  }
  return name;
}

bool IsAboutSomethingElse(const std::string& name) {
  static const RE2& words = *new RE2(fmt::format("(?:.*_)?{}(?:_.*)?", kOtherWords));
  return RE2::FullMatch(name, words);
}

const Rule* RuleFor(const std::string& name) {
  const auto rule = std::ranges::find_if(
      kRules, [&](const Rule& known) { return RE2::FullMatch(name, known.pattern); });
  return rule == std::end(kRules) ? nullptr : &*rule;
}

struct Range {
  double lower = 0;
  double upper = 0;
  bool Has(std::optional<double> value) const {
    return value.has_value() && *value >= lower && *value <= upper;
  }
};

std::string Listed(const std::vector<std::int64_t>& values) {
  return fmt::format("discrete: [{}]", fmt::join(values, ", "));
}

// Powers of two around the default: a quarter, half, the default, double and four times. Batch sizes and widths are
// usually chosen so.
Guess Doubling(const Rule& rule, std::optional<double> value) {
  std::vector<std::int64_t> values;
  if (value.has_value() && *value >= 1) {
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      const double next = *value * factor;
      if (IsWhole(next)) values.push_back(Whole(next));
    }
  } else {
    for (std::int64_t next = Whole(rule.lower); next <= Whole(rule.upper); next *= 2) {
      values.push_back(next);
    }
  }
  // A default is taken only if it is one of the values.
  const bool has = value.has_value() && std::ranges::count(values, Whole(*value)) > 0;
  return {
      .kind = Guess::Kind::kTune, .domain = Listed(values), .parameter = {}, .takes_default = has};
}

Guess WholeRange(const Rule& rule, std::optional<double> value) {
  Range range{rule.lower, rule.upper};
  if (rule.shape == Shape::kWholeLog && value.has_value() && *value >= 1) {
    range = {std::max(1.0, std::floor(*value / 4)), *value * 4};
  } else if (value.has_value() && *value >= 1) {
    range = {std::min(range.lower, *value), std::max(range.upper, 2 * *value)};
  }
  return {.kind = Guess::Kind::kTune,
          .domain = fmt::format("int: [{}, {}]{}",
                                Whole(range.lower),
                                Whole(range.upper),
                                rule.shape == Shape::kWholeLog ? ", scale: log" : ""),
          .parameter = {},
          .takes_default = range.Has(value)};
}

Guess FloatRange(const Rule& rule, std::optional<double> value) {
  Range range{rule.lower, rule.upper};
  Shape shape = rule.shape;
  if (value.has_value() && !range.Has(value)) {
    if (shape == Shape::kLog && *value > 0) {
      // Learning rates with a default of 1.0 (Adadelta) stay at most 1.
      const double most = rule.upper <= 1 && *value <= 1 ? 1 : HUGE_VAL;
      range = {*value / 100, std::min(most, *value * 100)};
    } else if (shape == Shape::kLinear) {
      range = {std::min(range.lower, *value), std::max(range.upper, *value)};
    } else if (shape == Shape::kReverseLog && *value > 0 && *value < 1) {
      shape = Shape::kLinear;  // A schedule's gamma, not a discount factor.
      range = {std::min(*value, 0.1), std::max(*value, 0.99)};
    }
  }
  const char* const scale = shape == Shape::kLog          ? ", scale: log"
                            : shape == Shape::kReverseLog ? ", scale: reverse-log"
                                                          : "";
  return {
      .kind = Guess::Kind::kTune,
      .domain = fmt::format("float: [{}, {}]{}", Number(range.lower), Number(range.upper), scale),
      .parameter = {},
      .takes_default = range.Has(value)};
}

// Bounds that the program states win over a rule. `parameter` carries "log" to OfNumber, which appends the scale.
Guess WithinOwnBounds(const ProgramOption& option, const Rule* rule, std::optional<double> value) {
  const Range range{*option.lower, *option.upper};
  const bool is_log = rule != nullptr && range.lower > 0 &&
                      (rule->shape == Shape::kLog || rule->shape == Shape::kWholeLog);
  const bool is_whole = option.type == Type::kInt;
  return {.kind = rule == nullptr ? Guess::Kind::kOffer : Guess::Kind::kTune,
          .domain = is_whole
                        ? fmt::format("int: [{}, {}]", Whole(range.lower), Whole(range.upper))
                        : fmt::format("float: [{}, {}]", Number(range.lower), Number(range.upper)),
          .parameter = is_log ? "log" : "",
          .takes_default = range.Has(value)};
}

Guess OfRule(const Rule& rule, std::optional<double> value) {
  switch (rule.shape) {
    case Shape::kDoubling:
      return Doubling(rule, value);
    case Shape::kOdd:
      return {.kind = Guess::Kind::kTune,
              .domain = "discrete: [3, 5, 7]",
              .parameter = {},
              .takes_default = value == 3.0 || value == 5.0 || value == 7.0};
    case Shape::kWhole:
    case Shape::kWholeLog:
      return WholeRange(rule, value);
    case Shape::kLinear:
    case Shape::kLog:
    case Shape::kReverseLog:
      return FloatRange(rule, value);
  }
  return {};
}

// A number without a rule: from half of its default to twice.
Guess OfDefault(const ProgramOption& option, double value) {
  // Half and twice of 0 are no range, and what a negative number means is not known.
  if (value <= 0) return {};
  const bool is_whole =
      option.type == Type::kInt || (option.type == Type::kUnknown && IsWhole(value));
  const double upper = value < 1 ? std::min(1.0, 2 * value) : 2 * value;
  // Rounding left a single value.
  if (is_whole && Whole(upper) <= Whole(std::max(1.0, std::floor(value / 2)))) return {};
  return {.kind = Guess::Kind::kOffer,
          .domain = is_whole ? fmt::format("int: [{}, {}]",
                                           Whole(std::max(1.0, std::floor(value / 2))),
                                           Whole(upper))
                             : fmt::format("float: [{}, {}]", Number(value / 2), Number(upper)),
          .parameter = {},
          .takes_default = true};
}

Guess OfChoices(const ProgramOption& option) {
  const bool are_numbers = std::ranges::all_of(
      option.choices, [](const std::string& choice) { return NumberIn(choice).has_value(); });
  std::vector<std::string> values;
  for (const std::string& choice : option.choices) {
    values.push_back(are_numbers ? choice : YamlText(choice));
  }
  const bool has = option.fallback && std::ranges::count(option.choices, *option.fallback) > 0;
  return {.kind = Guess::Kind::kTune,
          .domain = fmt::format(
              "{}: [{}]", are_numbers ? "discrete" : "categorical", fmt::join(values, ", ")),
          .parameter = {},
          .takes_default = has};
}

// A switch in the form that the program takes.
Guess OfSwitch(const ProgramOption& option) {
  Guess guess{.kind = Guess::Kind::kTune, .domain = "bool: {}", .parameter = {}};
  const std::string value = Lower(option.fallback.value_or(""));
  if (option.kind == Kind::kFlag) {
    const bool is_negative = RE2::PartialMatch(option.name, "^--no[-_]");
    const bool is_plain = option.name == "--" + ParameterName(option);
    guess.domain =
        fmt::format("bool: {{flag: {}}}", is_plain && !is_negative ? "true" : option.name);
  } else if (option.kind == Kind::kPair && (value == "true" || value == "false")) {
    guess.domain =
        fmt::format("bool: {{flag: {}}}", value == "true" ? option.negative : option.name);
  } else if (option.kind == Kind::kPair) {  // The default is unknown, so both are given explicitly.
    guess.domain =
        fmt::format("categorical: [{}, {}], arg: positional", option.name, option.negative);
  }
  guess.takes_default = option.kind != Kind::kFlag && guess.domain.starts_with("bool") &&
                        (value == "true" || value == "false");
  return guess;
}

Guess OfNumber(const ProgramOption& option, const std::string& name) {
  const std::optional<double> value = NumberIn(option.fallback);
  if (option.type == Type::kText || (option.fallback.has_value() && !value.has_value())) return {};
  const Rule* const rule = RuleFor(name);
  if (option.lower.has_value() && option.upper.has_value() && *option.lower < *option.upper) {
    Guess guess = WithinOwnBounds(option, rule, value);
    if (guess.parameter == "log") guess.domain += ", scale: log";
    return guess;
  }
  // An integer option whose rule is about fractions has the name by chance.
  const bool wants_fraction =
      rule != nullptr && (rule->shape == Shape::kLinear || rule->shape == Shape::kReverseLog ||
                          (rule->shape == Shape::kLog && rule->lower < 0.1));
  if (rule != nullptr && !(wants_fraction && option.type == Type::kInt)) {
    return OfRule(*rule, value);
  }
  return value.has_value() ? OfDefault(option, *value) : Guess();
}

Guess Judge(const ProgramOption& option) {
  const std::string name = NormalName(option);
  if (!option.obstacle.empty() || option.name == "-h") return {};
  // Before switches and rules: its name may match one of theirs, and it must not be tuned.
  if (RE2::FullMatch(name, kLength))
    return {.kind = Guess::Kind::kFix, .domain = {}, .parameter = {}};
  const bool is_switch =
      option.kind == Kind::kFlag || option.kind == Kind::kPair || option.type == Type::kBool;
  if (is_switch) return RE2::FullMatch(name, kSwitches) ? OfSwitch(option) : Guess();
  if (RuleFor(name) == nullptr && IsAboutSomethingElse(name)) return {};
  if (option.choices.size() > 1 && option.choices.size() <= kMostChoices) return OfChoices(option);
  return OfNumber(option, name);
}

}  // namespace

Guess GuessFor(const ProgramOption& option) {
  Guess guess = Judge(option);
  guess.parameter = ParameterName(option);
  return guess;
}

std::string YamlText(const std::string& text) {
  // Words such as "true" and "null" need quotes: YAML would read them as another type.
  const bool is_plain = RE2::FullMatch(text, R"([A-Za-z_./-][A-Za-z0-9_./=-]*)") &&
                        !RE2::FullMatch(text, "-+|-.*[^A-Za-z0-9].*=|[-.]+") &&
                        codec::ResolvePlainScalar(text).is_string();
  return is_plain
             ? text
             : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vernier::cli
