#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "src/service/status_map.h"
#include "src/service/study_service.h"
#include "vernier/studies.h"

// What every call of the service shares.
namespace vernier::service {

// Who makes the call; see StudyServiceImpl.
Caller CallerOf(const grpc::ServerContextBase& context,
                const std::string& client_id,
                const std::string& request_id);

template <typename Work>
grpc::Status StudyServiceImpl::Reply(std::string_view method,
                                     std::string_view request_id,
                                     Work work) {
  const absl::Status status = work();
  if (status.ok()) return grpc::Status::OK;
  return ToWireStatus(
      status, method, request_id.empty() ? parts_.call_ids.Next() : std::string(request_id));
}

template <typename Work>
grpc::ServerUnaryReactor* StudyServiceImpl::ReplyLater(grpc::CallbackServerContext* context,
                                                       std::string_view method,
                                                       const std::string& request_id,
                                                       const absl::StatusOr<Named>& named,
                                                       Work work) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto serve = [this, reactor, method, &request_id, named, work] {
    const Answer answer = [this, reactor, method, &request_id](const absl::Status& status) {
      // The request lives until then.
      reactor->Finish(Reply(method, request_id, [&] { return status; }));
    };
    const absl::Status begun = named.ok() ? work(*named, answer) : named.status();
    if (!begun.ok()) answer(begun);
  };
  if (!named.ok() || parts_.studies.IsAtHand(named->id.study)) {
    serve();
  } else {
    side_threads_.Run(serve);
  }
  return reactor;
}

template <typename Work>
grpc::Status StudyServiceImpl::ReplyLong(grpc::ServerContext* context,
                                         std::string_view method,
                                         std::string_view request_id,
                                         Work work) {
  return Reply(method, request_id, [&]() -> absl::Status {
    if (context->IsCancelled()) return parts_.calls.Stopped();
    const CallWatch::Watched call(parts_.calls, [context] { return context->IsCancelled(); });
    return WhyGivenUp(work(call.token()));
  });
}

}  // namespace vernier::service
