#include "src/service/study_service.h"

#include <utility>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/service/reply.h"
#include "src/wire/names.h"

namespace vernier::service {

StudyServiceImpl::StudyServiceImpl(ServiceParts parts)
    : parts_(std::move(parts)),
      started_(parts_.clock.Now()),
      outcomes_(parts_.studies),
      lists_(parts_.studies),
      watches_(parts_.studies, [this](const absl::Status& status) {
        return ToWireStatus(status, "WatchStudy", parts_.call_ids.Next());
      }) {}

absl::StatusOr<StudyId> StudyServiceImpl::FindStudy(std::string_view field,
                                                    const std::string& name) const {
  VERNIER_ASSIGN_OR_RETURN(const std::string study, wire::ParseStudyName(field, name));
  return parts_.studies.FindStudyId(study);
}

absl::StatusOr<StudyServiceImpl::Named> StudyServiceImpl::FindTrial(std::string_view field,
                                                                    const std::string& name) const {
  VERNIER_ASSIGN_OR_RETURN(wire::TrialName parsed, wire::ParseTrialName(field, name));
  VERNIER_ASSIGN_OR_RETURN(const StudyId id, parts_.studies.FindStudyId(parsed.study));
  return Named{.study = std::move(parsed.study), .id = {id, parsed.number}};
}

absl::StatusOr<StudyServiceImpl::Named> StudyServiceImpl::FindParent(
    const std::string& parent) const {
  VERNIER_ASSIGN_OR_RETURN(std::string study, wire::ParseStudyName("parent", parent));
  VERNIER_ASSIGN_OR_RETURN(const StudyId id, parts_.studies.FindStudyId(study));
  // No trial has the number 0.
  return Named{.study = std::move(study), .id = {id, TrialNumber()}};
}

Trials::OnTrial StudyServiceImpl::AnswerWith(const Named& named,
                                             v1::Trial* response,
                                             Answer answer) {
  return [this, named, response, answer = std::move(answer)](const absl::StatusOr<Trial>& trial) {
    if (trial.ok()) EncodeTrial(named.study, named.id.study, *trial, response);
    answer(trial.status());
  };
}

Caller CallerOf(const grpc::ServerContextBase& context,
                const std::string& client_id,
                const std::string& request_id) {
  // In this order: a worker is known by its client id, and the metadata names whoever uses the command line.
  if (!client_id.empty()) return {.actor = client_id, .request_id = request_id};
  const auto actor = context.client_metadata().find("x-vernier-actor");
  if (actor == context.client_metadata().end()) return {.actor = "user", .request_id = request_id};
  return {.actor = {actor->second.data(), actor->second.size()}, .request_id = request_id};
}

}  // namespace vernier::service
