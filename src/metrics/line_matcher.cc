// A line that is JSON with a wanted number is only read as JSON. Any other line is searched as text for each metric in
// turn. If a name occurs several times in a line, the last value counts: a progress bar repeats its line, and the last
// state is current.

#include "src/metrics/line_matcher.h"

#include <charconv>
#include <utility>

#include "fmt/format.h"
#include "re2/re2.h"
#include "src/core/status.h"
#include "src/metrics/json_line.h"
#include "src/metrics/number.h"
#include "src/metrics/text_pairs.h"
#include "vernier/core/error.h"

namespace vernier::metrics {
namespace {

constexpr char kStepGroup[] = "step";

absl::Status BadRegex(const std::string& metric, std::string_view what) {
  return FieldError(fmt::format("metrics.{}.regex", metric), what);
}

std::optional<std::int64_t> ParseStep(std::string_view text) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return step;
}

// The number in the group of `size` bytes at `begin`. It may continue after the group ([0-9.]+ stops inside 9.5e-05),
// or the group may cut it out deliberately (45 of "45/50"); half of "0,93" is no number.
std::optional<double> ValueOf(std::string_view line, std::size_t begin, std::size_t size) {
  const std::string_view rest = line.substr(begin);
  const auto number = FindNumber(rest);
  // The group may include one more character, such as a percent sign or a comma.
  if (number.has_value() && size <= number->length + 1) return number->value;
  const bool is_half = size < rest.size() && (rest[size] == ',' || rest[size] == '.');
  if (is_half) return std::nullopt;
  const std::string_view group = rest.substr(0, size);
  const auto fraction = FindFraction(group);
  return fraction.has_value() && fraction->length == size ? fraction->value : ParseNumber(group);
}

bool IsReadFromOutput(MetricSourceKind kind) {
  return kind == MetricSourceKind::kName || kind == MetricSourceKind::kAfter ||
         kind == MetricSourceKind::kJson || kind == MetricSourceKind::kRegex;
}

}  // namespace

absl::StatusOr<MetricExpression> MetricExpression::Compile(const std::string& metric,
                                                           const std::string& regex) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // Programs print arbitrary bytes.
  auto compiled = std::make_unique<RE2>(regex, options);
  if (!compiled->ok()) {
    return BadRegex(metric, fmt::format("'{}' does not compile: {}", regex, compiled->error()));
  }
  const auto& names = compiled->NamedCapturingGroups();
  const auto step = names.find(kStepGroup);
  const int step_group = step == names.end() ? 0 : step->second;
  // Group 0 is the whole match.
  const int value_group = step_group == 1 ? 2 : 1;
  if (compiled->NumberOfCapturingGroups() < value_group) {
    return BadRegex(
        metric,
        fmt::format("'{}' must have a group for the value, as in 'loss is (\\S+)'; for a "
                    "number behind a text, after: 'loss=' does without",
                    regex));
  }
  return MetricExpression(std::move(compiled), value_group, step_group);
}

MetricExpression::MetricExpression(std::unique_ptr<re2::RE2> regex, int value_group, int step_group)
    : regex_(std::move(regex)), value_group_(value_group), step_group_(step_group) {}
MetricExpression::~MetricExpression() = default;
MetricExpression::MetricExpression(MetricExpression&& other) noexcept = default;

std::optional<MetricExpression::Match> MetricExpression::Find(std::string_view line) const {
  // Debian's RE2 takes its own StringPiece, not std::string_view.
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(regex_->NumberOfCapturingGroups()) +
                                       1);
  const re2::StringPiece text(line.data(), line.size());
  std::optional<Match> last;
  for (std::size_t from = 0;
       from <= line.size() && regex_->Match(text,
                                            from,
                                            text.size(),
                                            RE2::UNANCHORED,
                                            groups.data(),
                                            static_cast<int>(groups.size()));) {
    const auto group = [&](int i) {
      const re2::StringPiece& piece = groups[static_cast<std::size_t>(i)];
      return std::string_view(piece.data(), piece.size());
    };
    const auto begin_of = [&](int i) {
      return static_cast<std::size_t>(groups[static_cast<std::size_t>(i)].data() - line.data());
    };
    const std::size_t end = begin_of(0) + group(0).size();
    // Always advance, even after an empty match.
    from = end > from ? end : from + 1;
    // The group belongs to an alternative that did not match.
    if (group(value_group_).data() == nullptr) continue;
    const auto value = ValueOf(line, begin_of(value_group_), group(value_group_).size());
    if (!value.has_value()) continue;
    Match match{.value = *value};
    if (step_group_ != 0) {
      match.step = ParseStep(group(step_group_));
      if (!match.step.has_value()) continue;
    }
    last = match;
  }
  return last;
}

