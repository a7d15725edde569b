// Measurements, stop verdicts and ends of trials, of clients that hold a lease and of the programs
// of attempts.
//
// Reports and ends may be repeated: clients retry after a lost answer, and the program of an
// attempt may report what the engine has read from its output. So a measurement that the trial has
// already is passed over (TrialEntry::seen), and a repeated request is answered by the state as it
// is now.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "fmt/ranges.h"
#include "src/core/limit_checks.h"
#include "src/core/nearest.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/study/studies_impl.h"
#include "src/study/verdicts.h"
#include "vernier/core/limits.h"

namespace vernier::study {
namespace {

constexpr std::string_view kReportSource = "report";

absl::Status CheckReportable(const Trial& trial) {
  switch (trial.state) {
    case TrialState::kPreparing:
    case TrialState::kRunning:
    case TrialState::kStopping:
      return absl::OkStatus();
    default:
      return WithReason(
          FailedPrecondition("{} is {}: it takes no measurements",
                             TrialTitle(trial.number),
                             TrialStateName(trial.state)),
          IsFinished(trial.state) ? Reason::kTrialFinished : Reason::kIllegalTransition);
  }
}

// Completes what the reporter left out. `last_step`: of the trial's last measurement, if it has one.
using Complete = absl::FunctionRef<Measurement(
    Measurement, const Trial&, std::optional<std::int64_t> last_step, absl::Time now)>;

// Those that the trial does not have yet, completed.
std::vector<Measurement> FreshOf(const TrialEntry& row,
                                 const std::vector<Measurement>& reported,
                                 Complete complete,
                                 absl::Time now) {
  std::vector<Measurement> fresh;
  std::set<Fingerprint> seen;
  std::optional<std::int64_t> last_step;
  if (row.trial.last.has_value()) last_step = row.trial.last->step;
  for (const Measurement& measurement : reported) {
    Measurement whole = complete(measurement, row.trial, last_step, now);
    const Fingerprint key = MeasurementKey(whole);
    if (row.seen.contains(key) || !seen.insert(key).second) continue;
    last_step = whole.step;
    fresh.push_back(std::move(whole));
  }
  return fresh;
}

UnlockedVerdicts JudgeReport(LiveStudy& study,
                             const Caller& caller,
                             TrialNumber trial,
                             const std::vector<Measurement>& measurements,
                             Complete complete) {
  return JudgeUnlocked(
      study, caller, trial, [&](const Draft& draft) -> std::optional<std::vector<CurvePoint>> {
        const std::string& objective = FirstObjective(draft.study().spec).metric;
        std::vector<CurvePoint> points;
        for (const Measurement& measurement :
             FreshOf(draft.row(trial), measurements, complete, draft.now())) {
          if (!IsJudged(draft.study().spec, draft.trial(trial), measurement)) continue;
          points.push_back({.step = measurement.step, .value = measurement.metrics.at(objective)});
        }
        if (points.empty()) return std::nullopt;
        return points;
      });
}

// A repeated report must bring what the first one brought, as far as that is still known.
absl::Status CheckSameReport(const TrialEntry& row,
                             const std::vector<Measurement>& measurements,
                             const Caller& caller) {
  // `seen` is emptied when the trial ends, so that nothing is left to compare with.
  if (IsFinished(row.trial.state)) return absl::OkStatus();
  for (const Measurement& measurement : measurements) {
    // Time and step were filled in when the first report came, and cannot be told from the second
    // one.
    if (measurement.time == absl::UnixEpoch()) continue;
    if (measurement.step < 0) continue;
    const Measurement whole = FillIn(measurement, row.trial, measurement.time);
    if (!row.seen.contains(MeasurementKey(whole))) return RequestReused(caller);
  }
  return absl::OkStatus();
}

std::string NoMetricMessage(const std::string& missing,
                            const std::map<std::string, double>& metrics) {
  std::vector<std::string> names;
  names.reserve(metrics.size());
  for (const auto& [name, value] : metrics) names.push_back(name);
  return fmt::format("ended without a value of its {}; it reported {}",
                     missing,
                     names.empty() ? "no metric" : fmt::format("{}", fmt::join(names, ", ")));
}

std::string Quoted(const std::vector<std::string>& names) {
  return fmt::format("'{}'", fmt::join(names, "', '"));
}

// Only for the first misspelt name: one hint is enough to see what went wrong.
std::string SlipHint(const std::vector<std::string>& given, const std::string& missing) {
  const std::vector<std::string> wanted = {missing};
  for (const std::string& name : given) {
    std::string nearest = NearestHint(name, wanted);
    if (nearest.starts_with("; did you mean")) return nearest;
  }
  return "";
}

// A client that gives final metrics must give every objective. A misspelt name is refused, so that
// it does not cost the trial.
absl::Status CheckFinalMetrics(const StudySpec& spec,
                               const std::map<std::string, double>& metrics) {
  if (metrics.empty() || MissingObjectives(spec.objectives, metrics).empty()) {
    return absl::OkStatus();
  }
  std::vector<std::string> given;
  given.reserve(metrics.size());
  for (const auto& [name, value] : metrics) given.push_back(name);
  std::vector<std::string> wanted;
  std::vector<std::string> missing;
  for (const Objective& objective : spec.objectives) {
    wanted.push_back(objective.metric);
    if (!metrics.contains(objective.metric)) missing.push_back(objective.metric);
  }
  const std::string hint = SlipHint(given, missing.front());
  return FieldError("final_metrics",
                    fmt::format("has {}, the study's {} {}{}",
                                Quoted(given),
                                wanted.size() == 1 ? "objective is" : "objectives are",
                                Quoted(wanted),
                                hint));
}

// A repeated end must name the same kind of end and, if the trial completed, the same metrics.
// `ends` are all states that the first call may have led to.
absl::StatusOr<bool> IsRepeatedEnd(const Draft& draft,
                                   TrialNumber trial,
                                   const std::map<std::string, double>& final_metrics,
                                   std::initializer_list<TrialState> ends) {
  VERNIER_ASSIGN_OR_RETURN(const RequestRecord* record,
                           FindRequest(draft.fold(), draft.caller(), Verb::kEnd, trial));
  if (record == nullptr) return false;
  const Trial& now = draft.trial(trial);
  const bool same_end = std::find(ends.begin(), ends.end(), now.state) != ends.end();
  const bool same_metrics = final_metrics.empty() || now.state != TrialState::kCompleted ||
                            now.final_metrics == final_metrics;
  if (!same_end || !same_metrics) return RequestReused(draft.caller());
  return true;
}

// The state in which a trial ends without a result: CANCELLED if it was told to stop.
TrialState EndStateOf(const Trial& trial, TrialState wanted) {
  return trial.state == TrialState::kStopping ? TrialState::kCancelled : wanted;
}

absl::Status CheckEnd(const Draft& draft,
                      TrialNumber trial,
                      TrialState to,
                      const std::optional<LeaseToken>& lease) {
  const TrialEntry& row = draft.row(trial);
  const std::string title = TrialTitle(trial);
  const Driver driver = DriverOf(draft.study());
  // An ended trial is reported as ended, whatever the lease is: that tells the client more than a
  // lost lease.
  if (IsFinished(row.trial.state)) return CheckMove(title, driver, row.trial.state, to);
  VERNIER_RETURN_IF_ERROR(CheckLease(draft.study(), row, lease));
  // A trial whose lease expired is REQUESTED until its holder takes it back (docs/adr/0003). It is
  // checked as what ReviveLease makes of it.
  const bool revived = row.last_lease.has_value() && row.trial.state == TrialState::kRequested;
  const TrialState from = revived ? TrialState::kRunning : row.trial.state;
  return CheckMove(title, driver, from, EndStateOf(row.trial, to));
}

// Refuses reports by a program whose attempt has ended or was followed by another attempt. The
// attempt number fences them, as the lease token does clients.
absl::Status CheckAttempt(const Trial& trial, AttemptNumber attempt) {
  const std::string title = TrialTitle(trial.number);
  absl::Status refused;
  if (trial.attempts.empty() || trial.attempts.back().number < attempt) {
    refused = Aborted("{} has no attempt {}", title, attempt.value());
  } else if (trial.attempts.back().number != attempt) {
    refused = Aborted("attempt {} of {} is over: attempt {} took its place",
                      attempt.value(),
                      title,
                      trial.attempts.back().number.value());
  } else if (IsEnded(trial.attempts.back().state)) {
    refused = Aborted("attempt {} of {} has ended", attempt.value(), title);
  }
  return refused.ok() ? refused : WithReason(refused, Reason::kLeaseLost);
}

absl::Duration TimeSinceStart(const Measurement& measurement, const Trial& trial) {
  return std::max(absl::ZeroDuration(),
                  measurement.time - trial.started.value_or(measurement.time));
}

Studies::Reported ReportedOf(Trial trial) {
  const bool stop = trial.state == TrialState::kStopping || IsFinished(trial.state);
  return {.trial = std::move(trial), .stop = stop};
}

}  // namespace

absl::Status CheckMeasurements(const std::vector<Measurement>& measurements) {
  VERNIER_RETURN_IF_ERROR(CheckMeasurementLimits("measurements", measurements));
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    if (!measurements[i].metrics.empty()) continue;
    return FieldError(fmt::format("measurements[{}].metrics", i), "must hold at least one metric");
  }
  return absl::OkStatus();
}

