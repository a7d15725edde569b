#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "src/codec/input_paths.h"
#include "src/service/paging.h"
#include "src/service/reply.h"
#include "src/service/study_service.h"
#include "src/service/trouble_proto.h"
#include "src/wire/columns.h"
#include "src/wire/filter.h"
#include "src/wire/names.h"
#include "src/wire/order.h"
#include "src/wire/page_token.h"
#include "src/wire/study_proto.h"
#include "src/wire/time_proto.h"

namespace vernier::service {
namespace {

v1::ReplayStudyResponse::Result EncodeReplayResult(ReplayReport::Line::Result result) {
  switch (result) {
    case ReplayReport::Line::Result::kVerified:
      return v1::ReplayStudyResponse::VERIFIED;
    case ReplayReport::Line::Result::kDiverged:
      return v1::ReplayStudyResponse::DIVERGED;
    case ReplayReport::Line::Result::kUnverifiable:
      return v1::ReplayStudyResponse::UNVERIFIABLE;
  }
  return v1::ReplayStudyResponse::RESULT_UNSPECIFIED;
}

void EncodeReplay(const ReplayReport& report, v1::ReplayStudyResponse* out) {
  out->set_suggestions(report.suggestions);
  out->set_stops(report.stops);
  out->set_verified(report.verified);
  for (const auto& problem : report.problems) {
    auto* line = out->add_problems();
    line->set_event(problem.event.value());
    line->set_trial(problem.trial.value());
    line->set_result(EncodeReplayResult(problem.result));
    line->set_detail(problem.detail);
  }
}

// Damaged studies cannot be rows of the list. Without this they would seem not to exist.
void EncodeDamaged(const StudyReader& studies, v1::ListStudiesResponse* out) {
  for (const DamagedStudy& damaged : studies.DamagedStudies()) {
    EncodeTrouble({.study = damaged.id,
                   .name = damaged.name,
                   .error = damaged.error,
                   .since = damaged.since,
                   .next_try = damaged.since},
                  out->add_damaged());
  }
}

}  // namespace

grpc::Status StudyServiceImpl::CreateStudy(grpc::ServerContext* context,
                                           const v1::CreateStudyRequest* request,
                                           v1::Study* response) {
  return Reply("CreateStudy", request->request_id(), [&]() -> absl::Status {
    // Before anything is decoded: the time that decoding takes grows faster than these counts.
    VERNIER_RETURN_IF_ERROR(wire::CheckCounts(request->study().spec()));
    VERNIER_ASSIGN_OR_RETURN(StudySpec spec,
                             wire::DecodeSpec(request->study_id(), request->study().spec()));
    // Also for a preview, which must show the study as it would be stored.
    VERNIER_ASSIGN_OR_RETURN(spec, parts_.prepare_job(std::move(spec)));
    const Caller caller = CallerOf(*context, {}, request->request_id());
    const absl::StatusOr<Study> study = request->validate_only()
                                            ? parts_.studies.PreviewStudy(spec)
                                            : parts_.studies.CreateStudy(spec, caller);
    // Errors are about the stored definition; the user may have written a training input.
    VERNIER_RETURN_IF_ERROR(codec::InWordsOfInput(study.status(), spec));
    wire::EncodeStudy(*study, response);
    if (request->validate_only()) return absl::OkStatus();
    // In this order: the engine that `changed` wakes should find the study wanted.
    parts_.wanted(spec.name);
    parts_.changed();
    return absl::OkStatus();
  });
}

grpc::Status StudyServiceImpl::GetStudy(grpc::ServerContext*,
                                        const v1::GetStudyRequest* request,
                                        v1::Study* response) {
  return Reply("GetStudy", {}, [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const std::string name, wire::ParseStudyName("name", request->name()));
    VERNIER_ASSIGN_OR_RETURN(const Study study, parts_.studies.FindStudy(name));
    wire::EncodeStudy(study, response);
    // Looked up among the troubles, which are few, since a study does not know of its own.
    for (const StudyTrouble& trouble : parts_.server.Troubles()) {
      if (trouble.study == study.id) EncodeTrouble(trouble, response->mutable_trouble());
    }
    // Only then does it matter to the study that no trial is started.
    const bool may_start = study.spec.job.has_value() && study.state == StudyState::kActive;
    if (may_start) response->set_held(parts_.server.WhyHeld());
    return absl::OkStatus();
  });
}

