// Creation, reading, lists and changes of studies and trials.
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "tests/service/server_fixture.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

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
