// Calls that most commands share. Lists are paged by the server; here the pages are joined, and the next page is
// requested while the last one is printed.

#include "src/cli/resources.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <future>
#include <iterator>
#include <utility>

#include "src/cli/hint.h"
#include "src/cli/terminal/text.h"
#include "src/core/counted_metrics.h"
#include "src/core/running_time.h"
#include "src/core/status.h"
#include "src/core/stopped_early.h"
#include "src/wire/cluster_proto.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "src/wire/trial_proto.h"
#include "vernier/core/clock.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

// Measurements and rows of one page: the server's bounds (limits::kCurvePage, limits::kPageSize).
constexpr std::int32_t kCurvePage = 10000;

constexpr std::int64_t kPageSize = 1000;

// Asks for no more rows than are still wanted.
std::int32_t NextPage(const Query& query, std::size_t have) {
  // A user may ask for smaller pages, which arrive sooner.
  const std::int64_t most = query.page_size > 0 ? std::min(query.page_size, kPageSize) : kPageSize;
  if (query.limit <= 0) return static_cast<std::int32_t>(most);
  const std::int64_t left = query.limit - static_cast<std::int64_t>(have);
  return static_cast<std::int32_t>(std::min(most, left));
}

bool IsEnough(const Query& query, std::size_t have) {
  return query.limit > 0 && static_cast<std::int64_t>(have) >= query.limit;
}

absl::StatusOr<TrialRecord> Record(v1::Trial message) {
  VERNIER_ASSIGN_OR_RETURN(Trial trial, wire::DecodeTrial(message));
  return TrialRecord{.message = std::move(message), .trial = std::move(trial)};
}

absl::StatusOr<std::int64_t> TrialNumberOf(Connection& connection,
                                           std::string_view study,
                                           std::string_view trial) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(trial.data(), trial.data() + trial.size(), number);
  // "12abc" is no number.
  if (error == std::errc() && end == trial.data() + trial.size() && number > 0) return number;
  if (trial != "best" && trial != "last") {
    return InvalidArgument("TRIAL: must be a number above 0, best or last, got '{}'", trial);
  }
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, GetStudy(connection, study));
  // Numbers count from 1, and deleted trials stay counted, so the count is the last number.
  const std::int64_t chosen =
      trial == "best" ? record.message.best_trial() : record.message.trial_count();
  if (chosen == 0) return NotFound("study '{}' has no {} trial yet", study, trial);
  return chosen;
}

}  // namespace

absl::Status NamingFlags(const absl::Status& status) {
  const std::string field = GetField(status).value_or("");
  // The user typed a flag; the server's error names the field of its request.
  const char* flag = field == "filter" ? "--filter" : field == "order_by" ? "--sort" : nullptr;
  if (flag == nullptr) return status;
  const std::string message(status.message());
  return FieldError(flag, message.substr(field.size() + std::string_view(": ").size()));
}

std::string OrderBy(std::string_view sort, std::string_view metric) {
  std::string order;
  while (!sort.empty()) {
    const std::size_t comma = sort.find(',');
    std::string_view term = sort.substr(0, comma);
    sort.remove_prefix(comma == std::string_view::npos ? sort.size() : comma + 1);
    term.remove_prefix(std::min(term.find_first_not_of(' '), term.size()));
    // "-" is Vernier's, "~" gcloud's.
    const bool descending = term.starts_with('-') || term.starts_with('~');
    if (descending) term.remove_prefix(1);
    if (!order.empty()) order += ", ";
    order += term == "objective" && !metric.empty() ? fmt::format("metrics.{}", metric)
                                                    : std::string(term);
    if (descending) order += " desc";
  }
  return order;
}

std::vector<std::string> StudyRecord::parameter_names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : study.spec.space.parameters()) names.push_back(parameter.name);
  return names;
}

bool StudyRecord::IsOptimal(TrialNumber trial) const {
  return study.best == trial ||
         std::binary_search(study.optimal.begin(), study.optimal.end(), trial);
}

bool StudyRecord::BreaksConstraint(const Trial& trial) const {
  return trial.state == TrialState::kCompleted &&
         !AreKept(SlacksOf(outcome_constraints, trial.final_metrics));
}

absl::StatusOr<v1::Study> CreateStudy(Connection& connection,
                                      const StudySpec& spec,
                                      bool validate_only) {
  v1::CreateStudyRequest request;
  request.set_study_id(spec.name);
  wire::EncodeSpec(spec, request.mutable_study()->mutable_spec());
  request.set_request_id(NewRequestId());
  request.set_validate_only(validate_only);
  return connection.Call(&Stub::CreateStudy, request);
}