grpc::Status StudyServiceImpl::ListStudies(grpc::ServerContext*,
                                           const v1::ListStudiesRequest* request,
                                           v1::ListStudiesResponse* response) {
  return Reply("ListStudies", {}, [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const PageRequest page, DecodePage(*request, ""));
    std::size_t bytes = 0;
    wire::PageToken end = page.begin;
    const auto add = [&](const Study& study) {
      if (response->studies_size() == page.size || bytes >= kPageBytes) {
        response->set_next_page_token(wire::EncodePageToken(end, page.query));
        return false;
      }
      v1::Study& row = *response->add_studies();
      wire::EncodeStudy(study, &row);
      bytes += row.ByteSizeLong();
      end = {.last = study.id.value(), .offset = end.offset + 1};
      return true;
    };
    VERNIER_RETURN_IF_ERROR(ReadStudies(*request, page.begin, add));
    // This was the last page. Only there are damaged studies told of, so that a client sees each once.
    if (response->next_page_token().empty()) EncodeDamaged(parts_.studies, response);
    return absl::OkStatus();
  });
}

// Calls `take` with the studies that the request wants, behind those of earlier pages, until it returns false.
absl::Status StudyServiceImpl::ReadStudies(const v1::ListStudiesRequest& request,
                                           const wire::PageToken& begin,
                                           const std::function<bool(const Study&)>& take) const {
  VERNIER_ASSIGN_OR_RETURN(const auto filter,
                           wire::Filter::Parse(request.filter(), wire::StudyColumnSet()));
  VERNIER_ASSIGN_OR_RETURN(const auto order,
                           wire::Order::Parse(request.order_by(), wire::StudyColumnSet()));
  const auto cell = [](const Study& study, std::string_view column) {
    return wire::ReadCell(wire::StudyColumns(), study, column);
  };
  const auto matches = [&](const Study& study) {
    return filter.Matches([&](std::string_view column) { return cell(study, column); });
  };
  // Without an order, the store is read on from the last id; nothing before it is looked at.
  if (order.empty()) {
    return parts_.studies.ScanStudies(
        StudyId(begin.last), [&](const Study& study) { return !matches(study) || take(study); });
  }
  // The store has no index for an order of studies. All are ranked anew for each page: studies are few,
  // and only their keys are held in memory.
  std::vector<std::pair<std::string, StudyId>> ranking;
  VERNIER_RETURN_IF_ERROR(parts_.studies.ScanStudies(StudyId(0), [&](const Study& study) {
    if (!matches(study)) return true;
    const auto read = [&](std::string_view column) { return cell(study, column); };
    ranking.emplace_back(order.Key(read), study.id);
    return true;
  }));
  std::ranges::sort(ranking);
  // Behind the last one given, wherever it is by now; where it was, if it is gone.
  const auto last = std::ranges::find(
      ranking, StudyId(begin.last), [](const auto& entry) { return entry.second; });
  const auto place = std::clamp<std::ptrdiff_t>(begin.offset - 1, 0, std::ssize(ranking));
  auto next = last != ranking.end() ? std::next(last) : ranking.begin() + place;
  for (; next != ranking.end(); ++next) {
    const absl::StatusOr<Study> study = parts_.studies.GetStudy(next->second);
    if (absl::IsNotFound(study.status())) continue;  // Deleted meanwhile.
    VERNIER_RETURN_IF_ERROR(study.status());
    if (!take(*study)) break;
  }
  return absl::OkStatus();
}

grpc::Status StudyServiceImpl::UpdateStudy(grpc::ServerContext* context,
                                           const v1::UpdateStudyRequest* request,
                                           v1::Study* response) {
  return Reply("UpdateStudy", request->request_id(), [&]() -> absl::Status {
    const std::string& name = request->name().empty() ? request->study().name() : request->name();
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudy("name", name));
    VERNIER_RETURN_IF_ERROR(wire::CheckCounts(request->study().spec()));
    VERNIER_ASSIGN_OR_RETURN(Amendment change, wire::DecodeAmendment(*request));
    VERNIER_RETURN_IF_ERROR(PrepareAmendment(id, change));
    const Caller caller = CallerOf(*context, {}, request->request_id());
    VERNIER_ASSIGN_OR_RETURN(const Study study,
                             request->validate_only() ? parts_.studies.PreviewAmendment(id, change)
                                                      : parts_.studies.Amend(id, change, caller));
    wire::EncodeStudy(study, response);
    if (request->validate_only()) return absl::OkStatus();
    if (change.definition.has_value()) parts_.wanted(study.spec.name);
    parts_.changed();
    return absl::OkStatus();
  });
}