absl::Status CheckTrialMetrics(const std::optional<Measurement>& last,
                               const std::vector<Measurement>& measurements) {
  static const std::map<std::string, double> kNone;
  const std::map<std::string, double>& known = last.has_value() ? last->metrics : kNone;
  std::size_t values = known.size();
  for (const Measurement& measurement : measurements) values += measurement.metrics.size();
  // Most reports pass here: the sum of all values is an upper bound of the number of distinct
  // names.
  if (values <= limits::kMetrics) return absl::OkStatus();
  std::set<std::string_view> fresh;
  for (const Measurement& measurement : measurements) {
    for (const auto& [name, value] : measurement.metrics) {
      if (!known.contains(name)) fresh.insert(name);
    }
  }
  // A trial that has too many from before the bound may go on with those.
  if (fresh.empty()) return absl::OkStatus();
  const std::size_t count = known.size() + fresh.size();
  if (count <= limits::kMetrics) return absl::OkStatus();
  return FieldError(
      "measurements",
      fmt::format("a trial must have at most {} metrics, got {}", limits::kMetrics, count));
}

Measurement FillIn(Measurement measurement, const Trial& trial, absl::Time now) {
  constexpr std::string_view kClientSource = "client";
  if (measurement.source.empty()) measurement.source = kClientSource;
  // The epoch stands for a time that the reporter did not give.
  if (measurement.time == absl::UnixEpoch()) {
    measurement.time = now;
    if (measurement.elapsed == absl::ZeroDuration()) {
      measurement.elapsed = now - trial.started.value_or(now);
    }
  }
  return measurement;
}