absl::StatusOr<StudyRecord> GetStudy(Connection& connection, std::string_view name) {
  v1::GetStudyRequest request;
  request.set_name(wire::StudyResource(name));
  VERNIER_ASSIGN_OR_RETURN(v1::Study message, connection.CallOn(name, &Stub::GetStudy, request));
  return RecordOf(std::move(message));
}

absl::StatusOr<StudyRecord> RecordOf(v1::Study message) {
  VERNIER_ASSIGN_OR_RETURN(Study study, wire::DecodeStudy(message));
  VERNIER_ASSIGN_OR_RETURN(auto constraints, ParseOutcomeConstraints(study.spec));
  return StudyRecord{.message = std::move(message),
                     .study = std::move(study),
                     .outcome_constraints = std::move(constraints)};
}

absl::Status StopStudy(Connection& connection, std::string_view name, std::string_view reason) {
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, name));
  // Ending a study that has ended is no error to whoever wants it to end.
  if (IsFinished(study.study.state)) return absl::OkStatus();
  v1::StopStudyRequest request;
  request.set_name(wire::StudyResource(name));
  request.set_reason(std::string(reason));
  request.set_request_id(NewRequestId());
  const auto stopped = connection.CallOn(name, &Stub::StopStudy, request);
  // It may have ended between the two calls.
  return absl::IsFailedPrecondition(stopped.status()) ? absl::OkStatus() : stopped.status();
}

absl::StatusOr<std::vector<v1::Study>> ListStudies(Connection& connection,
                                                   const Query& query,
                                                   std::vector<std::string>* damaged) {
  v1::ListStudiesRequest request;
  request.set_filter(query.filter);
  request.set_order_by(OrderBy(query.sort));
  std::vector<v1::Study> studies;
  do {
    request.set_page_size(NextPage(query, studies.size()));
    auto page = connection.Call(&Stub::ListStudies, request);
    if (!page.ok()) return NamingFlags(page.status());
    for (const v1::StudyTrouble& study : page->damaged()) {
      // Damaged studies come with the last page.
      if (damaged != nullptr) damaged->push_back(study.error());
    }
    std::move(page->mutable_studies()->begin(),
              page->mutable_studies()->end(),
              std::back_inserter(studies));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && !IsEnough(query, studies.size()));
  return studies;
}

absl::StatusOr<TrialRecord> GetTrial(Connection& connection,
                                     std::string_view study,
                                     std::string_view trial) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t number, TrialNumberOf(connection, study, trial));
  v1::GetTrialRequest request;
  request.set_name(wire::TrialResource(study, TrialNumber(number)));
  VERNIER_ASSIGN_OR_RETURN(v1::Trial message, connection.CallOn(study, &Stub::GetTrial, request));
  return Record(std::move(message));
}