// A job that came with the change is checked and filled in as that of a new study. Where metrics are read from must suit how
// many trials run at once.
absl::Status StudyServiceImpl::PrepareAmendment(StudyId id, Amendment& change) const {
  // Nothing of the change concerns the job.
  if (!change.definition && !change.job && !change.metrics && !change.parallel) {
    return absl::OkStatus();
  }
  VERNIER_ASSIGN_OR_RETURN(const auto definition, parts_.studies.GetDefinition(id));
  const bool is_parallel_alone = !change.definition && !change.job && !change.metrics;
  // If only the number of parallel trials changes, a study without metrics of its own has nothing that could conflict.
  if (is_parallel_alone && definition->metrics.empty()) return absl::OkStatus();
  StudySpec spec = change.definition.value_or(*definition);
  // A definition in an amendment comes without a name.
  spec.name = definition->name;
  if (change.job.has_value()) spec.job = change.job;
  if (change.metrics.has_value()) spec.metrics = *change.metrics;
  if (change.parallel.has_value()) spec.parallel = *change.parallel;
  absl::StatusOr<StudySpec> prepared = parts_.prepare_job(spec);
  if (!prepared.ok()) return codec::InWordsOfInput(prepared.status(), spec);
  // What follows from the job is stored with it. Other parts stay as the client sent them.
  if (change.job.has_value()) change.job = prepared->job;
  if (change.definition.has_value()) change.definition = *std::move(prepared);
  return absl::OkStatus();
}

grpc::Status StudyServiceImpl::DeleteStudy(grpc::ServerContext* context,
                                           const v1::DeleteStudyRequest* request,
                                           google::protobuf::Empty*) {
  return Reply("DeleteStudy", request->request_id(), [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const std::string name, wire::ParseStudyName("name", request->name()));
    const Caller caller = CallerOf(*context, {}, request->request_id());
    VERNIER_RETURN_IF_ERROR(parts_.studies.Delete(name, request->force(), caller));
    parts_.changed();
    return absl::OkStatus();
  });
}

template <typename Request, typename Change>
grpc::Status StudyServiceImpl::SteerStudy(grpc::ServerContext* context,
                                          std::string_view method,
                                          const Request& request,
                                          v1::Study* response,
                                          Change change) {
  return Reply(method, request.request_id(), [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudy("name", request.name()));
    VERNIER_ASSIGN_OR_RETURN(const Study study,
                             change(id, CallerOf(*context, {}, request.request_id())));
    wire::EncodeStudy(study, response);
    // An amended, resumed or stopped study may have something to do at once.
    parts_.changed();
    return absl::OkStatus();
  });
}

grpc::Status StudyServiceImpl::PauseStudy(grpc::ServerContext* context,
                                          const v1::PauseStudyRequest* request,
                                          v1::Study* response) {
  return SteerStudy(
      context, "PauseStudy", *request, response, [&](StudyId id, const Caller& caller) {
        return parts_.studies.Pause(id, caller);
      });
}

absl::StatusOr<Study> StudyServiceImpl::ResumeOne(StudyId id,
                                                  bool if_paused,
                                                  const Caller& caller) {
  if (if_paused) {
    // The state may change between the two calls; then Resume refuses, as it would without `if_paused`.
    VERNIER_ASSIGN_OR_RETURN(Study study, parts_.studies.GetStudy(id));
    if (study.state == StudyState::kActive) return study;
  }
  return parts_.studies.Resume(id, caller);
}

grpc::Status StudyServiceImpl::ResumeStudy(grpc::ServerContext* context,
                                           const v1::ResumeStudyRequest* request,
                                           v1::Study* response) {
  return SteerStudy(context,
                    "ResumeStudy",
                    *request,
                    response,
                    [&](StudyId id, const Caller& caller) -> absl::StatusOr<Study> {
                      VERNIER_ASSIGN_OR_RETURN(const Study study,
                                               ResumeOne(id, request->if_paused(), caller));
                      // Also for a study that was ACTIVE: a server that runs only requested studies (`vernier run`)
                      // runs it from now on.
                      parts_.wanted(study.spec.name);
                      return study;
                    });
}

grpc::Status StudyServiceImpl::StopStudy(grpc::ServerContext* context,
                                         const v1::StopStudyRequest* request,
                                         v1::Study* response) {
  return SteerStudy(
      context, "StopStudy", *request, response, [&](StudyId id, const Caller& caller) {
        return parts_.studies.Stop(id, request->reason(), caller);
      });
}

grpc::Status StudyServiceImpl::FinishStudy(grpc::ServerContext* context,
                                           const v1::FinishStudyRequest* request,
                                           v1::Study* response) {
  return SteerStudy(
      context, "FinishStudy", *request, response, [&](StudyId id, const Caller& caller) {
        return parts_.studies.Finish(id, request->reason(), caller);
      });
}

grpc::Status StudyServiceImpl::ReplayStudy(grpc::ServerContext*,
                                           const v1::ReplayStudyRequest* request,
                                           v1::ReplayStudyResponse* response) {
  return Reply("ReplayStudy", {}, [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudy("name", request->name()));
    VERNIER_ASSIGN_OR_RETURN(const ReplayReport report, parts_.studies.Replay(id));
    EncodeReplay(report, response);
    return absl::OkStatus();
  });
}

}  // namespace vernier::service
