#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Matchers for Status and StatusOr:
//
//   EXPECT_THAT(storage.DeleteStudy(id), IsOk());
//   EXPECT_THAT(storage.GetStudy(id), StatusIs(absl::StatusCode::kNotFound, HasSubstr("study 7")));
namespace vernier::testing {

inline const absl::Status& ToStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).ok();
}

MATCHER_P2(StatusIsImpl, code, message, "has the status code and message") {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).code() == code &&
         ::testing::ExplainMatchResult(
             message, std::string(ToStatus(arg).message()), result_listener);
}
template <typename Message>
auto StatusIs(absl::StatusCode code, Message message) {
  return StatusIsImpl(code, message);
}
inline auto StatusIs(absl::StatusCode code) { return StatusIsImpl(code, ::testing::_); }

}  // namespace vernier::testing

// Assigns the value of a StatusOr, or fails the test and returns:
//
//   ASSERT_OK_AND_ASSIGN(const Study study, storage.GetStudy(id));
#define VERNIER_TEST_CONCAT_INNER_(a, b) a##b
#define VERNIER_TEST_CONCAT_(a, b) VERNIER_TEST_CONCAT_INNER_(a, b)
// The arguments are a declaration and the variable's name.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSERT_OK_AND_ASSIGN_IMPL_(tmp, lhs, expr)  \
  auto tmp = (expr);                                \
  ASSERT_TRUE(tmp.ok()) << tmp.status().ToString(); \
  lhs = *std::move(tmp)
// NOLINTEND(bugprone-macro-parentheses)
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  ASSERT_OK_AND_ASSIGN_IMPL_(VERNIER_TEST_CONCAT_(test_or_, __LINE__), lhs, expr)
