#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "src/wire/status_proto.h"
#include "vernier/client.h"
#include "vernier/core/clock.h"

namespace vernier::client {

// 128 random bits as text: no two calls share one.
std::string NewRequestId();

// Whether the call was lost on its way: no server, or one that went away in the midst of it. The latter may look like a
// cancellation, which this side has not asked for.
inline bool IsLost(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status);
}

// Makes calls that survive a server that is away for a moment: each is tried again while it is lost, with waits that
// grow, until the client's time for it is over. Thread-safe.
class Retry {
 public:
  // `channel`: that of the calls.
  Retry(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel);
  // Of the same channel and with what is known of its server, for a client that is derived from another.
  Retry(const Retry& other, const ClientOptions& options);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // What `call` answers. It is called with a context that has the deadline and the actor, and must make the same request
  // each time.
  template <typename Response, typename Call>
  absl::StatusOr<Response> Run(Call call) const {
    const absl::Time deadline = Deadline();
    for (int attempt = 1;; ++attempt) {
      grpc::ClientContext context;
      Prepare(deadline, &context);
      Response response{};
      const grpc::Status status = call(&context, &response);
      const absl::Status error = status.ok() ? absl::OkStatus() : wire::DecodeStatus(status);
      if (!IsLost(error)) NoteAnswer();
      if (status.ok()) return response;
      if (!IsLost(error) || !Wait(attempt, deadline, {})) return error;
    }
  }

  // Of a call, or of the tries to get a stream going again, that begin now.
  absl::Time Deadline() const { return clock_->Now() + options_.timeout; }
  // The server has answered something (ClientOptions::attempts_once_answered).
  void NoteAnswer() const { has_answered_->store(true, std::memory_order_relaxed); }
  // The actor goes with every call; infinite: no deadline.
  void Prepare(absl::Time deadline, grpc::ClientContext* context) const;
  // Waits before the next attempt, or until the channel is connected again.  False: there is to be none, or `stop` fired.
  bool Wait(int attempt, absl::Time deadline, const std::stop_token& stop) const;

 private:
  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;  // gRPC shares it with stubs.
  const std::shared_ptr<Clock> clock_;
  const std::shared_ptr<std::atomic<bool>> has_answered_;
};

}  // namespace vernier::client
