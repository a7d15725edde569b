#include "python/src/server.h"

#include <algorithm>
#include <functional>
#include <stop_token>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/codec/event_json.h"
#include "vernier/core/error.h"

namespace vernier::python {
namespace {

// Time for calls that compute long, such as a replay. A choice: longer than any.
constexpr absl::Duration kPatience = absl::Hours(24);

double Seconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

std::string EventText(const Event& event) {
  const nlohmann::ordered_json json = {{"seq", event.seq.value()},
                                       {"time", Seconds(event.time)},
                                       {"actor", event.actor},
                                       {"kind", EventKind(event.payload)},
                                       {"data", codec::PayloadToJson(event.payload)}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string LineText(const TrialLogLine& line) {
  const nlohmann::ordered_json json = {{"time", Seconds(line.time)},
                                       {"attempt", line.attempt.value()},
                                       {"role", line.role},
                                       {"index", line.index},
                                       {"stream", line.is_stderr ? "stderr" : "stdout"},
                                       {"text", line.text}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The trial as the calls of a lease name it.
Trial Held(TrialId id, const LeaseToken& lease) {
  Trial trial;
  trial.number = id.number;
  trial.lease = Lease{.holder = lease.holder, .token = lease.token, .expires = {}};
  return trial;
}

ReplayReport ToReport(const ReplaySummary& summary) {
  ReplayReport report = {.suggestions = summary.suggestions,
                         .stops = summary.stops,
                         .verified = summary.verified,
                         .problems = {}};
  for (const ReplaySummary::Line& line : summary.problems) {
    const bool diverged = line.result == ReplaySummary::Result::kDiverged;
    report.problems.push_back({.event = line.event,
                               .trial = line.trial,
                               .result = diverged ? ReplayReport::Line::Result::kDiverged
                                                  : ReplayReport::Line::Result::kUnverifiable,
                               .detail = line.detail});
  }
  return report;
}

}  // namespace

Server::Server(const std::string& address,
               const std::string& token,
               absl::Duration timeout,
               std::pair<int, int> attempts,
               const std::string& actor) {
  ClientOptions options{.name = actor,
                        .timeout = timeout,
                        .attempts = attempts.first,
                        .attempts_once_answered = attempts.second,
                        .token = token};
  client_ = Client::Connect(address, options);
  options.timeout = kPatience;
  patient_ = Client::Connect(address, options);
}

void Server::Abandon() {
  [[maybe_unused]] auto* const leaked = new std::pair(std::move(client_), std::move(patient_));
}

std::unique_ptr<Stream> Server::Watch(StudyId id, EventSeq after, bool follow) {
  return std::make_unique<Stream>([client = client_, name = NameOf(id), after, follow](
                                      const std::function<bool(std::string)>& sink,
                                      const std::stop_token& stop) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(name.status());
    return client->WatchStudy(
        *name, after, follow, [&](const Event& event) { return sink(EventText(event)); }, stop);
  });
}

std::unique_ptr<Stream> Server::Logs(TrialId id, const TrialLogQuery& query) {
  return std::make_unique<Stream>([client = client_,
                                   name = NameOf(id.study),
                                   number = id.number,
                                   query](const std::function<bool(std::string)>& sink,
                                          const std::stop_token& stop) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(name.status());
    return client->StreamTrialLogs(
        *name, number, query, [&](const TrialLogLine& line) { return sink(LineText(line)); }, stop);
  });
}

absl::StatusOr<StudyId> Server::CreateStudy(const StudySpec& spec, const Caller& caller) {
  VERNIER_ASSIGN_OR_RETURN(const Study study,
                           client_->WithRequestId(caller.request_id)->CreateStudy(spec));
  return Remember(study);
}

absl::Status Server::Amend(StudyId id, const Amendment& change, const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->AmendStudy(name, change).status();
}

absl::StatusOr<StudyId> Server::FindStudy(const std::string& name) {
  VERNIER_ASSIGN_OR_RETURN(const Study study, client_->GetStudy(name));
  return Remember(study);
}

absl::StatusOr<Study> Server::GetStudy(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->GetStudy(name);
}

absl::StatusOr<std::shared_ptr<const StudySpec>> Server::GetDefinition(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Known known, Get(id));
  return known.spec;
}

absl::StatusOr<std::vector<Study>> Server::ListStudies() { return client_->ListStudies(); }

absl::StatusOr<ReplayReport> Server::Replay(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  VERNIER_ASSIGN_OR_RETURN(const ReplaySummary summary, patient_->ReplayStudy(name));
  return ToReport(summary);
}

absl::Status Server::Pause(StudyId id, const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->PauseStudy(name).status();
}

absl::Status Server::Resume(StudyId id, const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->ResumeStudy(name).status();
}

absl::Status Server::Stop(StudyId id, const std::string& reason, const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->StopStudy(name, reason).status();
}

absl::Status Server::Finish(StudyId id, const std::string& reason, const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->FinishStudy(name, reason).status();
}

absl::Status Server::Delete(const std::string& name, bool force, const std::string& /*actor*/) {
  return client_->DeleteStudy(name, force);
}

absl::StatusOr<std::vector<Trial>> Server::ListTrials(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->ListTrials(name);
}

absl::StatusOr<std::vector<Trial>> Server::ListLeased(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  VERNIER_ASSIGN_OR_RETURN(
      std::vector<Trial> trials,
      client_->ListTrials(name, {.filter = "state = RUNNING OR state = STOPPING"}));
  std::erase_if(trials, [](const Trial& trial) { return !trial.lease.has_value(); });
  return trials;
}

absl::StatusOr<Trial> Server::GetTrial(TrialId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  return client_->GetTrial(name, id.number);
}

absl::StatusOr<std::vector<Measurement>> Server::ListMeasurements(TrialId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  return client_->ListMeasurements(name, id.number);
}

absl::StatusOr<std::vector<PredictedPoint>> Server::Predict(StudyId id, std::vector<Point> points) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->PredictPoints(name, points);
}

absl::StatusOr<Trial> Server::AddTrial(StudyId id,
                                       const TrialAddition& addition,
                                       const Caller& caller) {
  std::optional<std::map<std::string, double>> metrics;
  if (addition.last.has_value()) metrics = addition.last->metrics;
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->WithRequestId(caller.request_id)->AddTrial(name, addition.point, metrics);
}

absl::StatusOr<Trial> Server::StopTrial(TrialId id,
                                        const std::string& reason,
                                        const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  return client_->StopTrial(name, id.number, reason);
}

absl::StatusOr<std::vector<Trial>> Server::Suggest(StudyId id,
                                                   std::size_t count,
                                                   const std::string& holder) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id));
  return client_->WithName(holder)->SuggestTrials(name, static_cast<std::int32_t>(count));
}

