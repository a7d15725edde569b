#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/metrics/wanted_metric.h"

namespace re2 {
class RE2;
}

namespace vernier::metrics {

// A regular expression (RE2) that finds one metric. The value is the first group that is not named `step`; the step is the
// group named `step`.
class MetricExpression {
 public:
  // InvalidArgument: a FieldError "metrics.NAME.regex": it does not compile, or has no group for the value.
  static absl::StatusOr<MetricExpression> Compile(const std::string& metric,
                                                  const std::string& regex);
  ~MetricExpression();
  MetricExpression(MetricExpression&& other) noexcept;

  struct Match {
    double value = 0;
    std::optional<std::int64_t> step;
  };
  // The last match of the line whose group begins a number. Where the group ends inside the number, as [0-9.]+ does in
  // 9.5e-05, the whole number counts.
  std::optional<Match> Find(std::string_view line) const;

 private:
  MetricExpression(std::unique_ptr<re2::RE2> regex, int value_group, int step_group);

  std::unique_ptr<re2::RE2> regex_;
  int value_group_;
  int step_group_;  // 0: none.
};

// What a line of output says of the wanted metrics.
struct LineFindings {
  struct Value {
    double value = 0;
    std::optional<std::int64_t> step;  // As the line says it.
  };
  // A metric's name behind a word that makes another metric of it: "val loss" for "loss".
  struct Worded {
    std::string name;
    std::string head;  // Up to the number.
    Value value;
  };
  std::map<std::string, Value> values;   // By metric.
  std::map<std::string, Worded> worded;  // By metric.
  std::string_view source;               // kLogSource or kJsonSource, if there are any.
  std::vector<std::string> unparsed;     // Metrics whose name stands there without a number.
};

// Finds metrics in lines of output: by name, after a text, under a path of JSON lines, by regular expressions. Const calls
// may run concurrently.
class LineMatcher {
 public:
  // Those of `wanted` that are read from output.  InvalidArgument: as MetricExpression::Compile.
  static absl::StatusOr<LineMatcher> Create(const std::vector<WantedMetric>& wanted);

  LineFindings Match(std::string_view line) const;
  // Of the metrics that are found by their names.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Metric {
    WantedMetric wanted;
    std::optional<MetricExpression> expression;  // With kRegex.
  };
  static void MatchText(std::string_view line, const Metric& metric, LineFindings& findings);
  static void MatchName(std::string_view line, const std::string& name, LineFindings& findings);

  std::vector<Metric> metrics_;
  std::vector<std::string> names_;
};

}  // namespace vernier::metrics
