#include "src/app/listen_address.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

using testing::IsOk;

TEST(ListenAddress, OfThisHostIsAccepted) {
  for (const std::string address : {"127.0.0.1:7117",
                                    "127.9.0.1:0",
                                    "localhost:1",
                                    "[::1]:65535",
                                    "unix:/run/vernier.sock",
                                    "unix-abstract:vernier"}) {
    EXPECT_THAT(CheckListenAddress(address, false), IsOk()) << address;
  }
}

TEST(ListenAddress, OfOtherHostsNeedsLeave) {
  for (const std::string address : {"0.0.0.0:7117",
                                    "[::]:7117",
                                    "192.168.0.1:1",
                                    "example.org:1",
                                    "127.evil.example:1",
                                    "localhost.example:1"}) {
    const absl::Status status = CheckListenAddress(address, false);
    EXPECT_EQ(GetField(status), "listen") << address;
    EXPECT_THAT(CheckListenAddress(address, true), IsOk()) << address;
  }
}

TEST(ListenAddress, WithoutAPortOrSocketIsRefused) {
  for (const std::string address : {"",
                                    "127.0.0.1",
                                    ":7117",
                                    "127.0.0.1:",
                                    "127.0.0.1:x",
                                    "127.0.0.1:65536",
                                    "127.0.0.1:-1",
                                    "::1:7117",
                                    "unix:"}) {
    EXPECT_EQ(GetField(CheckListenAddress(address, true)), "listen") << address;
  }
}

TEST(ListenAddress, OfASocketHasAPathUnlessAnyoneCanConnect) {
  EXPECT_EQ(SocketPathOf("unix:/run/vernier.sock"), "/run/vernier.sock");
  EXPECT_EQ(SocketPathOf("unix:///run/vernier.sock"), "/run/vernier.sock");
  EXPECT_EQ(SocketPathOf("unix:vernier.sock"), "vernier.sock");
  EXPECT_EQ(SocketPathOf("unix-abstract:vernier"), std::nullopt);
  EXPECT_EQ(SocketPathOf("127.0.0.1:7117"), std::nullopt);
}

TEST(ListenAddress, IsPublishedAsThisHostReachesIt) {
  EXPECT_EQ(WithPort("127.0.0.1:0", 4711), "127.0.0.1:4711");
  EXPECT_EQ(WithPort("unix:/a", 1), "unix:/a");
  EXPECT_EQ(ReachableAt("0.0.0.0:7117"), "127.0.0.1:7117");
  EXPECT_EQ(ReachableAt("[::]:7117"), "[::1]:7117");
  EXPECT_EQ(ReachableAt("10.0.0.1:7117"), "10.0.0.1:7117");
}

}  // namespace
}  // namespace vernier::app
