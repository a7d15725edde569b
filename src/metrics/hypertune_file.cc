#include "src/metrics/hypertune_file.h"

#include <cmath>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/core/status.h"
#include "src/metrics/number.h"
#include "src/metrics/regular_file.h"
#include "src/metrics/wanted_metric.h"

namespace vernier::metrics {
namespace {

using nlohmann::json;

// Bytes read of the file. A choice, far more than 100 reports have.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 24;

// The package's default metric tag (hypertune.report_hyperparameter_tuning_metric).
constexpr std::string_view kUnnamed = "training/hptuning/metric";

// Fields of the package's lines beside the metric.
bool IsReserved(std::string_view key) {
  return key == "checkpoint_path" || key == "global_step" || key == "timestamp" || key == "trial";
}

// The package writes numbers as text ("nan" included); other writers use JSON numbers.
std::optional<double> NumberOf(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return ParseNumber(value.get_ref<const std::string&>());
  return std::nullopt;
}

std::int64_t StepOf(const json& line) {
  const auto step = line.find("global_step");
  const double number = step == line.end() ? 0 : NumberOf(*step).value_or(0);
  // Below 2^63, so that the conversion is defined.
  constexpr double kMost = 9e18;
  return std::abs(number) < kMost ? static_cast<std::int64_t>(number) : 0;
}

std::optional<absl::Time> TimeOf(const json& line) {
  const auto stamp = line.find("timestamp");
  if (stamp == line.end() || !stamp->is_number()) return std::nullopt;
  const double seconds = stamp->get<double>();
  if (!std::isfinite(seconds)) return std::nullopt;
  return absl::UnixEpoch() + absl::Microseconds(std::llround(seconds * 1e6));
}

// Parses a line, or returns why it is no report.
absl::StatusOr<Measurement> ParseLine(std::string_view text, std::string_view objective) {
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return InvalidArgument("is no JSON object");
  const std::optional<absl::Time> time = TimeOf(line);
  if (!time.has_value()) return InvalidArgument("has no number 'timestamp' (seconds)");
  Measurement measurement{.step = StepOf(line), .time = *time, .source = kHypertuneSource};
  for (const auto& [key, value] : line.items()) {
    const std::optional<double> number = IsReserved(key) ? std::nullopt : NumberOf(value);
    if (!number.has_value()) continue;
    measurement.metrics[key == kUnnamed ? std::string(objective) : key] = *number;
  }
  if (measurement.metrics.empty()) return InvalidArgument("has no metric with a number");
  return measurement;
}

std::string Names(const Measurement& measurement) {
  std::string names;
  for (const auto& [name, value] : measurement.metrics) names += name + '\n';
  return names;
}

}  // namespace

std::vector<Measurement> ParseHypertune(std::string_view contents,
                                        std::string_view objective,
                                        std::vector<std::string>* ignored) {
  // Choices: enough for a message to the user.
  constexpr std::size_t kMostIgnored = 5;
  constexpr std::size_t kShown = 120;
  std::vector<Measurement> measurements;
  for (std::size_t newline = 0; (newline = contents.find('\n')) != std::string_view::npos;) {
    const std::string_view line = contents.substr(0, newline);
    absl::StatusOr<Measurement> measurement = ParseLine(line, objective);
    if (measurement.ok()) {
      measurements.push_back(*std::move(measurement));
    } else if (ignored != nullptr && ignored->size() < kMostIgnored) {
      ignored->push_back(fmt::format("the line '{}' of the hypertune file {}",
                                     line.substr(0, kShown),
                                     std::string(measurement.status().message())));
    }
    contents.remove_prefix(newline + 1);
  }
  return measurements;
}

std::string HypertuneLine(const Measurement& measurement) {
  json line = {{"timestamp", absl::ToDoubleSeconds(measurement.time - absl::UnixEpoch())},
               {"global_step", std::to_string(measurement.step)}};
  for (const auto& [name, value] : measurement.metrics) {
    // JSON has no nan and no infinity: they are text, as in the package's lines.
    if (std::isfinite(value)) {
      line[name] = value;
    } else {
      line[name] = fmt::format("{}", value);
    }
  }
  return line.dump() + "\n";
}

HypertuneReader::HypertuneReader(std::string path, std::string objective)
    : path_(std::move(path)), objective_(std::move(objective)) {}

absl::StatusOr<std::vector<Measurement>> HypertuneReader::Read() {
  std::vector<Measurement> fresh;
  // The content is compared: neither size nor time of change is proof, since reports of equal length can follow within
  // one tick.
  VERNIER_ASSIGN_OR_RETURN(std::string contents, ReadRegularFile(path_, 0, kMostBytes));
  if (contents == last_contents_) return fresh;
  ignored_.clear();
  for (Measurement& measurement : ParseHypertune(contents, objective_, &ignored_)) {
    if (seen_.emplace(measurement.time, measurement.step, Names(measurement)).second) {
      fresh.push_back(std::move(measurement));
    }
  }
  last_contents_ = std::move(contents);
  return fresh;
}

}  // namespace vernier::metrics
