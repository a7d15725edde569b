#include <string>
#include <utility>

#include "src/codec/event_json.h"
#include "src/core/limit_checks.h"
#include "src/core/status.h"
#include "src/service/log_stream.h"
#include "src/service/reply.h"
#include "src/service/study_service.h"
#include "vernier/core/limits.h"

namespace vernier::service {
absl::StatusOr<StudyWatches::Subscription> StudyServiceImpl::DecodeWatch(
    const v1::WatchStudyRequest& request) {
  VERNIER_ASSIGN_OR_RETURN(const StudyId study, FindStudy("name", request.name()));
  if (request.after_event() < 0) return FieldError("after_event", "must not be negative");
  VERNIER_RETURN_IF_ERROR(
      CheckAtMost("kinds", static_cast<std::size_t>(request.kinds_size()), limits::kEventKinds));
  for (const std::string& kind : request.kinds()) {
    if (!codec::IsEventKind(kind)) {
      return FieldError("kinds", fmt::format("'{}' is no kind of event", kind));
    }
  }
  return StudyWatches::Subscription{.study = study,
                                    .after = EventSeq(request.after_event()),
                                    .kinds = {request.kinds().begin(), request.kinds().end()},
                                    .follow = request.follow()};
}

StudyWatches::Reactor* StudyServiceImpl::WatchStudy(grpc::CallbackServerContext*,
                                                    const v1::WatchStudyRequest* request) {
  // The call may end at once, but only through a reactor: the callback interface has no other way to refuse.
  absl::StatusOr<StudyWatches::Subscription> subscription = DecodeWatch(*request);
  return subscription.ok() ? watches_.Begin(*std::move(subscription))
                           : watches_.Refuse(subscription.status());
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
    return stream.Run(stop);
  };
  return ReplyLong(context, "StreamTrialLogs", {}, work);
}

}  // namespace vernier::service
