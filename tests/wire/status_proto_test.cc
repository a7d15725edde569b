#include "src/wire/status_proto.h"

#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

TEST(StatusProto, KeepsEveryCodeAndMessage) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "trial 7: no");
    EXPECT_EQ(DecodeStatus(EncodeStatus(status)), status) << code;
  }
  EXPECT_TRUE(DecodeStatus(EncodeStatus(absl::OkStatus())).ok());
}

TEST(StatusProto, CarriesTheReasonAsErrorInfo) {
  const absl::Status status =
      WithReason(FailedPrecondition("trial 7 is already COMPLETED"), Reason::kTrialFinished);
  const grpc::Status wire = EncodeStatus(status);
  google::rpc::Status proto;
  ASSERT_TRUE(proto.ParseFromString(wire.error_details()));
  google::rpc::ErrorInfo info;
  ASSERT_EQ(proto.details_size(), 1);
  ASSERT_TRUE(proto.details(0).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "TRIAL_FINISHED");
  EXPECT_EQ(info.domain(), "vernier");
  EXPECT_EQ(GetReason(DecodeStatus(wire)), Reason::kTrialFinished);
}

TEST(StatusProto, CarriesTheFieldAsBadRequest) {
  const absl::Status status = FieldError("parameters.lr.float[0]", "must be above 0, got -1");
  const grpc::Status wire = EncodeStatus(status);
  google::rpc::Status proto;
  ASSERT_TRUE(proto.ParseFromString(wire.error_details()));
  google::rpc::BadRequest bad;
  ASSERT_TRUE(proto.details(0).UnpackTo(&bad));
  EXPECT_EQ(bad.field_violations(0).field(), "parameters.lr.float[0]");
  EXPECT_EQ(bad.field_violations(0).description(), "must be above 0, got -1");
  EXPECT_EQ(GetField(DecodeStatus(wire)), "parameters.lr.float[0]");
  EXPECT_EQ(DecodeStatus(wire).message(), status.message());
}

TEST(StatusProto, FitsTrailersHoweverLongTheMessage) {
  const grpc::Status wire = EncodeStatus(FieldError("filter", std::string(100'000, 'x')));
  EXPECT_LT(wire.error_message().size() + wire.error_details().size() * 4 / 3, 8000U);
}

TEST(StatusProto, ReadsForeignDetailsAsNoReason) {
  const grpc::Status wire(grpc::StatusCode::NOT_FOUND, "no", "not a google.rpc.Status");
  EXPECT_EQ(DecodeStatus(wire), absl::NotFoundError("no"));
}

}  // namespace
}  // namespace vernier::wire
