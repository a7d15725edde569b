#include "src/wire/page_token.h"

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::wire {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

TEST(PageToken, ReadsBackForTheSameQuery) {
  const PageToken token{.last = 1'234'567'890'123, .offset = 100, .part = 1};
  ASSERT_OK_AND_ASSIGN(const PageToken read, DecodePageToken(EncodePageToken(token, "q"), "q"));
  EXPECT_EQ(read, token);
}

TEST(PageToken, IsRefusedForAnotherQuery) {
  EXPECT_THAT(DecodePageToken(EncodePageToken({}, "state = FAILED"), "state = COMPLETED"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another parent, filter")));
}

TEST(PageToken, IsRefusedWithAnyCharacterChanged) {
  const std::string token = EncodePageToken({.last = 5, .offset = 5}, "q");
  for (std::size_t i = 0; i + 1 < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_THAT(DecodePageToken(changed, "q"), StatusIs(absl::StatusCode::kInvalidArgument)) << i;
  }
  EXPECT_THAT(DecodePageToken("", "q"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DecodePageToken("§", "q"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace vernier::wire
