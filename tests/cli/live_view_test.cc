#include "src/cli/live_view.h"

#include <string>

#include "gtest/gtest.h"
#include "src/cli/terminal/output.h"

namespace vernier::cli {
namespace {

// Every field has a value, so that one that is new is missed.
v1::StudyEvent Full() {
  v1::StudyEvent event;
  event.set_seq(7);
  event.mutable_time()->set_seconds(1'800'000'000);
  event.mutable_time()->set_nanos(500'000'000);
  event.set_actor("w \"1\"\n");
  event.set_request_id("r");
  event.set_kind("trial_deleted");
  event.set_trial(3);
  event.set_payload_json(R"({"trial":3,"x":[0.1,"é"]})");
  const auto* type = v1::StudyEvent::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    EXPECT_TRUE(event.GetReflection()->HasField(event, type->field(i))) << type->field(i)->name();
  }
  return event;
}

TEST(EventToLine, IsWhatTheObjectIs) {
  v1::StudyEvent event = Full();
  EXPECT_EQ(EventToLine(event), ToJsonLine(EventToJson(event)));
  for (const char* payload : {"{}", "", "{\n}", "no JSON\n"}) {
    event.set_payload_json(payload);
    EXPECT_EQ(EventToLine(event), ToJsonLine(EventToJson(event))) << payload;
  }
  event.clear_trial();
  event.clear_request_id();
  EXPECT_EQ(EventToLine(event), ToJsonLine(EventToJson(event))) << "defaults";
}

}  // namespace
}  // namespace vernier::cli