absl::StatusOr<LineMatcher> LineMatcher::Create(const std::vector<WantedMetric>& wanted) {
  LineMatcher matcher;
  for (const WantedMetric& each : wanted) {
    if (!IsReadFromOutput(each.source.kind)) continue;
    Metric metric{.wanted = each};
    if (each.source.kind == MetricSourceKind::kRegex) {
      VERNIER_ASSIGN_OR_RETURN(auto expression,
                               MetricExpression::Compile(each.name, each.source.text));
      metric.expression.emplace(std::move(expression));
    }
    if (each.source.kind == MetricSourceKind::kName) matcher.names_.push_back(each.name);
    matcher.metrics_.push_back(std::move(metric));
  }
  return matcher;
}

LineFindings LineMatcher::Match(std::string_view line) const {
  LineFindings findings;
  const std::optional<JsonLine> json = ParseJsonLine(line);
  if (json.has_value()) {
    for (const Metric& metric : metrics_) {
      const MetricSourceKind kind = metric.wanted.source.kind;
      if (kind != MetricSourceKind::kName && kind != MetricSourceKind::kJson) continue;
      const auto found = json->numbers.find(
          kind == MetricSourceKind::kJson ? metric.wanted.source.text : metric.wanted.name);
      if (found == json->numbers.end()) continue;
      findings.values[metric.wanted.name] = {.value = found->second, .step = json->step};
      findings.source = kJsonSource;
    }
    if (!findings.values.empty()) return findings;
  }
  for (const Metric& metric : metrics_) {
    // In JSON lines a name is a path: "acc" does not match {"train": {"acc": 1}}.
    const bool is_path = json.has_value() && metric.wanted.source.kind == MetricSourceKind::kName;
    if (!is_path) MatchText(line, metric, findings);
  }
  findings.source = kLogSource;
  return findings;
}

void LineMatcher::MatchText(std::string_view line, const Metric& metric, LineFindings& findings) {
  const std::string& name = metric.wanted.name;
  if (metric.expression.has_value()) {
    const auto match = metric.expression->Find(line);
    if (!match.has_value()) return;
    findings.values[name] = {.value = match->value,
                             .step = match->step.has_value() ? match->step : FindStep(line)};
    return;
  }
  const MetricSourceKind kind = metric.wanted.source.kind;
  if (kind == MetricSourceKind::kJson) return;
  if (kind == MetricSourceKind::kName) {
    MatchName(line, name, findings);
    return;
  }
  const NamedValue found = FindAfter(line, metric.wanted.source.text);
  if (found.value.has_value()) {
    findings.values[name] = {.value = *found.value, .step = FindStep(line)};
  } else if (found.is_there) {
    findings.unparsed.push_back(name);
  }
}

void LineMatcher::MatchName(std::string_view line,
                            const std::string& name,
                            LineFindings& findings) {
  const NamedValues found = FindNamed(line, name);
  if (!found.is_there) return;
  if (found.bare.has_value()) {
    findings.values[name] = {.value = *found.bare, .step = FindStep(line)};
  }
  if (found.qualified.has_value()) {
    findings.qualified[name] = {.name = std::string(found.qualified->name),
                                .head = std::string(found.qualified->head),
                                .value = {.value = found.qualified->value, .step = FindStep(line)}};
  }
  if (!found.bare.has_value() && !found.qualified.has_value()) findings.unparsed.push_back(name);
}

}  // namespace vernier::metrics
