// Finds metrics in calls that report: print, loggers, progress bars, TensorBoard, Lightning, wandb. A format string is
// rendered with a mark in place of each value, so that "acc: {a:.2f}" becomes a text in which a name stands before a
// value, as the metric readers will see it in the output. From all found metrics the likeliest objective is chosen by
// name.

#include "src/cli/init/source_metrics.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "re2/re2.h"
#include "src/cli/init/python_text.h"
#include "src/cli/init/words.h"

namespace vernier::cli {
namespace {

constexpr char kValue = '\x01';  // Marks a value in a rendered text; no source contains it.

// Ways of reporting a metric, the easiest to read first.
enum class Way { kPrinted, kPrintedBehindBlank, kWritten, kSentAway };

struct Found {
  SourceMetric metric;
  int rank = 0;
  Way way = Way::kPrinted;
};

// Normal form of a name: "val/f1", "Val-F1" and "f1_val" become "val_f1".
std::string PlainName(std::string_view name) {
  std::string plain = Lower(name);
  for (char& c : plain) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  std::string metric;
  std::string set;
  if (RE2::FullMatch(plain, "(.+)_(val|valid|validation|eval|dev|test|train)", &metric, &set)) {
    return set + "_" + metric;
  }
  return plain;
}

// Rank as the objective, smaller is likelier; nothing: not a metric. Validation before test before others before
// training, and scores before losses.
std::optional<int> RankOf(const std::string& plain) {
  static const RE2& metric = *new RE2(
      R"((?:.*_)?(acc|accuracy|top1|auc|auroc|f1|f1_score|score|bleu|rouge|map|iou|dice|r2|)"
      R"(return|reward|loss|error|err|rmse|mse|mae|nll|perplexity|ppl)(?:_\d+)?)");
  if (!RE2::FullMatch(plain, metric)) return std::nullopt;
  if (RE2::PartialMatch(plain, "train|running|batch|step|epoch_|avg")) {
    return IsMaximized(plain) ? 6 : 7;
  }
  const bool is_held_out = RE2::PartialMatch(plain, "^(val|valid|validation|dev|eval)(_|$)");
  const bool is_test = RE2::PartialMatch(plain, "^test(_|$)");
  const int base = is_held_out ? 0 : is_test ? 2 : 4;
  return base + (IsMaximized(plain) ? 0 : 1);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

// The output of an f-string's field: a value, preceded by the expression's text for "{acc=}".
std::string OfField(std::string_view field) {
  std::string shown;
  const bool tells = RE2::FullMatch(
      re2::StringPiece(field.data(), field.size()), R"(\s*([\w.]+\s*=)\s*(?::.*)?)", &shown);
  return (tells ? shown : "") + kValue;
}

// A literal's text as printed, with kValue for each inserted value. Handles f-strings, str.format and %.
std::string Rendered(std::string_view content) {
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const char c = content[i];
    const char next = i + 1 < content.size() ? content[i + 1] : '\0';
    if (c == '\\' && next != '\0') {
      text += next == 'n' || next == 'r' ? '\n' : next == 't' ? '\t' : next;
      ++i;
    } else if ((c == '{' || c == '%') && next == c) {
      text += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = std::min(content.find('}', i), content.size());
      text += OfField(content.substr(i + 1, end - i - 1));
      i = end;
    } else if (c == '%') {
      static const RE2& conversion = *new RE2(R"(%[-+ #0]*\d*(?:\.\d+)?[diouxXeEfFgGrs])");
      re2::StringPiece rest(content.data() + i, content.size() - i);
      const std::size_t size = rest.size();
      text += RE2::Consume(&rest, conversion) ? kValue : c;
      if (text.back() == kValue) i += size - rest.size() - 1;
    } else {
      text += c;
    }
  }
  return text;
}

class Search {
 public:
  explicit Search(std::string_view source) : source_(source) {}

