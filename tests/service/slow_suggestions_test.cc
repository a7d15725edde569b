// Suggestions that take long.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/service/server_fixture.h"
#include "tests/support/algorithms.h"
#include "tests/support/scripted_optimizer.h"

namespace vernier::service {
namespace {

constexpr int kClients = 100;  // More than there are threads.

// While a trial of study "slow" runs, its next suggestion takes until the test lets it go on.
class SlowSuggestionsTest : public ServerTest {
 protected:
  SlowSuggestionsTest() : SlowSuggestionsTest(std::make_shared<absl::Notification>()) {}

  static v1::CreateStudyRequest CreationOf(const std::string& id) {
    auto request = Creation(id);
    v1::StudySpec& spec = *request.mutable_study()->mutable_spec();
    spec.mutable_parameters(0)->set_name(id);  // By which the algorithm knows it.
    spec.mutable_budget()->set_trials(std::int64_t{2} * kClients);
    spec.set_parallel(2 * kClients);
    return request;
  }

  // The number of the trial, once it is told.
  static std::int64_t NumberOf(const Asked& asked) {
    asked.answered.WaitForNotification();
    EXPECT_TRUE(asked.status.ok()) << asked.status.error_message();
    return asked.response.trials_size() == 1 ? asked.response.trials(0).number() : -1;
  }

  const std::shared_ptr<absl::Notification> go_on_;  // Shared with the optimisers.

 private:
  explicit SlowSuggestionsTest(const std::shared_ptr<absl::Notification>& go_on)
      : ServerTest(testing::WithOptimizer(AlgorithmCatalogue::BuiltIn(),
                                          [go_on](const Problem& problem, const Choice&) {
                                            return MakeOptimizer(problem, go_on);
                                          })),
        go_on_(go_on) {}

  static std::unique_ptr<Optimizer> MakeOptimizer(
      const Problem& problem, const std::shared_ptr<absl::Notification>& go_on) {
    const std::string name = problem.space.parameters().front().name;
    const auto suggest = [name, go_on](
                             const testing::AskedFor& asked, Rng rng, const std::stop_token&) {
      if (name == "slow" && !asked.pending.empty()) go_on->WaitForNotification();
      Suggestions suggestions;
      suggestions.points.push_back({.point = {{name, rng.Uniform()}}});
      return suggestions;
    };
    return std::make_unique<testing::ScriptedOptimizer>("1", suggest);
  }
};

TEST_F(SlowSuggestionsTest, OfAStudyHoldUpNeitherOthersNorThoseWhoHoldATrial) {
  Call(&Stub::CreateStudy, CreationOf("slow"));
  Call(&Stub::CreateStudy, CreationOf("quick"));
  EXPECT_EQ(NumberOf(*Ask("slow", "holder")), 1);
  std::vector<std::unique_ptr<Asked>> waiting;
  for (int i = 0; i < kClients; ++i) waiting.push_back(Ask("slow", "w" + std::to_string(i)));
  EXPECT_EQ(NumberOf(*Ask("quick", "w")), 1);
  EXPECT_EQ(NumberOf(*Ask("slow", "holder")), 1);
  for (const auto& asked : waiting) EXPECT_FALSE(asked->answered.HasBeenNotified());
  go_on_->Notify();
  std::set<std::int64_t> numbers;
  for (const auto& asked : waiting) numbers.insert(NumberOf(*asked));
  EXPECT_EQ(numbers.size(), static_cast<std::size_t>(kClients));
}

}  // namespace
}  // namespace vernier::service
