#include "src/service/status_map.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/log.h"
#include "src/core/damage.h"
#include "src/wire/status_proto.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

struct CodeCase {
  absl::StatusCode code;
  grpc::StatusCode wire;
  bool is_shown;  // The message goes to the client.
};

class StatusMapTest : public ::testing::TestWithParam<CodeCase> {};

TEST_P(StatusMapTest, ShowsWhatConcernsTheClient) {
  base::SetLogLevel(base::LogLevel::kOff);
  const absl::Status status(GetParam().code, "disk /dev/sda is broken");
  const grpc::Status wire = ToWireStatus(status, "GetStudy", "r-17");
  EXPECT_EQ(wire.error_code(), GetParam().wire);
  EXPECT_EQ(wire.error_message(),
            GetParam().is_shown ? "disk /dev/sda is broken" : "internal error, request r-17");
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    StatusMapTest,
    ::testing::Values(
        CodeCase{absl::StatusCode::kCancelled, grpc::StatusCode::CANCELLED, true},
        CodeCase{absl::StatusCode::kUnknown, grpc::StatusCode::INTERNAL, false},
        CodeCase{absl::StatusCode::kInvalidArgument, grpc::StatusCode::INVALID_ARGUMENT, true},
        CodeCase{absl::StatusCode::kDeadlineExceeded, grpc::StatusCode::DEADLINE_EXCEEDED, true},
        CodeCase{absl::StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND, true},
        CodeCase{absl::StatusCode::kAlreadyExists, grpc::StatusCode::ALREADY_EXISTS, true},
        CodeCase{absl::StatusCode::kPermissionDenied, grpc::StatusCode::PERMISSION_DENIED, true},
        CodeCase{absl::StatusCode::kResourceExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED, true},
        CodeCase{
            absl::StatusCode::kFailedPrecondition, grpc::StatusCode::FAILED_PRECONDITION, true},
        CodeCase{absl::StatusCode::kAborted, grpc::StatusCode::ABORTED, true},
        CodeCase{absl::StatusCode::kOutOfRange, grpc::StatusCode::OUT_OF_RANGE, true},
        CodeCase{absl::StatusCode::kUnimplemented, grpc::StatusCode::UNIMPLEMENTED, true},
        CodeCase{absl::StatusCode::kInternal, grpc::StatusCode::INTERNAL, false},
        CodeCase{absl::StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE, true},
        CodeCase{absl::StatusCode::kDataLoss, grpc::StatusCode::INTERNAL, false},
        CodeCase{absl::StatusCode::kUnauthenticated, grpc::StatusCode::UNAUTHENTICATED, true}),
    [](const auto& row) { return "Code" + std::to_string(static_cast<int>(row.param.code)); });

TEST(StatusMap, ShowsWhichPartOfTheStoreIsDamaged) {
  base::SetLogLevel(base::LogLevel::kOff);
  const absl::Status damage = DamageOf("digits", absl::DataLossError("event 7: not JSON"));
  const absl::Status shown = wire::DecodeStatus(ToWireStatus(damage, "GetStudy", "r-17"));
  EXPECT_EQ(shown.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(GetReason(shown), Reason::kDataLoss);
  EXPECT_EQ(shown.message(),
            "study 'digits' is damaged: event 7: not JSON; run `vernier server check` "
            "(docs/guides/operating.md)");
}

}  // namespace
}  // namespace vernier::service