absl::StatusOr<ReportedTrial> StudiesImpl::FinishReport(absl::StatusOr<TrialChange> change) {
  VERNIER_ASSIGN_OR_RETURN(Trial trial, FinishChange(std::move(change)));
  return ReportedOf(std::move(trial));
}

void StudiesImpl::FinishReport(absl::StatusOr<TrialChange> change, OnReported finished) {
  FinishChange(std::move(change), [finished = std::move(finished)](absl::StatusOr<Trial> trial) {
    if (!trial.ok()) return finished(trial.status());
    finished(ReportedOf(*std::move(trial)));
  });
}

void StudiesImpl::Report(TrialId id,
                         const std::vector<Measurement>& measurements,
                         const std::optional<LeaseToken>& lease,
                         const Caller& caller,
                         OnReported reported) {
  FinishReport(BeginReport(id, measurements, lease, caller), std::move(reported));
}

absl::StatusOr<ReportedTrial> StudiesImpl::Report(TrialId id,
                                                  const std::vector<Measurement>& measurements,
                                                  const std::optional<LeaseToken>& lease,
                                                  const Caller& caller) {
  return FinishReport(BeginReport(id, measurements, lease, caller));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginReport(
    TrialId id,
    const std::vector<Measurement>& measurements,
    const std::optional<LeaseToken>& lease,
    const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckMeasurements(measurements));
  const auto complete = [](Measurement measurement,
                           const Trial& trial,
                           std::optional<std::int64_t> /*last_step*/,
                           absl::Time now) { return FillIn(std::move(measurement), trial, now); };
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.study));
  const UnlockedVerdicts unlocked = JudgeReport(*live, caller, id.number, measurements, complete);
  const auto report = [&](Draft& draft, Transient& transient) -> absl::Status {
    const TrialEntry& row = draft.row(id.number);
    const EventSeq before = draft.study().last_event;
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kReport, id.number));
    if (repeated != nullptr) return CheckSameReport(row, measurements, caller);
    // An ended trial is refused by CheckReportable instead, which names its state.
    if (!IsFinished(row.trial.state))
      VERNIER_RETURN_IF_ERROR(CheckLease(draft.study(), row, lease));
    // A late report of the last holder takes the trial back, as long as nobody else got it
    // (docs/adr/0003).
    const bool late = row.last_lease.has_value() && row.waiting;
    if (!late) VERNIER_RETURN_IF_ERROR(CheckReportable(row.trial));
    VERNIER_RETURN_IF_ERROR(CheckTrialMetrics(row.trial.last, measurements));
    ReviveLease(draft, transient, id.number);
    std::vector<Measurement> fresh = FreshOf(row, measurements, complete, draft.now());
    const bool any = !fresh.empty();
    AddMeasurements(draft, transient, id.number, std::move(fresh), unlocked, before);
    // A report renews the lease. It comes after the measurement: the first event of a request tells
    // what kind of call it was (request_book.cc).
    if (any && lease.has_value() && draft.trial(id.number).lease.has_value()) {
      RenewLease(draft, transient, id.number, /*record=*/false);
    }
    return absl::OkStatus();
  };
  return BeginTrialChange(id, caller, report);
}

