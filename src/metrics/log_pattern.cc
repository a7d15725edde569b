#include "src/metrics/log_pattern.h"

#include <charconv>
#include <map>
#include <utility>

#include "fmt/format.h"
#include "re2/re2.h"
#include "src/base/output_line.h"
#include "src/core/status.h"
#include "src/metrics/input.h"
#include "vernier/core/error.h"

namespace vernier::metrics {
namespace {

constexpr std::size_t kUnmatchedKept = 20;
// A program's message to its user needs no more of a line.
constexpr std::size_t kUnmatchedLength = 400;
// How much is read at a time: bounds what one step of the engine spends on a program that prints a lot.
constexpr std::int64_t kChunk = 1 << 22;

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

}  // namespace

absl::StatusOr<LogPattern> LogPattern::Compile(const std::string& metric,
                                               const std::string& regex) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // Programs print any bytes.
  auto compiled = std::make_unique<RE2>(regex, options);
  if (!compiled->ok()) {
    return BadRegex(metric, fmt::format("'{}' does not compile: {}", regex, compiled->error()));
  }
  const auto& names = compiled->NamedCapturingGroups();
  const auto step = names.find(kStepGroup);
  const int step_group = step == names.end() ? 0 : step->second;
  const int value_group = step_group == 1 ? 2 : 1;
  if (compiled->NumberOfCapturingGroups() < value_group) {
    return BadRegex(
        metric, fmt::format("'{}' must have a group for the value, as in 'loss=([0-9.]+)'", regex));
  }
  return LogPattern(metric, std::move(compiled), value_group, step_group);
}

LogPattern::LogPattern(std::string metric,
                       std::unique_ptr<re2::RE2> regex,
                       int value_group,
                       int step_group)
    : metric_(std::move(metric)),
      regex_(std::move(regex)),
      value_group_(value_group),
      step_group_(step_group) {}
LogPattern::~LogPattern() = default;
LogPattern::LogPattern(LogPattern&& other) noexcept = default;

std::optional<LogPattern::Match> LogPattern::Find(std::string_view line) {
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(regex_->NumberOfCapturingGroups()) +
                                       1);
  const re2::StringPiece text(line.data(), line.size());
  if (!regex_->Match(
          text, 0, text.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  const auto group = [&](int i) {
    const re2::StringPiece& piece = groups[static_cast<std::size_t>(i)];
    return std::string_view(piece.data(), piece.size());
  };
  const std::optional<double> value = ParseNumber(group(value_group_));
  if (!value.has_value()) return std::nullopt;
  if (step_group_ == 0) return Match{++matches_, *value};
  const std::optional<std::int64_t> step = ParseStep(group(step_group_));
  if (!step.has_value()) return std::nullopt;
  return Match{*step, *value};
}

LogPatternReader::LogPatternReader(const std::string& path,
                                   std::vector<LogPattern> patterns,
                                   std::optional<Measurement> known)
    : output_(path), patterns_(std::move(patterns)), known_(std::move(known)) {}

absl::StatusOr<std::vector<Measurement>> LogPatternReader::Read() {
  std::vector<Measurement> found;
  for (;;) {
    VERNIER_ASSIGN_OR_RETURN(const auto chunk, output_.Read(kChunk));
    if (chunk.dropped > 0) PassGap();
    if (chunk.lines.empty()) return found;
    std::string_view rest = chunk.lines;
    for (std::size_t newline = 0; (newline = rest.find('\n')) != std::string_view::npos;) {
      ReadLine(rest.substr(0, newline), found);
      rest.remove_prefix(newline + 1);
    }
  }
}

// Nobody can count what is gone; but an earlier reader may have, while it was there.
void LogPatternReader::PassGap() {
  if (!known_.has_value()) return;
  known_until_ = known_->time;
  for (LogPattern& pattern : patterns_) pattern.CountFrom(known_->step);
}

void LogPatternReader::ReadLine(std::string_view line, std::vector<Measurement>& found) {
  const std::optional<base::OutputLine> output = base::ParseOutputLine(line);
  if (!output.has_value() || output->time <= known_until_) return;
  std::map<std::int64_t, Measurement> by_step;
  for (LogPattern& pattern : patterns_) {
    const std::optional<LogPattern::Match> match = pattern.Find(output->text);
    if (!match.has_value()) continue;
    Measurement& measurement = by_step[match->step];
    measurement.step = match->step;
    measurement.time = output->time;
    measurement.source = "log";
    measurement.metrics[pattern.metric()] = match->value;
  }
  for (auto& [step, measurement] : by_step) found.push_back(std::move(measurement));
  if (!by_step.empty()) return;
  unmatched_.emplace_back(output->text.substr(0, kUnmatchedLength));
  if (unmatched_.size() > kUnmatchedKept) unmatched_.pop_front();
}

std::vector<std::string> LogPatternReader::UnmatchedLines() const {
  return {unmatched_.begin(), unmatched_.end()};
}

}  // namespace vernier::metrics
