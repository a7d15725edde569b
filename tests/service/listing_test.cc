// Creation, reading, lists and changes of studies and trials.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tests/service/server_fixture.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::service {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

class ListingTest : public ServerTest {
 protected:
  std::vector<std::int64_t> Numbers(v1::ListTrialsRequest request) {
    request.set_parent("studies/s");
    std::vector<std::int64_t> numbers;
    do {
      const auto page = Call(&Stub::ListTrials, request);
      for (const auto& trial : page.trials()) numbers.push_back(trial.number());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return numbers;
  }
};

TEST_F(ListingTest, ValidationStoresNothing) {
  auto request = Creation("s");
  request.set_validate_only(true);
  EXPECT_EQ(Call(&Stub::CreateStudy, request).name(), "studies/s");
  EXPECT_EQ(Call(&Stub::ListStudies, v1::ListStudiesRequest()).studies_size(), 0);
  request.mutable_study()->mutable_spec()->mutable_algorithm()->set_name("randon");
  EXPECT_THAT(Refusal(&Stub::CreateStudy, request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("random")));
}

TEST_F(ListingTest, AStudyIsCreatedOnce) {
  CreateStudy("s");
  for (const bool validate_only : {false, true}) {
    auto request = Creation("s");
    request.set_validate_only(validate_only);
    const absl::Status status = Refusal(&Stub::CreateStudy, request);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kAlreadyExists));
    EXPECT_EQ(GetReason(status), Reason::kStudyExists);
  }
}