void StudiesImpl::ReportFrom(AttemptId id,
                             std::vector<Measurement> measurements,
                             const Caller& caller,
                             OnReported reported) {
  FinishReport(BeginReportFrom(id, std::move(measurements), caller), std::move(reported));
}

absl::StatusOr<ReportedTrial> StudiesImpl::ReportFrom(AttemptId id,
                                                      std::vector<Measurement> measurements,
                                                      const Caller& caller) {
  return FinishReport(BeginReportFrom(id, std::move(measurements), caller));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginReportFrom(
    AttemptId id, std::vector<Measurement> measurements, const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckMeasurements(measurements));
  // Set here, since it is part of the key that finds repeated measurements.
  for (Measurement& measurement : measurements) measurement.source = kReportSource;
  const auto complete = [](Measurement measurement,
                           const Trial& trial,
                           std::optional<std::int64_t> last_step,
                           absl::Time now) {
    Measurement whole = FillIn(std::move(measurement), trial, now);
    // A negative step stands for the next one, so that several of one report get steps in a row.
    if (whole.step < 0) whole.step = last_step.has_value() ? *last_step + 1 : 1;
    if (whole.elapsed == absl::ZeroDuration()) whole.elapsed = TimeSinceStart(whole, trial);
    return whole;
  };
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.trial.study));
  const UnlockedVerdicts unlocked =
      JudgeReport(*live, caller, id.trial.number, measurements, complete);
  const auto report = [&](Draft& draft, Transient& transient) -> absl::Status {
    const TrialNumber number = id.trial.number;
    const TrialEntry& row = draft.row(number);
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kReport, number));
    if (repeated != nullptr) return CheckSameReport(row, measurements, caller);
    if (!IsFinished(row.trial.state)) VERNIER_RETURN_IF_ERROR(CheckAttempt(row.trial, id.number));
    VERNIER_RETURN_IF_ERROR(CheckReportable(row.trial));
    VERNIER_RETURN_IF_ERROR(CheckTrialMetrics(row.trial.last, measurements));
    AddMeasurements(draft,
                    transient,
                    number,
                    FreshOf(row, measurements, complete, draft.now()),
                    unlocked,
                    draft.study().last_event);
    return absl::OkStatus();
  };
  return BeginTrialChange(id.trial, caller, report);
}

void StudiesImpl::Judge(TrialId id, const Caller& caller, OnReported judged) {
  FinishReport(BeginJudgement(id, caller), std::move(judged));
}

absl::StatusOr<ReportedTrial> StudiesImpl::Judge(TrialId id, const Caller& caller) {
  return FinishReport(BeginJudgement(id, caller));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginJudgement(TrialId id,
                                                                     const Caller& caller) {
  const auto is_due = [&](const Draft& draft) {
    return draft.study().spec.judged_when_asked &&
           draft.trial(id.number).state == TrialState::kRunning &&
           !draft.fold().curves().Get(id.number).points.empty();
  };
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.study));
  const UnlockedVerdicts unlocked = JudgeUnlocked(
      *live, caller, id.number, [&](const Draft& draft) -> std::optional<std::vector<CurvePoint>> {
        if (!is_due(draft)) return std::nullopt;
        return std::vector<CurvePoint>();
      });
  const auto judge = [&](Draft& draft, Transient& transient) -> absl::Status {
    if (RuleOf(transient) != nullptr && is_due(draft)) {
      Decide(draft, transient, id.number, unlocked);
    }
    return absl::OkStatus();
  };
  return BeginTrialChange(id, caller, judge);
}

