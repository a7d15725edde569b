// Watches of a study cost no thread: ten thousand of them wait at once.
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/service/server_fixture.h"

namespace vernier::service {
namespace {

constexpr int kWatches = 10'000;
constexpr absl::Duration kPatience = absl::Minutes(2);

int CountThreads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
  }
  return 0;
}

// How many of the watches have come so far.
class Progress {
 public:
  void Count() {
    if (++count_ == kWatches) all_.Notify();
  }
  bool Wait() { return all_.WaitForNotificationWithTimeout(kPatience); }
  int count() const { return count_; }

 private:
  std::atomic<int> count_ = 0;
  absl::Notification all_;
};

struct Stages {
  Progress begun;  // Got the first event.
  Progress told;   // Got one that came later.
  Progress ended;  // With OK.
};

// One client that follows the study.
class Watcher final : public grpc::ClientReadReactor<v1::StudyEvent> {
 public:
  Watcher(v1::StudyService::Stub& stub, Stages& stages) : stages_(stages) {
    request_.set_name("studies/s");
    request_.set_follow(true);
    stub.async()->WatchStudy(&context_, &request_, this);
    StartRead(&event_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    ++events_;
    if (events_ == 1) stages_.begun.Count();
    if (events_ == 2) stages_.told.Count();
    StartRead(&event_);
  }
  void OnDone(const grpc::Status& status) override {
    if (status.ok()) stages_.ended.Count();
    done_.DecrementCount();
  }
  void Cancel() { context_.TryCancel(); }
  void WaitUntilDone() { done_.Wait(); }

 private:
  Stages& stages_;
  v1::WatchStudyRequest request_;
  v1::StudyEvent event_;
  int events_ = 0;
  grpc::ClientContext context_;
  absl::BlockingCounter done_{1};
};

class ManyWatchesTest : public ServerTest {
 protected:
  void BeginAll() {
    for (int i = 0; i < kWatches; ++i) {
      watchers_.push_back(std::make_unique<Watcher>(*stub_, stages_));
    }
  }
  void WaitUntilDone() {
    for (const auto& watcher : watchers_) watcher->WaitUntilDone();
  }

  Stages stages_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

TEST_F(ManyWatchesTest, WaitWithoutThreadsAndAreAllTold) {
  constexpr int kThreadsForAll = 32;  // gRPC's own, those that serve calls, and four that send.
  CreateStudy("s");
  const int before = CountThreads();
  BeginAll();
  ASSERT_TRUE(stages_.begun.Wait()) << stages_.begun.count();
  EXPECT_LE(CountThreads(), before + kThreadsForAll);
  EXPECT_EQ(stages_.told.count(), 0);
  const v1::Trial trial = Suggest("w");  // Others are served meanwhile.
  ASSERT_TRUE(stages_.told.Wait()) << stages_.told.count();
  Complete(trial, 0.5);
  Call(&Stub::StopStudy, Text<v1::StopStudyRequest>("name: 'studies/s' reason: 'enough'"));
  WaitUntilDone();
  EXPECT_EQ(stages_.ended.count(), kWatches);
}

TEST_F(ManyWatchesTest, EndWithTheirClientsOrTheServer) {
  CreateStudy("s");
  BeginAll();
  ASSERT_TRUE(stages_.begun.Wait()) << stages_.begun.count();
  for (std::size_t i = 0; i < watchers_.size(); i += 2) watchers_[i]->Cancel();
  server_->Shutdown();
  WaitUntilDone();
  EXPECT_EQ(stages_.ended.count(), 0);
}

}  // namespace
}  // namespace vernier::service
