#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "src/service/vizier/definition.h"
#include "src/service/vizier/reply.h"
#include "src/service/vizier/values.h"
#include "src/service/vizier/vizier_service.h"

namespace vernier::vizier {
namespace {

const Caller& VizierCaller() {
  static const auto* const caller = new Caller{.actor = "vizier", .request_id = ""};
  return *caller;
}

// Nothing: the study itself.
absl::StatusOr<std::optional<TrialNumber>> TrialOf(const ::vizier::UnitMetadataUpdate& update) {
  if (!update.has_trial_id()) return std::nullopt;
  const std::string& text = update.trial_id();
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  // The canonical form only: no sign, no zeros in front.
  if (number > 0 && text == std::to_string(number)) return TrialNumber(number);
  return FieldError("delta.trial_id", fmt::format("must be a trial's number, got '{}'", text));
}

absl::Status NoStudy(const StudyName& name) {
  return WithReason(NotFound("there is no study {}", ResourceName(name)), Reason::kStudyNotFound);
}

}  // namespace

absl::StatusOr<Study> VizierServiceImpl::FindStudy(std::string_view field,
                                                   const std::string& resource) const {
  VERNIER_ASSIGN_OR_RETURN(const StudyName name, ParseStudyName(field, resource));
  absl::StatusOr<Study> study = parts_.studies.FindStudy(StoredName(name));
  // Two names may be stored as one. A study that has another name is none of this client's.
  const bool is_other = study.ok() && NameOf(study->spec) != name;
  if (!is_other && !absl::IsNotFound(study.status())) return study;
  return NoStudy(name);
}

grpc::Status VizierServiceImpl::ReplyOf(const absl::Status& status, std::string_view method) const {
  if (status.ok()) return grpc::Status::OK;
  return service::ToWireStatus(status, method, parts_.call_ids.Next());
}

absl::StatusOr<VizierServiceImpl::Known> VizierServiceImpl::FindKnown(std::string_view field,
                                                                      const std::string& resource) {
  VERNIER_ASSIGN_OR_RETURN(const StudyName name, ParseStudyName(field, resource));
  return FindKnown(name);
}

absl::StatusOr<VizierServiceImpl::Known> VizierServiceImpl::FindKnown(const StudyName& name) {
  VERNIER_ASSIGN_OR_RETURN(Known known, FindAtHand(name));
  if (known.codec != nullptr) return known;
  VERNIER_ASSIGN_OR_RETURN(auto definition, parts_.studies.GetDefinition(known.id));
  auto codec = std::make_shared<const TrialCodec>(std::move(definition));
  {
    const absl::MutexLock lock(&mu_);
    if (codecs_.size() >= kKnown) codecs_.clear();
    // Another call may have made one meanwhile; the first one stays, so that all calls share it.
    known.codec = codecs_.try_emplace(known.id, std::move(codec)).first->second;
  }
  // Checked after it was stored in codecs_: it is right for the study's id, whatever name was asked for.
  if (known.codec->study() != name) return NoStudy(name);
  return known;
}

absl::StatusOr<VizierServiceImpl::Known> VizierServiceImpl::FindAtHand(const StudyName& name) {
  const absl::StatusOr<StudyId> id = parts_.studies.FindStudyId(StoredName(name));
  if (absl::IsNotFound(id.status())) return NoStudy(name);
  VERNIER_RETURN_IF_ERROR(id.status());
  const absl::MutexLock lock(&mu_);
  const auto found = codecs_.find(*id);
  if (found == codecs_.end()) return Known{.id = *id, .codec = nullptr};
  if (found->second->study() != name) return NoStudy(name);
  return Known{.id = *id, .codec = found->second};
}

grpc::Status VizierServiceImpl::CreateStudy(grpc::ServerContext*,
                                            const ::vizier::CreateStudyRequest* request,
                                            ::vizier::Study* response) {
  return Reply("vizier.CreateStudy", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(std::string owner, ParseOwnerName("parent", request->parent()));
    if (!request->study().name().empty()) {
      return FieldError("study.name", "must be empty: the server gives it");
    }
    if (!::vizier::Study::State_IsValid(request->study().state())) {
      return FieldError("study.state",
                        fmt::format("must be ACTIVE, INACTIVE or COMPLETED, got {}",
                                    static_cast<int>(request->study().state())));
    }
    const std::string resource = ResourceName(
        StudyName{.owner = std::move(owner), .study = request->study().display_name()});
    VERNIER_ASSIGN_OR_RETURN(const StudyName name, ParseStudyName("study.display_name", resource));
    // A client that "creates" a study that exists gets it as it is: this is how Vizier's workers join one.
    absl::StatusOr<Study> study = FindStudy("study.display_name", resource);
    if (absl::IsNotFound(study.status())) {
      VERNIER_ASSIGN_OR_RETURN(const StudySpec spec,
                               DecodeDefinition(name, request->study().study_spec()));
      study = parts_.studies.CreateStudy(spec, VizierCaller());
      // Not one step with the creation: whoever sees the study between the two sees it ACTIVE.
      if (study.ok() && request->study().state() != ::vizier::Study::STATE_UNSPECIFIED) {
        study = SetState(*study, request->study().state(), VizierCaller());
      }
      // Another client may have made it meanwhile.
      if (absl::IsAlreadyExists(study.status())) {
        absl::StatusOr<Study> other = FindStudy("study.display_name", resource);
        if (other.ok()) study = std::move(other);
      }
      parts_.changed();
    }
    VERNIER_RETURN_IF_ERROR(study.status());
    EncodeStudy(*study, response);
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::GetStudy(grpc::ServerContext*,
                                         const ::vizier::GetStudyRequest* request,
                                         ::vizier::Study* response) {
  return Reply("vizier.GetStudy", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("name", request->name()));
    EncodeStudy(study, response);
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::ListStudies(grpc::ServerContext*,
                                            const ::vizier::ListStudiesRequest* request,
                                            ::vizier::ListStudiesResponse* response) {
  return Reply("vizier.ListStudies", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const std::string owner, ParseOwnerName("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(std::vector<Study> studies, parts_.studies.ListStudies());
    std::erase_if(studies, [&](const Study& study) { return NameOf(study.spec).owner != owner; });
    return AddPage(
        *request,
        studies,
        response->mutable_studies(),
        response->mutable_next_page_token(),
        [](const Study& study) { return study.id.value(); },
        [](const Study& study, ::vizier::Study* row) {
          EncodeStudy(study, row);
          return absl::OkStatus();
        });
  });
}

grpc::Status VizierServiceImpl::DeleteStudy(grpc::ServerContext*,
                                            const ::vizier::DeleteStudyRequest* request,
                                            google::protobuf::Empty*) {
  return Reply("vizier.DeleteStudy", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("name", request->name()));
    // Vizier's clients delete a study with its trials, whoever holds them. A job's trials must be stopped first.
    VERNIER_RETURN_IF_ERROR(
        parts_.studies.Delete(study.spec.name, /*force=*/!study.spec.job, VizierCaller()));
    operations_.Forget(study.id);
    parts_.changed();
    return absl::OkStatus();
  });
}

absl::StatusOr<Study> VizierServiceImpl::SetState(const Study& study,
                                                  ::vizier::Study::State state,
                                                  const Caller& caller) {
  // A client cannot tell a study that is stopping or cancelled from a completed one, so ending it again is no error.
  if (EncodeState(study.state) == state) return study;
  switch (state) {
    case ::vizier::Study::ACTIVE:
      return parts_.studies.Resume(study.id, caller);
    case ::vizier::Study::INACTIVE:
      return parts_.studies.Pause(study.id, caller);
    case ::vizier::Study::COMPLETED:
      return parts_.studies.Finish(study.id, "completed by a client", caller);
    default:
      return FieldError(
          "state",
          fmt::format("must be ACTIVE, INACTIVE or COMPLETED, got {}", static_cast<int>(state)));
  }
}

grpc::Status VizierServiceImpl::SetStudyState(grpc::ServerContext*,
                                              const ::vizier::SetStudyStateRequest* request,
                                              ::vizier::Study* response) {
  return Reply("vizier.SetStudyState", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const Study changed,
                             SetState(study, request->state(), VizierCaller()));
    EncodeStudy(changed, response);
    parts_.changed();
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::UpdateMetadata(grpc::ServerContext*,
                                               const ::vizier::UpdateMetadataRequest* request,
                                               ::vizier::UpdateMetadataResponse* response) {
  return Reply("vizier.UpdateMetadata", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("name", request->name()));
    // Metadata are read-only once the study is no longer ACTIVE to the client, as with Vizier's own server.
    VERNIER_RETURN_IF_ERROR(CheckChangeable(study));
    MetadataUpdate values;
    for (const ::vizier::UnitMetadataUpdate& update : request->delta()) {
      VERNIER_ASSIGN_OR_RETURN(const std::optional<TrialNumber> trial, TrialOf(update));
      DecodeMetadatum(update.metadatum(), trial ? values.trials[*trial] : values.study);
    }
    absl::Status set = parts_.studies.SetMetadata(study.id, values, VizierCaller());
    if (!absl::IsNotFound(set) || values.trials.empty()) return set;
    // A Vizier client looks for it there, and raises what its callers expect.
    response->set_error_details(std::string(set.message()));
    return absl::OkStatus();
  });
}

}  // namespace vernier::vizier
