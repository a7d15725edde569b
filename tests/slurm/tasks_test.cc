#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/gang_tasks.h"

namespace vernier::launch {
namespace {

const std::vector<GangTask> kTasks = {
    {.folder = "/a b/\nchief-0",
     .name = "chief 0",
     .host = "chief-0.vernier.invalid",
     .port = "2000000000",
     .gpus = 1},
    {.folder = "/w", .name = "worker 0", .host = "worker-0.vernier.invalid", .port = "2000000001"}};

TEST(GangTasks, ReadBackAsWritten) {
  EXPECT_EQ(DecodeTasks(EncodeTasks(kTasks)), kTasks);
  EXPECT_EQ(DecodeTasks(EncodeTasks({})), std::vector<GangTask>());
  const std::string bytes = EncodeTasks(kTasks);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto part = DecodeTasks(std::string_view(bytes).substr(0, size));
    EXPECT_NE(part, kTasks) << size;
  }
  EXPECT_EQ(DecodeTasks("other\0"), std::nullopt);
}

TEST(GangTasks, AddressesTakeThePlaceOfStandIns) {
  const std::vector<TaskAddress> addresses = {{"10.0.0.7", "4001"}, {"10.0.0.8", "4002"}};
  EXPECT_EQ(
      WithAddresses(
          R"({"chief": ["chief-0.vernier.invalid:2000000000"], "worker": ["worker-0.vernier.invalid:2000000001"]})",
          kTasks,
          addresses),
      R"({"chief": ["10.0.0.7:4001"], "worker": ["10.0.0.8:4002"]})");
  EXPECT_EQ(WithAddresses("2000000000", kTasks, addresses), "4001");
  EXPECT_EQ(WithAddresses("none", kTasks, addresses), "none");
}

TEST(TaskAddress, IsReadOnceItIsWhole) {
  const TaskAddress address{"10.0.0.7", "4001"};
  const std::string text = EncodeAddress(address);
  EXPECT_EQ(DecodeAddress(text), address);
  EXPECT_EQ(DecodeAddress(text.substr(0, text.size() - 1)), std::nullopt);
  EXPECT_EQ(DecodeAddress(""), std::nullopt);
}

}  // namespace
}  // namespace vernier::launch
