// The calls of Trials that wait for their answer.
#include <utility>

#include "absl/synchronization/notification.h"
#include "vernier/trials.h"

namespace vernier {
namespace {

// Calls `begin` with a function, waits until that is called, and returns what it was called with.
template <typename Answer, typename Begin>
Answer Await(Begin begin) {
  Answer answer;
  absl::Notification told;
  begin([&](Answer got) {
    answer = std::move(got);
    told.Notify();
  });
  told.WaitForNotification();
  return answer;
}

using OneTrial = absl::StatusOr<Trial>;
using ManyTrials = absl::StatusOr<std::vector<Trial>>;
using OneReport = absl::StatusOr<ReportedTrial>;

}  // namespace

absl::StatusOr<std::vector<Trial>> Trials::Ask(StudyId id,
                                               std::size_t count,
                                               const Caller& caller,
                                               std::stop_token stop) {
  return Await<ManyTrials>(
      [&](OnTrials told) { Ask(id, count, caller, std::move(stop), std::move(told)); });
}

absl::StatusOr<std::vector<Trial>> Trials::Suggest(StudyId id,
                                                   std::size_t count,
                                                   std::string_view holder,
                                                   const Caller& caller,
                                                   std::stop_token stop) {
  return Await<ManyTrials>(
      [&](OnTrials told) { Suggest(id, count, holder, caller, std::move(stop), std::move(told)); });
}

absl::StatusOr<Trial> Trials::AddTrial(StudyId id,
                                       const TrialAddition& addition,
                                       const Caller& caller) {
  return Await<OneTrial>([&](OnTrial told) { AddTrial(id, addition, caller, std::move(told)); });
}

absl::StatusOr<std::vector<Trial>> Trials::AddTrials(StudyId id,
                                                     const std::vector<TrialAddition>& additions,
                                                     const Caller& caller) {
  return Await<ManyTrials>(
      [&](OnTrials told) { AddTrials(id, additions, caller, std::move(told)); });
}

absl::StatusOr<Trial> Trials::StopTrial(TrialId id, std::string_view reason, const Caller& caller) {
  return Await<OneTrial>([&](OnTrial told) { StopTrial(id, reason, caller, std::move(told)); });
}

absl::StatusOr<Trial> Trials::Heartbeat(TrialId id, const LeaseToken& lease) {
  return Await<OneTrial>([&](OnTrial told) { Heartbeat(id, lease, std::move(told)); });
}

absl::StatusOr<ReportedTrial> Trials::Report(TrialId id,
                                             const std::vector<Measurement>& measurements,
                                             const std::optional<LeaseToken>& lease,
                                             const Caller& caller) {
  return Await<OneReport>(
      [&](OnReported told) { Report(id, measurements, lease, caller, std::move(told)); });
}

absl::StatusOr<ReportedTrial> Trials::ReportFrom(AttemptId id,
                                                 std::vector<Measurement> measurements,
                                                 const Caller& caller) {
  return Await<OneReport>(
      [&](OnReported told) { ReportFrom(id, std::move(measurements), caller, std::move(told)); });
}

absl::StatusOr<ReportedTrial> Trials::Judge(TrialId id, const Caller& caller) {
  return Await<OneReport>([&](OnReported told) { Judge(id, caller, std::move(told)); });
}

absl::StatusOr<Trial> Trials::End(TrialId id,
                                  const TrialEnd& end,
                                  const std::optional<LeaseToken>& lease,
                                  const Caller& caller) {
  return Await<OneTrial>([&](OnTrial told) { End(id, end, lease, caller, std::move(told)); });
}

absl::StatusOr<Trial> Trials::Complete(TrialId id,
                                       const Measurement& last,
                                       const std::optional<LeaseToken>& lease,
                                       const Caller& caller) {
  return End(id, {.kind = TrialEnd::Kind::kCompleted, .last = last}, lease, caller);
}

absl::StatusOr<Trial> Trials::Fail(TrialId id,
                                   FailureClass failure,
                                   std::string_view message,
                                   const std::optional<LeaseToken>& lease,
                                   const Caller& caller) {
  return End(id,
             {.kind = TrialEnd::Kind::kFailed, .failure = failure, .message = std::string(message)},
             lease,
             caller);
}

absl::StatusOr<Trial> Trials::MarkInfeasible(TrialId id,
                                             std::string_view message,
                                             const Measurement& last,
                                             const std::optional<LeaseToken>& lease,
                                             const Caller& caller) {
  return End(id,
             {.kind = TrialEnd::Kind::kInfeasible, .last = last, .message = std::string(message)},
             lease,
             caller);
}

}  // namespace vernier
