#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/support/async_stream.h"
#include "src/wire/status_proto.h"

namespace vernier::cli {

// A server stream with bounded reads: a read never blocks longer than told, so that one thread can follow a study,
// redraw the screen and notice Ctrl-C.
template <typename Message>
class Stream {
 public:
  enum class Next {
    kMessage,
    kQuiet,  // No message within the time; read again.
    kEnd,    // The server ended the stream without an error.
  };
  using Reader = grpc::ClientAsyncReaderInterface<Message>;
  using Start =
      std::function<std::unique_ptr<Reader>(grpc::ClientContext*, grpc::CompletionQueue*)>;

  // `start` begins the call, with StubInterface::PrepareAsync….
  explicit Stream(const Start& start) : reader_(start(&context_, &queue_)) {
    reader_->StartCall(Tag(kStarted));
  }
  ~Stream() {
    // gRPC requires that a queue be drained before it is destroyed; cancelling ends the pending operation.
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Waits at most `patience` for the next message and moves it to `message`. Errors are those of the server.
  absl::StatusOr<Next> Read(absl::Duration patience, Message& message) {
    while (!done_) {
      void* tag = nullptr;
      bool ok = false;
      if (queue_.AsyncNext(&tag, &ok, Deadline(patience)) == grpc::CompletionQueue::TIMEOUT) {
        return Next::kQuiet;
      }
      if (tag == Tag(kFinished)) {
        done_ = true;
      } else if (!ok) {
        reader_->Finish(&status_, Tag(kFinished));
      } else {
        const bool has_message = tag == Tag(kRead);
        // The next read is started before the message is returned, so that it arrives meanwhile.
        if (has_message) message = std::move(pending_);
        pending_.Clear();
        reader_->Read(&pending_, Tag(kRead));
        if (has_message) return Next::kMessage;
      }
    }
    if (!status_.ok()) return wire::DecodeStatus(status_);
    return Next::kEnd;
  }

 private:
  enum Step : std::size_t { kStarted, kRead, kFinished, kSteps };
  void* Tag(Step step) { return &tags_[step]; }
  static gpr_timespec Deadline(absl::Duration patience) {
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_millis(absl::ToInt64Milliseconds(patience), GPR_TIMESPAN));
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::array<char, kSteps> tags_ = {};  // Their addresses identify the steps.
  std::unique_ptr<Reader> reader_;
  Message pending_;
  grpc::Status status_;
  bool done_ = false;
};

}  // namespace vernier::cli
