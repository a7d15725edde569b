#include <functional>
#include <set>
#include <string>
#include <utility>

#include "src/codec/event_json.h"
#include "src/core/status.h"
#include "src/service/log_stream.h"
#include "src/service/reply.h"
#include "src/service/study_service.h"
#include "src/wire/event_proto.h"

namespace vernier::service {
namespace {

constexpr std::size_t kBatch = 256;
// How long to wait for an event before looking whether the study still exists.
constexpr absl::Duration kPatience = absl::Seconds(30);

}  // namespace

absl::Status StudyServiceImpl::SendEvents(const v1::WatchStudyRequest& request,
                                          grpc::ServerWriter<v1::StudyEvent>& writer,
                                          const std::stop_token& stop) const {
  VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudy("name", request.name()));
  if (request.after_event() < 0) return FieldError("after_event", "must not be negative");
  for (const std::string& kind : request.kinds()) {
    if (!codec::IsEventKind(kind)) {
      return FieldError("kinds", fmt::format("'{}' is no kind of event", kind));
    }
  }
  const std::set<std::string, std::less<>> kinds(request.kinds().begin(), request.kinds().end());
  EventSeq after(request.after_event());
  while (!stop.stop_requested()) {
    VERNIER_ASSIGN_OR_RETURN(const auto events, parts_.studies.ReadEvents(id, after, kBatch));
    for (const Event& event : events) {
      after = event.seq;
      if (!kinds.empty() && !kinds.contains(EventKind(event.payload))) continue;
      v1::StudyEvent proto;
      wire::EncodeEvent(event, &proto);
      if (!writer.Write(proto)) return Stopped();
    }
    if (events.size() == kBatch) continue;
    VERNIER_ASSIGN_OR_RETURN(const Study study, parts_.studies.GetStudy(id));
    const bool all_sent = after >= study.last_event;
    if (all_sent && (!request.follow() || IsFinished(study.state))) return absl::OkStatus();
    if (all_sent) parts_.studies.WaitForEvents(id, after, kPatience, stop);
  }
  return Stopped();
}

grpc::Status StudyServiceImpl::WatchStudy(grpc::ServerContext* context,
                                          const v1::WatchStudyRequest* request,
                                          grpc::ServerWriter<v1::StudyEvent>* writer) {
  return ReplyLong(context, "WatchStudy", {}, [&](const std::stop_token& stop) {
    return SendEvents(*request, *writer, stop);
  });
}

grpc::Status StudyServiceImpl::StreamTrialLogs(grpc::ServerContext* context,
                                               const v1::StreamTrialLogsRequest* request,
                                               grpc::ServerWriter<v1::LogLine>* writer) {
  const auto work = [&](const std::stop_token& stop) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Named named, FindTrial("name", request->name()));
    if (request->attempt() < 0) return FieldError("attempt", "must not be negative");
    if (request->tail() < 0) return FieldError("tail", "must not be negative");
    VERNIER_ASSIGN_OR_RETURN(LogFilter filter, DecodeFilter(*request));
    LogStream stream(parts_.studies,
                     parts_.logs,
                     parts_.clock,
                     named.id,
                     *request,
                     std::move(filter),
                     [&](const v1::LogLine& line) { return writer->Write(line); });
    const absl::Status status = stream.Run(stop);
    return absl::IsCancelled(status) ? Stopped() : status;
  };
  return ReplyLong(context, "StreamTrialLogs", {}, work);
}

}  // namespace vernier::service
