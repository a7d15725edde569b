#include "src/engine/metric_feed.h"

#include <algorithm>
#include <exception>
#include <stop_token>
#include <utility>

#include "src/core/status.h"
#include "vernier/core/limits.h"

namespace vernier::engine {
namespace {

// Number of the first measurements that fit in one report; at least 1 if there are any.
std::size_t CountForOneReport(const std::vector<Measurement>& measurements) {
  const std::size_t most = std::min(measurements.size(), limits::kMeasurements);
  std::size_t values = 0;
  for (std::size_t i = 0; i < most; ++i) {
    values += measurements[i].metrics.size();
    if (values > limits::kValues) return std::max<std::size_t>(1, i);
  }
  return most;
}

std::vector<Measurement> FirstOf(const std::vector<Measurement>& measurements, std::size_t count) {
  return {measurements.begin(), measurements.begin() + static_cast<std::ptrdiff_t>(count)};
}

void DropFirst(std::size_t count, std::vector<Measurement>& measurements) {
  measurements.erase(measurements.begin(),
                     measurements.begin() + static_cast<std::ptrdiff_t>(count));
}

// A program that embeds Vernier may bring its own reader, and that may throw.
absl::StatusOr<std::vector<Measurement>> ReadFrom(MetricReader& reader, bool is_last) {
  try {
    return is_last ? reader.Finish() : reader.Read();
  } catch (const std::exception& error) {
    return Internal("the metrics cannot be read: {}", error.what());
  }
}

}  // namespace

MetricFeed::MetricFeed(const Context& context, TrialId trial, std::unique_ptr<MetricReader> reader)
    : context_(context),
      trial_(trial),
      source_(std::make_shared<Source>(Source{.reader = std::move(reader), .unreported = {}})) {}

void MetricFeed::BeginRead() {
  if (has_begun() && !is_reading() && !is_complete_) Start(/*is_last=*/false);
}

absl::StatusOr<bool> MetricFeed::Advance(Trial& trial, bool needs_all) {
  VERNIER_ASSIGN_OR_RETURN(const bool is_free, TakeOutcome(trial));
  if (!is_free) return false;
  const bool is_first = !has_begun();
  trial_started_ = trial.started;
  if (is_complete_ || (!is_first && !needs_all)) return true;
  // Without an executor a task runs at once, so the loop ends. One report may not hold all that was read: read again
  // until nothing is left.
  while (true) {
    Start(needs_all);
    VERNIER_ASSIGN_OR_RETURN(const bool is_taken, TakeOutcome(trial));
    if (!is_taken) return false;
    if (!needs_all || is_complete_) return true;
  }
}

void MetricFeed::ReadNew(Source& source, std::optional<absl::Time> trial_started, bool is_last) {
  const absl::StatusOr<std::vector<Measurement>> read = ReadFrom(*source.reader, is_last);
  // An unreadable metric concerns its trial alone: the trial goes on, and fails at its end if an objective is missing.
  if (!read.ok()) return;
  // Readers know nothing of the trial, so the time since its start is set here.
  for (Measurement measurement : *read) {
    measurement.elapsed = measurement.time - trial_started.value_or(measurement.time);
    source.unreported.push_back(std::move(measurement));
  }
}

void MetricFeed::Start(bool is_last) {
  read_ = std::make_shared<Read>();
  read_->is_last = is_last;
  // The task holds no `this`: a trial that is requeued drops its feed while a read may still run.
  context_.tasks.Run(
      [trial = trial_,
       caller = context_.caller(),
       &studies = context_.studies,
       &news = context_.news,
       source = source_,
       read = read_,
       trial_started = trial_started_](const std::stop_token&, const Tasks::Done& done) {
        const auto finish = [read, &news, trial, done] {
          read->done.Notify();
          // The step that follows the last read ends the trial. Other reads are met by the next poll.
          if (read->is_last) news.Add(trial);
          done();
        };
        ReadNew(*source, trial_started, read->is_last);
        read->count = CountForOneReport(source->unreported);
        if (read->count == 0) return finish();
        studies.Report(trial,
                       FirstOf(source->unreported, read->count),
                       std::nullopt,
                       caller,
                       [read, finish](const absl::StatusOr<Studies::Reported>& outcome) {
                         read->stored = outcome.status();
                         finish();
                       });
      });
}

absl::StatusOr<bool> MetricFeed::TakeOutcome(Trial& trial) {
  if (read_ == nullptr) return true;
  if (!read_->done.HasBeenNotified()) return false;
  const std::shared_ptr<Read> read = std::exchange(read_, nullptr);
  // A custom reader may find measurements that no study takes. That, too, concerns its trial alone: they are dropped.
  const bool is_refused = absl::IsInvalidArgument(read->stored);
  if (!is_refused) VERNIER_RETURN_IF_ERROR(read->stored);
  // Only now, so that after an error of the store the next read reports them again.
  DropFirst(read->count, source_->unreported);
  is_complete_ = read->is_last && source_->unreported.empty();
  if (is_refused || read->count == 0) return true;
  // Read the trial anew: the answer to the report may be older than what the log says by now, for instance a stop that
  // came right behind the report.
  VERNIER_ASSIGN_OR_RETURN(trial, context_.studies.GetTrial(trial_));
  return true;
}

}  // namespace vernier::engine