  std::vector<SourceMetric> Run() {
    static const RE2& call = *new RE2(
        R"(([A-Za-z_][\w.]*\.)?\b(print|log|log_dict|log_metrics?|info|warning|debug|write|secho|echo|)"
        R"(report\w*|add_scalar|scalar|dumps?|set_postfix|set_postfix_str|set_description|metrics?)\s*\()");
    re2::StringPiece rest(source_.data(), source_.size());
    std::string object;
    std::string function;
    while (RE2::FindAndConsume(&rest, call, &object, &function)) {
      const auto at = static_cast<std::size_t>(rest.data() - source_.data());
      TakeCall(object, function, at);
    }
    std::ranges::stable_sort(found_, {}, &Found::rank);
    std::vector<SourceMetric> metrics;
    for (Found& found : found_) metrics.push_back(std::move(found.metric));
    return metrics;
  }

 private:
  void TakeCall(const std::string& object, const std::string& function, std::size_t at) {
    const Call call = ReadCall(source_, at);
    const std::string first = call.plain.empty() ? "" : call.plain.front();
    if (function == "set_postfix") {
      for (const auto& [name, value] : call.named) AddNamed(name);
    }
    if (function == "add_scalar" || function == "scalar") {
      if (const auto tag = LiteralOf(first)) AddScalar(*tag, FolderOfWriter());
      return;
    }
    // Lightning shows a metric in its progress bar only with prog_bar=True; otherwise it goes to event files below
    // lightning_logs.
    const bool is_lightning = object == "self." && (function == "log" || function == "log_dict");
    const auto bar = call.named.find("prog_bar");
    const std::vector<std::string> names = NamesIn(first);
    if (is_lightning && !names.empty() && (bar == call.named.end() || bar->second != "True")) {
      for (const std::string& name : names) AddScalar(name, "lightning_logs");
      return;
    }
    const bool is_sent = object == "wandb." || object == "mlflow." || object == "run.";
    if (is_sent && function.starts_with("log")) {
      for (const std::string& name : names) AddSent(name, object + function);
      return;
    }
    const bool joins_by_blanks = function == "print" || function == "echo" || function == "secho";
    for (const std::string& argument : call.plain) {
      TakeTexts(argument, joins_by_blanks && &argument != &call.plain.back());
    }
    for (const auto& [name, value] : call.named) {
      if (function.starts_with("report") || name == "str" || name == "msg") TakeTexts(value, false);
    }
  }

  // Reads the literals of an expression. `has_value_behind`: a value follows after a blank, as print puts one between
  // its arguments.
  void TakeTexts(std::string_view expression, bool has_value_behind) {
    for (std::size_t at = 0; at < expression.size(); ++at) {
      const char c = expression[at];
      if (c != '\'' && c != '"') continue;
      const std::size_t end = EndOfLiteral(expression, at);
      const std::size_t quotes =
          end - at >= 6 && expression.substr(at, 3) == std::string(3, c) ? 3 : 1;
      if (end >= at + 2 * quotes) {
        const std::string_view content = expression.substr(at + quotes, end - at - 2 * quotes);
        const std::string_view behind = Stripped(expression.substr(end));
        const bool is_key = behind.starts_with(":");
        const bool is_whole = at <= 2 && behind.empty();
        if (RE2::FullMatch(re2::StringPiece(content.data(), content.size()),
                           R"([A-Za-z][\w./-]*)") &&
            (is_key || (is_whole && !has_value_behind))) {
          AddNamed(std::string(content));
        } else {
          TakeText(Rendered(content) +
                   (is_whole && has_value_behind ? std::string(" ") + kValue : ""));
        }
      }
      at = end - 1;
    }
  }

