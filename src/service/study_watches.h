#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/server_callback.h"
#include "src/base/thread_pool.h"
#include "vernier/core/ids.h"
#include "vernier/studies.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::service {

// The calls of WatchStudy. One that waits for an event has no thread: a change of its study wakes it, and a few threads
// read and send for all of them. Thread-safe.
class StudyWatches {
 public:
  using Reactor = grpc::ServerWriteReactor<v1::StudyEvent>;
  // What the client gets to see of an error.
  using ToWire = std::function<grpc::Status(const absl::Status&)>;

  // Which events to send.
  struct Subscription {
    StudyId study;
    EventSeq after;
    std::set<std::string, std::less<>> kinds;  // Empty: all.
    bool follow = false;  // Until the study has ended; else those that there are.
  };

  // `studies` must outlive this.
  StudyWatches(const Studies& studies, ToWire to_wire);
  // Waits until every call has ended.  REQUIRES: Shutdown was called, or there are none.
  ~StudyWatches();
  StudyWatches(const StudyWatches&) = delete;
  StudyWatches& operator=(const StudyWatches&) = delete;

  // A call that begins; gRPC's until it has ended.
  Reactor* Begin(Subscription subscription);
  // A call that ends at once.
  Reactor* Refuse(const absl::Status& status);
  // Ends all calls, and those that come later.
  void Shutdown();

 private:
  class Watch;
  using Shared = std::shared_ptr<Watch>;  // Held by gRPC, and by the thread that works for it.

  // The study has changed: looks at its calls, elsewhere.
  void Wake(StudyId study);
  void Remove(StudyId study, const Shared& watch);

  const Studies& studies_;
  const ToWire to_wire_;
  mutable absl::Mutex mu_;
  std::map<StudyId, std::set<Shared>> watches_ ABSL_GUARDED_BY(mu_);
  std::set<StudyId> woken_ ABSL_GUARDED_BY(mu_);  // Somebody will look at their calls.
  std::size_t count_ ABSL_GUARDED_BY(mu_) = 0;    // Calls that gRPC has not let go of.
  bool is_shut_down_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<base::ThreadPool> threads_;
  std::unique_ptr<Studies::Subscription> subscription_;
};

}  // namespace vernier::service