void StudiesImpl::End(TrialId id,
                      const TrialEnd& end,
                      const std::optional<LeaseToken>& lease,
                      const Caller& caller,
                      OnTrial ended) {
  FinishChange(BeginEnd(id, end, lease, caller), std::move(ended));
}

absl::StatusOr<Trial> StudiesImpl::End(TrialId id,
                                       const TrialEnd& end,
                                       const std::optional<LeaseToken>& lease,
                                       const Caller& caller) {
  return FinishChange(BeginEnd(id, end, lease, caller));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginEnd(
    TrialId id, const TrialEnd& end, const std::optional<LeaseToken>& lease, const Caller& caller) {
  const bool counts =
      end.kind == TrialEnd::Kind::kCompleted || end.kind == TrialEnd::Kind::kCompletedAsIs;
  return counts ? BeginCompletion(id, end, lease, caller) : BeginFailure(id, end, lease, caller);
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginCompletion(
    TrialId id, const TrialEnd& end, const std::optional<LeaseToken>& lease, const Caller& caller) {
  const Measurement& last = end.last;
  VERNIER_RETURN_IF_ERROR(CheckMetricLimits("final_metrics", last.metrics));
  return BeginTrialChange(id, caller, [&](Draft& draft, Transient& transient) -> absl::Status {
    const bool is_as_is = end.kind == TrialEnd::Kind::kCompletedAsIs;
    if (is_as_is) VERNIER_RETURN_IF_ERROR(CheckForeign(draft.study()));
    VERNIER_ASSIGN_OR_RETURN(
        const bool repeated,
        IsRepeatedEnd(draft,
                      id.number,
                      last.metrics,
                      {TrialState::kCompleted, TrialState::kFailed, TrialState::kCancelled}));
    if (repeated) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckEnd(draft, id.number, TrialState::kCompleted, lease));
    if (!is_as_is) {
      VERNIER_RETURN_IF_ERROR(CheckFinalMetrics(draft.study().spec, last.metrics));
    }
    ReviveLease(draft, transient, id.number);
    const Trial& trial = draft.trial(id.number);
    // Without final metrics the trial ends with what it reported.
    const Measurement measured = last.metrics.empty() ? FinalMeasurement(draft, id.number) : last;
    if (is_as_is) {
      AddEnd(draft, id.number, TrialState::kCompleted, measured, "", FailureClass::kNone);
      return absl::OkStatus();
    }
    // A trial that ends without a value of each objective has failed: that is recorded and no
    // error, since the program has ended either way.
    const std::string missing = MissingObjectives(draft.study().spec.objectives, measured.metrics);
    if (missing.empty()) {
      if (end.ran_to_end && trial.state == TrialState::kStopping) {
        AddWholeCompletion(draft, id.number, measured);
      } else {
        AddCompletion(draft, id.number, measured);
      }
      return absl::OkStatus();
    }
    AddMove(draft,
            id.number,
            EndStateOf(trial, TrialState::kFailed),
            NoMetricMessage(missing, measured.metrics),
            FailureClass::kNoMetric);
    return absl::OkStatus();
  });
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginFailure(
    TrialId id, const TrialEnd& end, const std::optional<LeaseToken>& lease, const Caller& caller) {
  const bool is_infeasible = end.kind == TrialEnd::Kind::kInfeasible;
  const TrialState state = is_infeasible ? TrialState::kInfeasible : TrialState::kFailed;
  const FailureClass failure = is_infeasible ? FailureClass::kInfeasible : end.failure;
  VERNIER_RETURN_IF_ERROR(CheckLength("message", end.message, limits::kMessage));
  VERNIER_RETURN_IF_ERROR(CheckMetricLimits("final_metrics", end.last.metrics));
  return BeginTrialChange(id, caller, [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const bool repeated,
                             IsRepeatedEnd(draft, id.number, {}, {state, TrialState::kCancelled}));
    if (repeated) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckEnd(draft, id.number, state, lease));
    ReviveLease(draft, transient, id.number);
    AddEnd(draft,
           id.number,
           EndStateOf(draft.trial(id.number), state),
           end.last,
           end.message,
           failure);
    return absl::OkStatus();
  });
}

}  // namespace vernier::study
