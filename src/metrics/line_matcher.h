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

// A regular expression (RE2) that finds one metric. The value is the first group that is not named `step`; the step is
// the group named `step`. RE2 runs in linear time, so that no expression can stall the engine.
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
  // The last match in the line whose group starts with a number. If the group ends inside the number, as [0-9.]+ does
  // in 9.5e-05, the whole number counts.
  std::optional<Match> Find(std::string_view line) const;

 private:
  MetricExpression(std::unique_ptr<re2::RE2> regex, int value_group, int step_group);

  std::unique_ptr<re2::RE2> regex_;
  int value_group_;
  int step_group_;  // 0: none.
};

// The values of wanted metrics in a line.
struct LineFindings {
  struct Value {
    double value = 0;
    std::optional<std::int64_t> step;  // The step stated in the line.
  };
  // A metric's name after a word that may make it another metric: "val loss" for "loss".
  struct QualifiedName {
    std::string name;
    std::string head;  // Text up to the number.
    Value value;
  };
  std::map<std::string, Value> values;             // By metric.
  std::map<std::string, QualifiedName> qualified;  // By metric.
  std::string_view source;            // kLogSource or kJsonSource, if there are values.
  std::vector<std::string> unparsed;  // Metrics whose name has no number after it.
};

// Finds metrics in lines of output: by name, after a text, by path in JSON lines, by regular expression. Const calls
// may run concurrently.
class LineMatcher {
 public:
  // Uses the metrics of `wanted` that are read from output.  InvalidArgument: as MetricExpression::Compile.
  static absl::StatusOr<LineMatcher> Create(const std::vector<WantedMetric>& wanted);

  LineFindings Match(std::string_view line) const;
  // Names of the metrics that are found by name.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Metric {
    WantedMetric wanted;
    std::optional<MetricExpression> expression;  // For kRegex.
  };
  static void MatchText(std::string_view line, const Metric& metric, LineFindings& findings);
  static void MatchName(std::string_view line, const std::string& name, LineFindings& findings);

  std::vector<Metric> metrics_;
  std::vector<std::string> names_;
};

}  // namespace vernier::metrics
