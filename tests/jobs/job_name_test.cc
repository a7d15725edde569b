#include "src/jobs/job_name.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::jobs {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

TEST(JobName, IsReadBackFromTheStudy) {
  for (const auto& [name, study] : std::initializer_list<std::pair<JobName, std::string>>{
           {{"", "census"}, "census"},
           {{"my-project", "census_1"}, "my-project--census_1"},
           {{"p", "1"}, "p--1"},
           {{"a--b", "c"}, "a--b--c"},
           {{"a-", "c"}, "a---c"},
           {{"example.com:p_q", "c"}, "example_2ecom_3ap_5fq--c"},
           {{"123456", "c"}, "p__123456--c"},
           {{"é", "c"}, "p___c3_a9--c"},
           {{"p__1", "c"}, "p_5f_5f1--c"}}) {
    ASSERT_OK_AND_ASSIGN(const std::string made, StudyNameOf(name));
    EXPECT_EQ(made, study);
    EXPECT_EQ(JobNameOf(study), name) << study;
  }
}

TEST(JobName, OfOtherStudiesIsTheStudysName) {
  for (const std::string study : {"a-b",
                                  "owner-study-0123456789abcdef",
                                  "--a",
                                  "a--",
                                  "a_zz--b",
                                  "p_5f--b-c",
                                  "p__x--b",
                                  "a_41--b"}) {
    EXPECT_EQ(JobNameOf(study), (JobName{.project = "", .job = study})) << study;
  }
}

TEST(JobName, SaysWhatItCannotBe) {
  EXPECT_THAT(StudyNameOf({.project = "p", .job = "a-b"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("letters, digits and underscores, got 'a-b'")));
  EXPECT_THAT(StudyNameOf({.project = "p", .job = ""}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got ''")));
  EXPECT_THAT(StudyNameOf({.project = "p", .job = std::string(127, 'a')}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("must have at most 126 characters together")));
}

}  // namespace
}  // namespace vernier::jobs