TEST_F(ListingTest, ABadDefinitionIsNotStored) {
  for (const std::string id : {"", "1", "a b", "a/b"}) {
    EXPECT_THAT(Refusal(&Stub::CreateStudy, Creation(id)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << id;
  }
  auto request = Creation("s");
  request.mutable_study()->mutable_spec()->mutable_parameters(0)->mutable_float_()->set_upper(-1);
  const absl::Status status = Refusal(&Stub::CreateStudy, request);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters.x")));
  EXPECT_EQ(Call(&Stub::ListStudies, v1::ListStudiesRequest()).studies_size(), 0);
}

TEST_F(ListingTest, PagesHoldEveryTrialOnceWhileTrialsAreAdded) {
  CreateStudy("s");
  for (int i = 0; i < 7; ++i) Complete(Suggest("w"), 0.1 * i);
  v1::ListTrialsRequest request;
  request.set_parent("studies/s");
  request.set_page_size(3);
  std::vector<std::int64_t> numbers;
  do {
    const auto page = Call(&Stub::ListTrials, request);
    EXPECT_LE(page.trials_size(), 3);
    for (const auto& trial : page.trials()) numbers.push_back(trial.number());
    if (numbers.size() == 3) Complete(Suggest("w"), 0.9);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(ListingTest, FiltersAndOrdersTrials) {
  CreateStudy("s");
  for (const double accuracy : {0.3, 0.9, 0.6}) Complete(Suggest("w"), accuracy);
  EXPECT_EQ(Numbers(Text<v1::ListTrialsRequest>("order_by: 'metrics.accuracy desc' page_size: 1")),
            (std::vector<std::int64_t>{2, 3, 1}));
  EXPECT_EQ(Numbers(Text<v1::ListTrialsRequest>("filter: 'metrics.accuracy > 0.5'")),
            (std::vector<std::int64_t>{2, 3}));
}

TEST_F(ListingTest, AnyOrderGivesEachTrialOnceInPages) {
  CreateStudy("s");
  for (const double accuracy : {0.3, 0.9, 0.6, 0.9, 0.1}) Complete(Suggest("w"), accuracy);
  Suggest("w");
  const auto in_pages = [&](const std::string& text) {
    const auto whole = Numbers(Text<v1::ListTrialsRequest>(text));
    for (const std::string size : {"1", "2", "4"}) {
      EXPECT_EQ(Numbers(Text<v1::ListTrialsRequest>(text + " page_size: " + size)), whole) << text;
    }
    return whole;
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(in_pages("order_by: 'metrics.accuracy desc, number'"), (Numbers{2, 4, 3, 1, 5, 6}));
  EXPECT_EQ(in_pages("order_by: 'metrics.accuracy desc, number desc'"),
            (Numbers{4, 2, 3, 1, 5, 6}));
  EXPECT_EQ(in_pages("order_by: 'number desc'"), (Numbers{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(in_pages("order_by: 'create_time desc, number desc'"), (Numbers{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(in_pages("order_by: 'state, metrics.accuracy'"), (Numbers{5, 1, 3, 2, 4, 6}));
  EXPECT_EQ(in_pages("order_by: 'parameters.x'").size(), 6u);
  EXPECT_EQ(in_pages("filter: 'state = RUNNING OR state = FAILED'"), (Numbers{6}));
  EXPECT_EQ(
      in_pages(
          "filter: 'state = COMPLETED AND metrics.accuracy > 0.5' order_by: 'metrics.accuracy'"),
      (Numbers{3, 2, 4}));
  EXPECT_EQ(in_pages("filter: 'NOT state = COMPLETED'"), (Numbers{6}));
}

TEST_F(ListingTest, PagesInARankedOrderFollowTheStudy) {
  CreateStudy("s");
  for (const double accuracy : {0.3, 0.9, 0.6}) Complete(Suggest("w"), accuracy);
  auto request = Text<v1::ListTrialsRequest>(
      "parent: 'studies/s' order_by: 'state, metrics.accuracy' page_size: 2");
  const auto first = Call(&Stub::ListTrials, request);
  Complete(Suggest("w"), 0.7);
  Complete(Suggest("w"), 0.1);
  request.set_page_token(first.next_page_token());
  const auto second = Call(&Stub::ListTrials, request);
  ASSERT_EQ(second.trials_size(), 2);  // Behind trial 3, where it stands by now.
  EXPECT_EQ(second.trials(0).number(), 4);
  EXPECT_EQ(second.trials(1).number(), 2);
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(ListingTest, ADeletedTrialIsOnNoPageAndEndsNone) {
  CreateStudy("s");
  for (const double accuracy : {0.3, 0.9, 0.6}) Complete(Suggest("w"), accuracy);
  for (const std::string order : {"", "metrics.accuracy", "parameters.x"}) {
    auto request = Text<v1::ListTrialsRequest>("parent: 'studies/s' page_size: 1");
    request.set_order_by(order);
    const auto first = Call(&Stub::ListTrials, request);
    request.set_page_token(first.next_page_token());
    v1::DeleteTrialRequest deletion;
    deletion.set_name(first.trials(0).name());
    Call(&Stub::DeleteTrial, deletion);
    const auto second = Call(&Stub::ListTrials, request);
    EXPECT_EQ(second.trials_size(), 1) << order;
    EXPECT_NE(second.trials(0).number(), first.trials(0).number()) << order;
    Complete(Suggest("w"), 0.5);
  }
}

TEST_F(ListingTest, APageEndsBeforeItIsTooLargeForAMessage) {
  auto creation = Creation("s");
  creation.mutable_study()->mutable_spec()->mutable_budget()->set_trials(1000);
  Call(&Stub::CreateStudy, creation);
  const std::string message(limits::kMessage, 'x');
  constexpr int kTrials = 200;  // More than 3 MiB of messages.
  for (int i = 0; i < kTrials; ++i) {
    v1::FailTrialRequest request;
    const v1::Trial trial = Suggest("w");
    request.set_name(trial.name());
    request.set_client_id("w");
    request.set_lease_token(trial.lease().token());
    request.set_message(message);
    Call(&Stub::FailTrial, request);
  }
  v1::ListTrialsRequest request;
  request.set_parent("studies/s");
  request.set_page_size(1000);
  const auto page = Call(&Stub::ListTrials, request);
  EXPECT_LT(page.trials_size(), kTrials);
  EXPECT_LT(page.ByteSizeLong(), std::size_t{4} << 20);
  EXPECT_EQ(Numbers(request).size(), static_cast<std::size_t>(kTrials));
}

// One that was given already may go meanwhile, and others may come: in the order of creation they are behind.
TEST_F(ListingTest, PagesOfStudiesHoldEachOnceWhileStudiesComeAndGo) {
  for (const char* order : {"", "name", "name desc"}) {
    for (int i = 0; i < 7; ++i) CreateStudy("a" + std::to_string(i));
    CreateStudy("left-out");
    auto request = Text<v1::ListStudiesRequest>("page_size: 2 filter: 'name != left-out'");
    request.set_order_by(order);
    std::vector<std::string> names;
    bool is_first = true;
    do {
      const auto page = Call(&Stub::ListStudies, request);
      EXPECT_LE(page.studies_size(), 2);
      for (const v1::Study& study : page.studies()) names.push_back(study.name().substr(8));
      request.set_page_token(page.next_page_token());
      if (!std::exchange(is_first, false)) continue;
      Call(&Stub::DeleteStudy, Text<v1::DeleteStudyRequest>("name: 'studies/" + names[1] + "'"));
    } while (!request.page_token().empty());
    std::vector<std::string> expected = {"a0", "a1", "a2", "a3", "a4", "a5", "a6"};
    if (std::string_view(order) == "name desc") std::ranges::reverse(expected);
    EXPECT_EQ(names, expected) << order;
    const auto left = Call(&Stub::ListStudies, v1::ListStudiesRequest());
    for (const v1::Study& study : left.studies()) {
      Call(&Stub::DeleteStudy, Text<v1::DeleteStudyRequest>("name: '" + study.name() + "'"));
    }
  }
}

TEST_F(ListingTest, BadListsAreExplained) {
  CreateStudy("s");
  CreateStudy("t");
  const auto refused = [&](const std::string& text) {
    return Refusal(&Stub::ListStudies, Text<v1::ListStudiesRequest>(text));
  };
  EXPECT_EQ(GetField(refused("filter: 'colour = red'")), "filter");
  EXPECT_EQ(GetField(refused("order_by: 'colour'")), "order_by");
  EXPECT_EQ(GetField(refused("page_size: -1")), "page_size");
  EXPECT_EQ(GetField(refused("page_token: 'x'")), "page_token");
  const auto page = Call(&Stub::ListStudies, Text<v1::ListStudiesRequest>("page_size: 1"));
  EXPECT_EQ(
      GetField(refused("filter: 'trial_count = 0' page_token: '" + page.next_page_token() + "'")),
      "page_token");
}

TEST_F(ListingTest, ChangesWhatTheMaskNames) {
  CreateStudy("s");
  const auto study = Call(
      &Stub::UpdateStudy,
      Text<v1::UpdateStudyRequest>("name: 'studies/s' study { spec { parallel: 2 budget { trials: "
                                   "60 } } } update_mask { paths: 'spec.budget.trials' }"));
  EXPECT_EQ(study.spec().budget().trials(), 60);
  EXPECT_EQ(study.spec().parallel(), 8);
  EXPECT_EQ(study.spec_version(), 2);
  const absl::Status status =
      Refusal(&Stub::UpdateStudy,
              Text<v1::UpdateStudyRequest>("name: 'studies/s' study { spec { seed: 2 } } "
                                           "update_mask { paths: 'spec.seed' }"));
  EXPECT_EQ(GetField(status), "update_mask");
}

TEST_F(ListingTest, ChangesAWholeDefinitionOrRefusesItByField) {
  CreateStudy("s");
  auto request = Text<v1::UpdateStudyRequest>("update_mask { paths: 'spec' }");
  *request.mutable_study() = Call(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'"));
  request.set_name("studies/s");
  request.mutable_study()->mutable_spec()->mutable_budget()->set_trials(70);
  request.mutable_study()->mutable_spec()->mutable_stopping()->set_name("median");
  request.set_validate_only(true);
  EXPECT_EQ(Call(&Stub::UpdateStudy, request).spec().stopping().name(), "median");
  EXPECT_EQ(Call(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'")).spec_version(),
            1);
  request.set_validate_only(false);
  const auto study = Call(&Stub::UpdateStudy, request);
  EXPECT_EQ(study.spec().budget().trials(), 70);
  EXPECT_EQ(study.spec().stopping().name(), "median");
  EXPECT_EQ(study.spec_version(), 2);
  request.mutable_study()->mutable_spec()->set_seed(12345);
  EXPECT_EQ(GetField(Refusal(&Stub::UpdateStudy, request)), "seed");
  request.mutable_update_mask()->set_paths(0, "spec.job");
  EXPECT_EQ(GetField(Refusal(&Stub::UpdateStudy, request)), "job");
  request.mutable_study()->mutable_spec()->mutable_job()->add_command("true");
  EXPECT_EQ(GetField(Refusal(&Stub::UpdateStudy, request)), "job");
}

TEST_F(ListingTest, WatchesEventsOfSomeKindsOnly) {
  CreateStudy("s");
  Call(&Stub::UpdateStudy,
       Text<v1::UpdateStudyRequest>("name: 'studies/s' study { spec { parallel: 2 } }"));
  const auto watch = [&](const std::string& kind, std::vector<std::string>* kinds) {
    auto request = Text<v1::WatchStudyRequest>("name: 'studies/s'");
    request.add_kinds(kind);
    grpc::ClientContext context;
    const auto reader = stub_->WatchStudy(&context, request);
    v1::StudyEvent event;
    while (reader->Read(&event)) kinds->push_back(event.kind());
    return wire::DecodeStatus(reader->Finish());
  };
  std::vector<std::string> kinds;
  EXPECT_TRUE(watch("study_amended", &kinds).ok());
  EXPECT_EQ(kinds, std::vector<std::string>{"study_amended"});
  EXPECT_EQ(GetField(watch("study_painted", &kinds)), "kinds");
}

// Each client changes a field of its own, which therefore must be as it left it.
TEST_F(ListingTest, OfUpdatesMadeAtOnceNoneIsLost) {
  CreateStudy("s");
  constexpr int kRounds = 40;
  const auto run = [&](const std::string& field, auto value_of) {
    for (int i = 1; i <= kRounds; ++i) {
      const auto updated =
          Call(&Stub::UpdateStudy,
               Text<v1::UpdateStudyRequest>(
                   fmt::format("name: 'studies/s' study {{ spec {{ budget {{ {0}: {1} }} }} }} "
                               "update_mask {{ paths: 'spec.budget.{0}' }}",
                               field,
                               i)));
      ASSERT_EQ(value_of(updated), i);
      const auto read = Call(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'"));
      ASSERT_EQ(value_of(read), i);
    }
  };
  const std::jthread trials(
      [&] { run("trials", [](const v1::Study& s) { return s.spec().budget().trials(); }); });
  run("failed_trials", [](const v1::Study& s) { return s.spec().budget().failed_trials(); });
}

TEST_F(ListingTest, DeletedStudiesAreGone) {
  CreateStudy("s");
  Suggest("w");
  EXPECT_THAT(Refusal(&Stub::DeleteStudy, Text<v1::DeleteStudyRequest>("name: 'studies/s'")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  Call(&Stub::DeleteStudy, Text<v1::DeleteStudyRequest>("name: 'studies/s' force: true"));
  EXPECT_THAT(Refusal(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ListingTest, TheServerDescribesItself) {
  CreateStudy("s");
  const auto info = Call(&Stub::GetServerInfo, v1::GetServerInfoRequest());
  EXPECT_EQ(info.studies(), 1);
  EXPECT_EQ(info.process_id(), getpid());
  EXPECT_EQ(info.store(), ":memory:");
  EXPECT_FALSE(info.version().empty());
  EXPECT_GT(info.resident_bytes(), 1 << 20);
  EXPECT_GT(info.start_time().seconds(), 0);
}

}  // namespace
}  // namespace vernier::service