absl::Status ForEachTrial(Connection& connection,
                          const StudyRecord& study,
                          const Query& query,
                          const std::function<absl::Status(TrialRecord)>& visit) {
  v1::ListTrialsRequest request;
  request.set_parent(wire::StudyResource(study.name()));
  request.set_filter(query.filter);
  request.set_order_by(OrderBy(query.sort, study.objective().metric));
  std::size_t got = 0;
  // The request is copied, since the next token is set while the call is in flight.
  const auto ask = [&] {
    request.set_page_size(NextPage(query, got));
    return std::async(std::launch::async, [&connection, &study, request] {
      return connection.CallOn(study.name(), &Stub::ListTrials, request);
    });
  };
  // valid() is false once the last future was taken and no other was asked for.
  for (auto next = ask(); next.valid();) {
    auto page = next.get();
    if (!page.ok()) return NamingFlags(page.status());
    got += static_cast<std::size_t>(page->trials_size());
    request.set_page_token(page->next_page_token());
    // The next page is requested before this one is visited: printing and the network overlap.
    if (!request.page_token().empty() && !IsEnough(query, got)) next = ask();
    for (v1::Trial& message : *page->mutable_trials()) {
      VERNIER_ASSIGN_OR_RETURN(TrialRecord record, Record(std::move(message)));
      VERNIER_RETURN_IF_ERROR(visit(std::move(record)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TrialRecord>> ListTrials(Connection& connection,
                                                    const StudyRecord& study,
                                                    const Query& query) {
  std::vector<TrialRecord> trials;
  VERNIER_RETURN_IF_ERROR(ForEachTrial(connection, study, query, [&](TrialRecord record) {
    trials.push_back(std::move(record));
    return absl::OkStatus();
  }));
  return trials;
}

std::optional<QueuedGang> FindQueued(Connection& connection, const TrialRecord& trial) {
  // Only waiting trials have a place in the queue.
  if (trial.trial.state != TrialState::kQueued) return std::nullopt;
  v1::ListQueueRequest request;
  request.set_trial(trial.message.name());
  const auto response = connection.Call(&Connection::ClusterStub::ListQueue, request);
  // How long it waits is extra information; without it the trial is shown all the same.
  if (!response.ok() || response->trials().empty()) return std::nullopt;
  auto queued = wire::DecodeQueuedGang(response->trials(0));
  return queued.ok() ? std::optional(*std::move(queued)) : std::nullopt;
}

absl::StatusOr<std::vector<v1::Measurement>> ListMeasurements(Connection& connection,
                                                              const v1::Trial& trial) {
  v1::ListMeasurementsRequest request;
  request.set_parent(trial.name());
  request.set_page_size(kCurvePage);
  std::vector<v1::Measurement> measurements;
  do {
    VERNIER_ASSIGN_OR_RETURN(v1::ListMeasurementsResponse page,
                             connection.Call(&Stub::ListMeasurements, request));
    std::ranges::move(*page.mutable_measurements(), std::back_inserter(measurements));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return measurements;
}

absl::StatusOr<std::vector<v1::Measurement>> SampleMeasurements(Connection& connection,
                                                                const v1::Trial& trial,
                                                                const std::string& metric,
                                                                std::int32_t max_points) {
  v1::ListMeasurementsRequest request;
  request.set_parent(trial.name());
  request.set_metric(metric);
  request.set_max_points(max_points);
  VERNIER_ASSIGN_OR_RETURN(v1::ListMeasurementsResponse response,
                           connection.Call(&Stub::ListMeasurements, request));
  return std::vector<v1::Measurement>(response.measurements().begin(),
                                      response.measurements().end());
}

std::optional<double> ObjectiveOf(const Trial& trial, const std::string& metric) {
  return CountedValue(trial, metric);
}

std::vector<std::optional<double>> ObjectivesOf(const Trial& trial, const StudySpec& spec) {
  std::vector<std::optional<double>> values;
  for (const Objective& objective : spec.objectives) {
    values.push_back(ObjectiveOf(trial, objective.metric));
  }
  return values;
}

std::vector<double> CurveOf(const std::vector<v1::Measurement>& measurements,
                            const std::string& metric) {
  std::vector<double> curve;
  for (const v1::Measurement& measurement : measurements) {
    const auto value = measurement.metrics().find(metric);
    if (value != measurement.metrics().end()) curve.push_back(value->second);
  }
  return curve;
}

std::optional<absl::Duration> DurationOf(const Trial& trial, absl::Time now) {
  return RunningTime(trial, now);  // Waiting and pauses do not count.
}

std::int64_t LastStepOf(const Trial& trial) {
  if (trial.last) return trial.last->step;
  return trial.final_step;
}

std::string FailureLine(const Trial& trial) {
  if (trial.state != TrialState::kFailed && trial.state != TrialState::kInfeasible) return "";
  return FirstLine(trial.message);
}

TrialSummary RowOf(const TrialRecord& record, const StudyRecord& study, absl::Time now) {
  const Trial& trial = record.trial;
  return {.number = trial.number.value(),
          .state = trial.state,
          .stopped_early = IsStoppedEarly(trial),
          .last_step = LastStepOf(trial),
          .is_best = study.IsOptimal(trial.number),
          .breaks_constraint = study.BreaksConstraint(trial),
          .objectives = ObjectivesOf(trial, study.study.spec),
          .curve = {},
          .parameters = CompactPoint(trial.point, study.parameter_names()),
          .duration = DurationOf(trial, now),
          .message = FailureLine(trial)};
}

std::string NewRequestId() {
  static std::atomic<int> calls = 0;
  // Unique over processes and hosts in practice: time in nanoseconds, process, count. Not the context's clock, which
  // tests hold still.
  const auto now = absl::ToUnixNanos(NewRealClock()->Now());
  return fmt::format("cli-{:x}-{}-{}", now, getpid(), ++calls);
}

}  // namespace vernier::cli
