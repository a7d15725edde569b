#include "src/service/attempt_tokens.h"

#include <set>

#include "gtest/gtest.h"

namespace vernier::service {
namespace {

AttemptId Id(std::int64_t study, std::int64_t trial, std::int64_t attempt) {
  return {{StudyId(study), TrialNumber(trial)}, AttemptNumber(attempt)};
}

TEST(AttemptTokens, AreKnownByWhoeverHasTheSecret) {
  const AttemptTokens tokens("secret");
  const std::string token = tokens.Make(Id(3, 7, 2));
  EXPECT_EQ(AttemptTokens("secret").Verify(Id(3, 7, 2).trial, token), Id(3, 7, 2));
  EXPECT_EQ(AttemptTokens("another").Verify(Id(3, 7, 2).trial, token), std::nullopt);
}

TEST(AttemptTokens, AreGoodForTheirTrialOnly) {
  const AttemptTokens tokens("secret");
  const std::string token = tokens.Make(Id(3, 7, 2));
  EXPECT_EQ(tokens.Verify(Id(3, 8, 0).trial, token), std::nullopt);
  EXPECT_EQ(tokens.Verify(Id(4, 7, 0).trial, token), std::nullopt);
  // Of two trials no attempts share one, also where the digits of their numbers join to the same.
  std::set<std::string> made;
  for (std::int64_t a : {1, 11, 111}) {
    for (std::int64_t b : {1, 11, 111}) {
      for (std::int64_t c : {1, 11, 111}) made.insert(tokens.Make(Id(a, b, c)));
    }
  }
  EXPECT_EQ(made.size(), 27);
}

TEST(AttemptTokens, RefusesWhatItDidNotMake) {
  const AttemptTokens tokens("secret");
  const std::string token = tokens.Make(Id(3, 7, 2));
  const TrialId trial = Id(3, 7, 2).trial;
  std::string other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& text : {std::string(),
                                  std::string("2"),
                                  std::string("2-"),
                                  std::string("-1-") + token,
                                  "1" + token,            // Another attempt.
                                  "3" + token.substr(1),  // A later one.
                                  token + " ",
                                  " " + token,
                                  token.substr(0, token.size() - 1),
                                  other,
                                  std::string("99999999999999999999-ab")}) {
    EXPECT_EQ(tokens.Verify(trial, text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace vernier::service