  // Names followed by a separator or a value, and the word before each.
  void TakeText(const std::string& text) {
    static const RE2& name =
        *new RE2("(?:\\b([A-Za-z]+) )?\\b([A-Za-z][\\w./-]*)( ?[=:]|[ \\t]+\\x01)");
    re2::StringPiece rest(text);
    std::string word;
    std::string found;
    std::string behind;
    while (RE2::FindAndConsume(&rest, name, &word, &found, &behind)) {
      // "best acc: 0.9" is not the current value.
      if (RE2::FullMatch(Lower(word), "best|old|previous|last|max|min|target")) continue;
      const bool is_set =
          RE2::FullMatch(Lower(word), "val|valid|validation|eval|dev|test|train|training");
      const bool is_behind_blank = behind.back() == kValue;
      if (!is_set && !is_behind_blank) {
        AddNamed(found);
        continue;
      }
      const std::string shown = is_set ? fmt::format("{} {}", word, found) : found;
      const std::string after = fmt::format("{}{}", shown, is_behind_blank ? " " : behind);
      Add({.name = is_set ? PlainName(shown) : found,
           .entry = fmt::format("{{after: {}}}", Quoted(after)),
           .caveat = {}},
          is_behind_blank ? Way::kPrintedBehindBlank : Way::kPrinted);
    }
  }

  // Names in "val_loss", and in {"val_loss": x, "val_acc": y}.
  static std::vector<std::string> NamesIn(const std::string& expression) {
    if (const auto name = LiteralOf(expression)) return {*name};
    static const RE2& key = *new RE2(R"re(['"]([A-Za-z][\w./-]*)['"]\s*:)re");
    std::vector<std::string> names;
    re2::StringPiece rest(expression);
    std::string name;
    while (RE2::FindAndConsume(&rest, key, &name)) names.push_back(name);
    return names;
  }

  // Folder of event files of a writer without further arguments; nothing: it is computed. "runs" is the default of
  // PyTorch's SummaryWriter.
  std::optional<std::string> FolderOfWriter() const {
    static const RE2& writer = *new RE2(R"(\b(SummaryWriter|create_file_writer)\s*\()");
    re2::StringPiece rest(source_.data(), source_.size());
    std::string function;
    if (!RE2::FindAndConsume(&rest, writer, &function)) return std::nullopt;
    const Call call = ReadCall(source_, static_cast<std::size_t>(rest.data() - source_.data()));
    for (const char* const key : {"log_dir", "logdir"}) {
      const auto named = call.named.find(key);
      if (named != call.named.end()) return LiteralOf(named->second);
    }
    return call.plain.empty() ? "runs" : LiteralOf(call.plain.front());
  }

  void AddNamed(const std::string& name) {
    Add({.name = name, .entry = {}, .caveat = {}}, Way::kPrinted);
  }

  void AddScalar(const std::string& tag, const std::optional<std::string>& folder) {
    const std::string name = RE2::FullMatch(tag, R"([A-Za-z]\w*)") ? tag : PlainName(tag);
    Add({.name = name,
         .entry = folder.has_value()
                      ? fmt::format("{{tfevents: {}, folder: {}}}", Quoted(tag), Quoted(*folder))
                      : fmt::format("{{tfevents: {}}}", Quoted(tag)),
         .caveat = folder.has_value()
                       ? fmt::format("event files must be below {}, and trials run one at a time",
                                     *folder)
                       : "event files must be below $VERNIER_REPLICA_DIRECTORY or --job-dir"},
        Way::kWritten);
  }

  void AddSent(const std::string& name, const std::string& function) {
    Add({.name = name,
         .entry = {},
         .caveat =
             fmt::format("{} prints nothing: let the program print {}=0.93, too", function, name)},
        Way::kSentAway);
  }

  // Adds a metric. If it is reported in several ways, the easiest one is kept.
  void Add(SourceMetric metric, Way way) {
    const std::optional<int> rank = RankOf(PlainName(metric.name));
    if (!rank.has_value()) return;
    const auto known = std::ranges::find(
        found_, metric.name, [](const Found& found) { return found.metric.name; });
    if (known == found_.end()) {
      found_.push_back({.metric = std::move(metric), .rank = *rank, .way = way});
    } else if (way < known->way) {
      known->metric = std::move(metric);
      known->way = way;
    }
  }

  const std::string_view source_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<SourceMetric> MetricsIn(std::string_view source) { return Search(source).Run(); }

bool IsMaximized(std::string_view metric) {
  return !RE2::PartialMatch(PlainName(metric),
                            R"((^|_)(loss|error|err|rmse|mse|mae|nll|perplexity|ppl)(_|$))");
}

}  // namespace vernier::cli
