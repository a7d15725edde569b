// A measurement is held back until it is complete, since metrics of one step are often printed on several lines, and a
// progress bar overwrites its line. Held time is compared with the lines' own stamps, never with a clock: a reader that
// starts anew after a restart finds the same measurements again, and the study can skip them.

#include "src/metrics/output_reader.h"

#include <algorithm>
#include <utility>

#include "src/base/output_line.h"
#include "src/base/terminal_text.h"
#include "src/core/status.h"
#include "src/metrics/json_line.h"
#include "src/metrics/text_pairs.h"

namespace vernier::metrics {
namespace {

// Lines kept for the message of a trial without a metric. A choice: about a screen.
constexpr std::size_t kUnmatchedKept = 20;
// Bytes kept of such a line. A choice: more is not shown.
constexpr std::size_t kUnmatchedLength = 400;
// Bytes read per call. A choice: bounds the time that one step of the engine spends on a program that prints much.
constexpr std::int64_t kChunk = 1 << 22;
// Time that a measurement is held back for more metrics of the same step. A choice: a program prints them together.
constexpr absl::Duration kHeldFor = absl::Seconds(1);

bool ShareMetric(const Measurement& a, const std::map<std::string, double>& b) {
  return std::ranges::any_of(b, [&](const auto& entry) { return a.metrics.contains(entry.first); });
}

}  // namespace

LineCollector::LineCollector(LineMatcher matcher, Sightings& sightings)
    : matcher_(std::move(matcher)), sightings_(sightings) {}

void LineCollector::CountFrom(std::int64_t step) {
  least_count_ = std::max(least_count_, step);
  for (auto& [metric, count] : counts_) count = std::max(count, step);
}

void LineCollector::Take(absl::Time time, std::string_view line, std::vector<Measurement>& found) {
  for (const base::TerminalLine& part : base::SplitTerminalLine(line)) {
    TakeText(time, part.text, part.overwritten, found);
  }
}

void LineCollector::Flush(std::vector<Measurement>& found) {
  if (!held_.has_value()) return;
  found.push_back(std::move(held_->measurement));
  held_.reset();
}

void LineCollector::TakeText(absl::Time time,
                             std::string_view text,
                             bool overwritten,
                             std::vector<Measurement>& found) {
  if (held_.has_value() && time - held_->since >= kHeldFor) Flush(found);
  LineFindings findings = matcher_.Match(text);
  Settle(findings);
  NoteOthers(text, findings);
  if (findings.values.empty()) {
    if (const auto heading = FindHeader(text)) heading_ = heading;
    NoteUnmatched(text, overwritten, findings);
    return;
  }
  // Within an epoch the bar counts batches: they are no steps of the curve.
  const std::optional<std::int64_t> bar =
      heading_.has_value() ? std::nullopt : FindBarPosition(text);
  std::map<std::pair<StepOrigin, std::int64_t>, LineValues> groups;
  for (const auto& [metric, value] : findings.values) {
    sightings_.Found(metric, findings.source);
    const std::optional<std::int64_t> said = Said(metric, value, text);
    const bool is_at_bar = bar.has_value() && !fractional_.contains(metric);
    const StepOrigin origin = said.has_value() ? StepOrigin::kSaid
                              : is_at_bar      ? StepOrigin::kBar
                                               : StepOrigin::kCounted;
    const std::int64_t step = said.has_value() ? *said : is_at_bar ? *bar : Count(metric);
    LineValues& group = groups[{origin, step}];
    group = {.time = time,
             .source = findings.source,
             .overwritten = overwritten,
             .origin = origin,
             .step = step,
             .metrics = std::move(group.metrics)};
    group.metrics[metric] = value.value;
  }
  for (const auto& [key, group] : groups) TakeValues(group, found);
}

std::optional<std::int64_t> LineCollector::Said(const std::string& metric,
                                                const LineFindings::Value& value,
                                                std::string_view text) {
  if (fractional_.contains(metric)) return std::nullopt;
  if (!value.step.has_value() && StatesFraction(text)) {
    fractional_.insert(metric);
    // Whole steps may have come before.
    std::int64_t& count = counts_.try_emplace(metric, least_count_).first->second;
    count = std::max(count, said_[metric]);
    return std::nullopt;
  }
  const std::optional<std::int64_t> said = value.step.has_value() ? value.step : heading_;
  if (said.has_value()) said_[metric] = std::max(said_[metric], *said);
  return said;
}

void LineCollector::Settle(LineFindings& findings) {
  if (findings.source == kJsonSource) return;
  for (const auto& [metric, value] : findings.values) bare_.insert(metric);
  for (const auto& [metric, qualified] : findings.qualified) {
    if (bare_.contains(metric)) {
      sightings_.PassedOver(metric, qualified.name, qualified.head, qualified.value.value);
    } else {
      findings.values[metric] = qualified.value;
    }
  }
}

// A line that overwrites the previous one continues the same report until the next second.
std::int64_t LineCollector::Count(const std::string& metric) {
  std::int64_t& count = counts_.try_emplace(metric, least_count_).first->second;
  const bool goes_on = held_.has_value() && held_->origin == StepOrigin::kCounted &&
                       held_->overwritten && held_->measurement.metrics.contains(metric);
  return goes_on ? count : ++count;
}

bool LineCollector::Joins(const LineValues& values) const {
  if (!held_.has_value() || held_->origin != values.origin ||
      held_->measurement.source != values.source) {
    return false;
  }
  // The states of one bar are one report, whatever their positions: the last one within the second counts.
  if (held_->overwritten && values.origin == StepOrigin::kBar) return true;
  if (held_->measurement.step != values.step) return false;
  return held_->overwritten || !ShareMetric(held_->measurement, values.metrics);
}

void LineCollector::TakeValues(const LineValues& values, std::vector<Measurement>& found) {
  if (!Joins(values)) {
    Flush(found);
    held_ = Held{.measurement = {.source = std::string(values.source)},
                 .since = values.time,
                 .origin = values.origin};
  }
  for (const auto& [metric, value] : values.metrics) held_->measurement.metrics[metric] = value;
  held_->measurement.step = values.step;
  held_->measurement.time = values.time;
  held_->overwritten = values.overwritten;
  // Nothing can join a counted value on a line that is not overwritten.
  if (values.origin == StepOrigin::kCounted && !values.overwritten) Flush(found);
}

void LineCollector::NoteOthers(std::string_view text, const LineFindings& findings) {
  if (!sightings_.is_searching()) return;
  if (const auto json = ParseJsonLine(text)) {
    for (const auto& [path, value] : json->numbers) {
      if (!findings.values.contains(path)) sightings_.SawOther(kJsonSource, path, path, value);
    }
    return;
  }
  VisitPairs(text, [&](std::string_view name, std::string_view head, double value) {
    const bool is_taken =
        findings.values.contains(std::string(name)) || bare_.contains(std::string(name));
    if (!is_taken) sightings_.SawOther(kLogSource, name, head, value);
  });
  // A name with a number after it but no separator is too weak as evidence, but worth suggesting.
  for (const std::string& name : matcher_.names()) {
    const NamedValue named = FindAfter(text, name);
    const bool is_bare = named.value.has_value() && !findings.values.contains(name);
    if (is_bare) sightings_.SawOther(kLogSource, name, name, *named.value);
  }
}

void LineCollector::NoteUnmatched(std::string_view text,
                                  bool overwritten,
                                  const LineFindings& findings) {
  for (const std::string& metric : findings.unparsed) sightings_.SawUnparsed(metric, text);
  if (overwritten) return;
  unmatched_.emplace_back(text.substr(0, kUnmatchedLength));
  if (unmatched_.size() > kUnmatchedKept) unmatched_.pop_front();
}

OutputReader::OutputReader(const std::string& path,
                           LineMatcher matcher,
                           std::optional<Measurement> known,
                           Sightings& sightings)
    : output_(path), collector_(std::move(matcher), sightings), known_(std::move(known)) {}

absl::StatusOr<std::vector<Measurement>> OutputReader::Read() {
  std::vector<Measurement> found;
  for (bool is_first = true;; is_first = false) {
    VERNIER_ASSIGN_OR_RETURN(const auto chunk, output_.Read(kChunk));
    if (chunk.dropped > 0) PassGap();
    if (chunk.lines.empty()) {
      // A held measurement waits for one read without lines.
      if (is_first) collector_.Flush(found);
      return found;
    }
    std::string_view rest = chunk.lines;
    for (std::size_t newline = 0; (newline = rest.find('\n')) != std::string_view::npos;) {
      const auto line = base::ParseOutputLine(rest.substr(0, newline));
      // After a gap, lines that an earlier reader has recorded are skipped by their time.
      if (line.has_value() && line->time > known_until_) {
        collector_.Take(line->time, line->text, found);
      }
      rest.remove_prefix(newline + 1);
    }
  }
}

// Dropped lines cannot be counted; but an earlier reader may have counted them while they existed.
void OutputReader::PassGap() {
  if (!known_.has_value()) return;
  known_until_ = known_->time;
  collector_.CountFrom(known_->step);
}

}  // namespace vernier::metrics