absl::StatusOr<ReportedTrial> Server::Report(TrialId id,
                                             const Measurement& measurement,
                                             const LeaseToken& lease) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  VERNIER_ASSIGN_OR_RETURN(Client::Reported reported,
                           client_->Report(name, Held(id, lease), {measurement}));
  return ReportedTrial{.trial = std::move(reported.trial), .stop = reported.should_stop};
}

absl::Status Server::Heartbeat(TrialId id, const LeaseToken& lease) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  return client_->Heartbeat(name, Held(id, lease)).status();
}

absl::Status Server::EndLease(TrialId id, const LeaseToken& lease, const std::string& /*actor*/) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  const absl::Status ended = client_->EndLease(name, Held(id, lease)).status();
  // A server of version 0.1.0 ends leases by itself, when they expire.
  return absl::IsUnimplemented(ended) ? absl::OkStatus() : ended;
}

absl::StatusOr<Trial> Server::End(TrialId id, const TrialEnd& end, const LeaseToken& lease) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, NameOf(id.study));
  const Trial trial = Held(id, lease);
  switch (end.kind) {
    case TrialEnd::Kind::kFailed:
      return client_->Fail(name, trial, end.failure, end.message);
    case TrialEnd::Kind::kInfeasible:
      return client_->MarkInfeasible(name, trial, end.message);
    default:
      return client_->Complete(name, trial, end.last.metrics);
  }
}

StudyId Server::Remember(const Study& study) {
  auto spec = std::make_shared<const StudySpec>(study.spec);
  const std::lock_guard lock(mutex_);
  StudyId id = study.id;
  std::erase_if(studies_, [&](const auto& entry) {
    if (entry.second.name != study.spec.name) return false;
    if (id == StudyId(0)) id = entry.first;
    return true;
  });
  // A server of version 0.1.0 tells no numbers. No store has these.
  if (id == StudyId(0)) id = StudyId(--last_made_up_);
  studies_[id] = {.name = study.spec.name, .spec = std::move(spec)};
  return id;
}

std::optional<Server::Known> Server::Find(StudyId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = studies_.find(id);
  if (found == studies_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<Server::Known> Server::Get(StudyId id) {
  if (const auto known = Find(id)) return *known;
  // It was opened in a file, before the server opened that.
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Study> studies, client_->ListStudies());
  for (const Study& study : studies) Remember(study);
  if (const auto known = Find(id)) return *known;
  const std::lock_guard lock(mutex_);
  const char* const why =
      last_made_up_ < 0 ? " at the server, which is of version 0.1.0: update it" : "";
  return WithReason(absl::NotFoundError(fmt::format("there is no study {}{}", id.value(), why)),
                    Reason::kStudyNotFound);
}

absl::StatusOr<std::string> Server::NameOf(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Known known, Get(id));
  return known.name;
}

}  // namespace vernier::python
